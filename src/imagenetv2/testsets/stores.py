"""Where the files of a set lie: a folder, or an archive that is read in place."""

from __future__ import annotations

import errno
import hashlib
import os
import tarfile
import weakref
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from imagenetv2.errors import InputError
from imagenetv2.testsets.tar_index import members

AGAIN = "download or copy it again"


@dataclass(frozen=True, order=True, slots=True)
class Listed:
    """A file: its path below the folder or in the archive, with slashes, its size in bytes, and its ``stamp``."""

    name: str
    size: int
    stamp: str = field(default="", compare=False)


def stamp(facts: os.stat_result) -> str:
    """Size and times of change of a file in ns: differs once something was written to it.

    The time of the inode's change tells of files that were replaced by others with the same time of modification,
    as unpacking an archive makes them.
    """
    return f"{facts.st_size} {facts.st_mtime_ns} {facts.st_ctime_ns}"


def state(stamps: Iterable[str]) -> str:
    """SHA-256, in hex, over stamps."""
    return hashlib.sha256("\n".join(stamps).encode()).hexdigest()


class Store(Protocol):
    """Files by name; may be shared by threads.

    Attributes:
        files: all of them, sorted by name.
        folders: all folders, also empty ones, sorted.
        kind: what it is, for the layout; empty for a folder.
        stamp: that of the archive; empty for a folder, whose files have their own.
    """

    files: tuple[Listed, ...]
    folders: tuple[str, ...]
    kind: str
    stamp: str

    def shown(self, name: str) -> str:
        """The file as a person finds it."""
        ...

    def read(self, name: str, limit: int | None = None) -> bytes:
        """All bytes of a file, or the first ``limit``. Raises InputError that names it where that fails."""
        ...


class Disk:
    """A folder. Links are followed, but not back into a folder that they are in."""

    kind = stamp = ""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        files: list[Listed] = []
        folders: list[str] = []
        try:
            _walk(os.fspath(folder), "", frozenset(), files, folders)
        except OSError as error:
            raise InputError(
                f"{error.filename or folder} cannot be read ({error.strerror}); make it readable."
            ) from error
        self.files, self.folders = tuple(sorted(files)), tuple(sorted(folders))

    def shown(self, name: str) -> str:
        """See ``Store``."""
        return str(self._folder / name)

    def read(self, name: str, limit: int | None = None) -> bytes:
        """See ``Store``."""
        try:
            with open(os.path.join(self._folder, name), "rb") as file:  # noqa: PTH118, PTH123 - twice as fast
                return file.read(-1 if limit is None else limit)
        except OSError as error:
            raise InputError(
                f"{self.shown(name)} cannot be read ({error.strerror}); {AGAIN}, or make it readable."
            ) from error


def _walk(
    folder: str, prefix: str, above: frozenset[tuple[int, int]], files: list[Listed], folders: list[str]
) -> None:
    facts = os.stat(folder)  # noqa: PTH116
    here = (facts.st_dev, facts.st_ino)
    if here in above:
        return
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name.startswith("."):
            continue
        name = prefix + entry.name
        try:
            if entry.is_dir():
                folders.append(name)
                _walk(entry.path, f"{name}/", above | {here}, files, folders)
            else:
                found = entry.stat()
                files.append(Listed(name, found.st_size, stamp(found)))
        except OSError as error:
            if error.errno not in (errno.ENOENT, errno.ELOOP):
                raise
            raise InputError(f"{entry.path} is a link that leads nowhere; correct or remove it.") from error


class Tar:
    """A tar archive without compression, read in place."""

    kind = "in a tar archive"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, self._file)
        self.stamp = stamp(os.fstat(self._file))
        self._places: dict[str, tuple[int, int]] = {}
        folders: set[str] = set()
        try:
            found = members(path)
        except (tarfile.TarError, EOFError, OSError) as error:
            raise InputError(f"{path} is no whole tar archive ({error}); {AGAIN}.") from error
        for member in found:
            name = _plain(member.name)
            if member.offset is None:
                folders.add(name)
            elif name in self._places:
                raise InputError(f"{path} holds {name} twice; pack it again.")
            else:
                self._places[name] = (member.offset, member.size)
        self.files = tuple(sorted(Listed(name, size) for name, (_, size) in self._places.items()))
        self.folders = tuple(sorted(folders | _parents(self._places)))

    def shown(self, name: str) -> str:
        """See ``Store``."""
        return f"{self._path}: {name}"

    def read(self, name: str, limit: int | None = None) -> bytes:
        """See ``Store``."""
        offset, size = self._places[name]
        wanted = size if limit is None else min(size, limit)
        data = b""
        try:
            while len(data) < wanted and (
                more := os.pread(self._file, wanted - len(data), offset + len(data))
            ):
                data = data + more if data else more
        except OSError as error:
            raise InputError(f"{self.shown(name)} cannot be read ({error.strerror}); {AGAIN}.") from error
        return data


class Zip:
    """A ZIP archive, compressed or not, read in place."""

    kind = "in a zip archive"

    def __init__(self, path: Path) -> None:
        self._path = path
        try:
            self.stamp = stamp(path.stat())
            self._archive = zipfile.ZipFile(path)
        except (zipfile.BadZipFile, OSError, ValueError) as error:
            raise InputError(f"{path} is no whole ZIP archive ({error}); {AGAIN}.") from error
        weakref.finalize(self, self._archive.close)
        entries = self._archive.infolist()
        names = [entry.filename for entry in entries if not entry.is_dir()]
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise InputError(f"{path} holds {twice} twice; pack it again.")
        self.files = tuple(sorted(Listed(e.filename, e.file_size) for e in entries if not e.is_dir()))
        empty = {entry.filename.rstrip("/") for entry in entries if entry.is_dir()}
        self.folders = tuple(sorted(empty | _parents(names)))

    def shown(self, name: str) -> str:
        """See ``Store``."""
        return f"{self._path}: {name}"

    def read(self, name: str, limit: int | None = None) -> bytes:
        """See ``Store``."""
        try:
            with self._archive.open(name) as file:
                return file.read(-1 if limit is None else limit)
        # RuntimeError: it is encrypted; NotImplementedError: compressed in a way that is not known.
        except (KeyError, OSError, EOFError, RuntimeError, zipfile.BadZipFile, zlib.error) as error:
            raise InputError(f"{self.shown(name)} cannot be unpacked ({error}); {AGAIN}.") from error


def _plain(name: str) -> str:
    if "//" not in name and "./" not in name and not name.endswith("/"):
        return name
    return "/".join(part for part in name.split("/") if part not in ("", "."))


def _parents(names: Iterable[str]) -> set[str]:
    return {parent for folder in {name.rpartition("/")[0] for name in names} for parent in _lineage(folder)}


def _lineage(folder: str) -> Iterator[str]:
    while folder:
        yield folder
        folder = folder.rpartition("/")[0]
