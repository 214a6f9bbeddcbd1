"""One run at a time for a data folder; the lock goes with the process, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from imagenetv2.errors import InputError

_held: list[IO[str]] = []


def hold(data: Path) -> None:
    """Hold the folder's lock until this process ends. Raises InputError where another process holds it."""
    data.mkdir(parents=True, exist_ok=True)
    file = (data / ".lock").open("a+", encoding="utf-8")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        owner = file.read().strip() or "unknown"
        file.close()
        raise InputError(
            f"{data} is in use by another run (process {owner}); wait for it or stop it."
        ) from None
    file.truncate(0)
    file.write(f"{os.getpid()}\n")
    file.flush()
    _held.append(file)
