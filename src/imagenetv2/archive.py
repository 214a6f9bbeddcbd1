"""Many small files as one: ZIP archives without compression and with the same bytes each time."""

from __future__ import annotations

import io
import os
import threading
import weakref
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.zip_index import Index

EPOCH = (1980, 1, 1, 0, 0, 0)


class Writer:
    """Appends entries in the order given; hand them over sorted, so that the bytes are always the same."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, data: bytes) -> None:
        """Add one entry. Raises ValueError for a name that is there."""
        if name in self._archive.NameToInfo:
            raise ValueError(f"{self._archive.filename} already holds {name}")
        entry = zipfile.ZipInfo(name, EPOCH)
        entry.create_system = 3
        entry.external_attr = 0o644 << 16
        self._archive.writestr(entry, data)


@contextmanager
def write(path: Path) -> Iterator[Writer]:
    """Write a new archive."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED, allowZip64=True) as archive:
        yield Writer(archive)


class Reader:
    """Random access to an archive that ``write`` made; may be shared by threads and pickled to other processes.

    All threads use one index of the entries, which is read when it is first needed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._opened: _Opened | None = None

    def __reduce__(self) -> tuple[type[Reader], tuple[Path]]:
        return (Reader, (self.path,))

    def _index(self) -> _Opened:
        with self._lock:
            if self._opened is None:
                try:
                    self._opened = _Opened(self.path)
                except (OSError, zipfile.BadZipFile) as error:
                    raise InputError(
                        f"{self.path} cannot be read ({error}); delete it and run snakemake."
                    ) from error
            return self._opened

    def close(self) -> None:
        """Close the file as soon as no thread reads it; reading again opens it again."""
        with self._lock:
            self._opened = None

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def names(self) -> list[str]:
        """Names of all entries, sorted."""
        return list(self._index().names)

    def data(self, name: str) -> bytes:
        """Bytes of an entry. Raises KeyError where it is absent, BadZipFile where it is damaged."""
        opened = self._index()
        try:
            return opened.data(name)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self.path)) from error

    def pixels(self, name: str) -> Pixels:
        """Pixels of a canonical image: an RGB PNG that this project wrote."""
        with Image.open(io.BytesIO(self.data(name)), formats=["PNG"]) as image:
            return np.asarray(image.convert("RGB"))


class _Opened(Index):
    """The index of an archive; the file is closed when nobody has it any more."""

    def __init__(self, path: Path) -> None:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, file)
        super().__init__(file)
