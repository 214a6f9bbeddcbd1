"""Files of a folder or an archive, by name, without unpacking anything to the disk that a user sees."""

from __future__ import annotations

import bz2
import gzip
import lzma
import shutil
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from imagenetv2.errors import InputError

PACKED: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZ": bz2.open,
    b"\xfd7": lzma.open,
}
"""By the first two bytes: how a compressed archive is opened."""


class Files(Protocol):
    """Named files; names are relative, with forward slashes."""

    def names(self) -> list[str]:
        """All names, sorted."""

    def data(self, name: str) -> bytes:
        """Bytes of a file. Raises KeyError where it is absent."""


class FolderFiles:
    """Files below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._names = {p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*")) if p.is_file()}

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(n for n in self._names if not hidden(n))

    def data(self, name: str) -> bytes:
        """Bytes of a file."""
        if name not in self._names:
            raise KeyError(name)
        return (self._folder / name).read_bytes()


class TarFiles:
    """Regular files of an uncompressed tar archive, read at their offsets."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        with tarfile.open(fileobj=file, mode="r:") as archive:
            for member in archive:
                if member.isfile():
                    self._places[member.name.removeprefix("./")] = (member.offset_data, member.size)

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(n for n in self._places if not hidden(n))

    def data(self, name: str) -> bytes:
        """Bytes of a file."""
        offset, size = self._places[name]
        self._file.seek(offset)
        return self._file.read(size)


class ZipFiles:
    """Files of a zip archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def names(self) -> list[str]:
        """All names, sorted."""
        return sorted(n for n in self._archive.namelist() if not n.endswith("/") and not hidden(n))

    def data(self, name: str) -> bytes:
        """Bytes of a file."""
        return self._archive.read(name)


def hidden(name: str) -> bool:
    """Whether a part of the name begins with a dot, as of files that operating systems leave behind."""
    return any(part.startswith(".") for part in name.split("/")) or name.startswith("__MACOSX/")


@contextmanager
def opened(path: Path, field: str) -> Iterator[Files]:
    """The files of a folder, a tar archive (compressed or not) or a zip archive.

    Raises InputError where nothing is there or it is neither.
    """
    if path.is_dir():
        yield FolderFiles(path)
        return
    if not path.is_file():
        raise InputError(f"{field}: {path} does not exist; correct the path in the configuration.")
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            yield ZipFiles(archive)
        return
    with path.open("rb") as file, tempfile.TemporaryFile() as unpacked:
        unpack = PACKED.get(file.read(2))
        file.seek(0)
        try:
            if unpack is not None:
                with unpack(file) as stream:
                    shutil.copyfileobj(stream, unpacked, 1 << 20)
                unpacked.seek(0)
            files = TarFiles(unpacked if unpack is not None else file)
        except (tarfile.TarError, EOFError, OSError, lzma.LZMAError) as error:
            raise InputError(
                f"{field}: {path} is no whole tar or zip archive ({error}); fetch it again."
            ) from error
        yield files
