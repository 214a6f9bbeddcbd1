"""The archive of canonical images, ``<wnid>/<image_id>.png`` in sorted order, written class by class."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from imagenetv2 import archive


def file_name(wnid: str, image_id: str) -> str:
    """Name of an image in the archive."""
    return f"{wnid}/{image_id}.png"


class ClassPictures:
    """Takes a class's images in any order and writes them sorted.

    They wait in a temporary file, so that memory does not grow with the class.
    """

    def __init__(self, writer: archive.Writer, folder: Path) -> None:
        self._writer = writer
        self._spool = tempfile.TemporaryFile(dir=folder)  # noqa: SIM115 - closed by write()
        self._wnid = ""
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, wnid: str, image_id: str, png: bytes) -> None:
        """Take an image; one that is there already is ignored. Classes must come sorted."""
        if wnid != self._wnid:
            self.flush()
            self._wnid = wnid
        if image_id not in self._places:
            self._places[image_id] = (self._spool.tell(), len(png))
            self._spool.write(png)

    def flush(self) -> None:
        """Write the class that is waiting."""
        for image_id, (start, size) in sorted(self._places.items()):
            self._spool.seek(start)
            self._writer.add(file_name(self._wnid, image_id), self._spool.read(size))
        self._places.clear()
        self._spool.seek(0)
        self._spool.truncate()

    def close(self) -> None:
        """Delete the temporary file."""
        self._spool.close()


@contextmanager
def write(path: Path) -> Iterator[ClassPictures]:
    """Write a new archive of pictures."""
    with archive.write(path) as writer:
        pictures = ClassPictures(writer, path.parent)
        try:
            yield pictures
            pictures.flush()
        finally:
            pictures.close()
