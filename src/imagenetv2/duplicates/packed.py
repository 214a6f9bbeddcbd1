"""Files of a tar or zip archive, read by several threads at once."""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import shutil
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from imagenetv2.images import UndecodableImageError

COMPRESSED: dict[bytes, Callable[[BinaryIO], Any]] = {
    b"\x1f\x8b": gzip.open,
    b"BZ": bz2.open,
    b"\xfd7": lzma.open,
}
"""By the first two bytes: how a compressed tar is opened."""
BLOCK = 512


class Tar:
    """Regular files of a tar archive; a compressed one is unpacked to a temporary file.

    Attributes:
        names: of all files up to where the archive ends or is damaged.
        damage: what is wrong with the rest; empty where nothing is.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._places: dict[str, tuple[int, int]] = {}
        self.damage = ""
        try:
            with tarfile.open(fileobj=file, mode="r:") as archive:
                for member in archive:
                    name = _plain(member.name)
                    if member.isfile():
                        self._places[name] = (member.offset_data, member.size)
                    elif member.islnk() and _plain(member.linkname) in self._places:
                        self._places[name] = self._places[_plain(member.linkname)]
        except (tarfile.TarError, OSError, EOFError) as error:
            self.damage = f"the archive is damaged: {error}"
        self.names = sorted(self._places)

    def __del__(self) -> None:
        self._file.close()

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The first ``limit`` bytes of a file, or all; fewer where the archive ends early."""
        offset, size = self._places[name]
        return os.pread(self._file.fileno(), size if limit is None else min(size, limit), offset)


class Zip:
    """Files of a zip archive."""

    damage = ""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self.names = sorted({info.filename for info in self._archive.infolist() if not info.is_dir()})

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The first ``limit`` bytes of a file, or all. Raises UndecodableImageError where it is damaged."""
        try:
            with self._archive.open(name) as file:
                return file.read(-1 if limit is None else limit)
        # RuntimeError: it is encrypted; NotImplementedError: compressed in a way that is not known.
        except (OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:  # of the archive, not of what is in it
                raise
            raise UndecodableImageError(f"it cannot be unpacked: {error}") from error


def packed(path: Path) -> Tar | Zip | None:
    """The archive at ``path`` by its first bytes, None where it is none.

    Raises OSError, EOFError or BadZipFile where it is one and cannot be read.
    """
    with path.open("rb") as file:
        head = file.read(BLOCK)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return Zip(path)
    if _is_tar(head):
        return Tar(path.open("rb"))
    if unpack := COMPRESSED.get(head[:2]):
        return _unpacked(path, unpack)
    return None


def _unpacked(path: Path, unpack: Callable[[BinaryIO], Any]) -> Tar | None:
    spool = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the archive
    cut = ""
    with path.open("rb") as file, unpack(file) as stream:
        try:
            if not _is_tar(stream.read(BLOCK)):
                return None
            stream.seek(0)
            shutil.copyfileobj(stream, spool, 1 << 20)
        except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
            cut = f"the archive is damaged: {error}"
    spool.seek(0)
    archive = Tar(spool)
    archive.damage = cut or archive.damage
    return archive


def _is_tar(head: bytes) -> bool:
    """Whether these are the first 512 bytes of a tar archive, by its magic or, for old ones, by its checksum."""
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True


def _plain(name: str) -> str:
    return name.removeprefix("./")
