"""One run at a time for a data folder; the lock goes with the process, however it ends."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path
from typing import IO

from imagenetv2.errors import InputError


def hold(data: Path) -> IO[str]:
    """Hold the folder's lock as long as the file that is returned is open: keep it until the process ends.

    Raises InputError where another process holds the lock.
    """
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
    return file
