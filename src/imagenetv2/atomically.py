"""Files that are the old one or the new one, whole, whenever the writer is killed."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """A file beside ``path`` to write into, which takes its place at the end; nothing changes after an error.

    ``durable`` brings the content to the disk first, so that a power cut loses neither the old nor the new one.
    Threads and processes may replace one file at once: the last to end wins.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with part.open("wb") as file:
            yield file
            if durable:
                file.flush()
                os.fsync(file.fileno())
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)


def write_bytes(path: Path, data: bytes, *, durable: bool = False) -> None:
    """``Path.write_bytes`` by way of ``replacing``."""
    with replacing(path, durable=durable) as file:
        file.write(data)
