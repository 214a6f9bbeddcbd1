"""Pictures from folders, archives and single files, by name."""

from __future__ import annotations

import errno
import hashlib
import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Protocol

from imagenetv2 import images
from imagenetv2.benchmark.settings import Images
from imagenetv2.duplicates.packed import Tar, Zip, packed
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels, UndecodableImageError

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""Endings of files inside a folder that are opened as archives; of a path that is given, the first bytes decide."""
MAGIC = 16
"""Bytes that tell whether a file is an image, so that a large one that is none is not read."""

ONE_FILE = {
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG,
}  # fmt: skip
"""Errors of the system that are the fault of one file; others, such as those of the disk, concern the run."""


class Source(Protocol):
    """Where files lie; may be shared by threads."""

    def read(self, name: str, limit: int | None = None) -> bytes:
        """The first ``limit`` bytes of a file, or all.

        Raises UndecodableImageError saying why it can't be read, OSError where that is not the fault of this file.
        """
        ...


class Disk:
    """Files on the disk, below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def read(self, name: str, limit: int | None = None) -> bytes:
        """See ``Source``."""
        try:
            with (self._folder / name).open("rb") as file:
                return file.read(limit)
        except OSError as error:
            if error.errno not in ONE_FILE:
                raise
            raise UndecodableImageError(f"it cannot be read: {error.strerror or error}") from error


@dataclass(frozen=True)
class Damaged:
    """What could not be opened at all: any file of it has the same fault."""

    reason: str

    def read(self, name: str, limit: int | None = None) -> bytes:
        """See ``Source``."""
        raise UndecodableImageError(self.reason)


@dataclass(frozen=True)
class Entry:
    """One file: the name that is shown, where it lies, its name there, and what tells it from all others."""

    name: str
    source: Source
    member: str
    identity: tuple[str, str]


class Folder:
    """Files in the order of their names, whether they are images or not; may be shared by threads.

    Attributes:
        names: relative to the folder or archive where one path was given, else beginning with the path.
        identities: for each file the real path and the name in the archive; one file has one.
        damaged: for each file whether what holds it could not be opened at all.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._entries = entries
        self.names = [_printable(entry.name) for entry in entries]
        self.identities = [entry.identity for entry in entries]
        self.damaged = [isinstance(entry.source, Damaged) for entry in entries]
        self._settings = Images()

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def _facts(self) -> dict[str, tuple[int, int]]:
        """Size and time of change of each file on the disk."""
        return {path: _fact(path) for path in dict.fromkeys(path for path, _ in self.identities)}

    @property
    def bytes(self) -> int:
        """Of all files; of an archive all its bytes."""
        return sum(size for size, _ in self._facts.values())

    def digest(self) -> str:
        """Of names, sizes and times of change, which tell whether these are the same files as before."""
        digest = hashlib.sha256()
        for path, member in self.identities:
            digest.update(repr((path, member, self._facts[path])).encode())
        return digest.hexdigest()

    def pixels(self, i: int) -> Pixels:
        """Decode file ``i``. Raises UndecodableImageError saying why it is no picture."""
        entry = self._entries[i]
        images.container(entry.source.read(entry.member, MAGIC))
        return images.decode(entry.source.read(entry.member), self._settings).pixels


def pictures(paths: Sequence[Path], results: Path | None = None) -> Folder:
    """All files of folders, archives (tar, zip) and single files, at any depth.

    Hidden files and links that lead back are left out, and so is the folder ``results``; a file that is given twice
    counts once. Raises InputError where a path does not exist, or is that folder.
    """
    found: dict[tuple[str, str], Entry] = {}
    without = frozenset({results.resolve()} if results is not None else ())
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist; correct the path.")
        if path.resolve() in without:
            raise InputError(f"{path} holds pictures, and is where results go; give another --out.")
        prefix = "" if len(paths) == 1 else f"{path.as_posix().rstrip('/')}/"
        for entry in _entries(path, prefix, without):
            found.setdefault(entry.identity, entry)
    return Folder(sorted(found.values(), key=lambda entry: (entry.name, entry.identity)))


def _fact(path: str) -> tuple[int, int]:
    try:
        stat = Path(path).stat()
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns


def _printable(name: str) -> str:
    """A name as UTF-8: files may be called by any bytes, tables hold text."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _entries(path: Path, prefix: str, without: frozenset[Path]) -> Iterator[Entry]:
    if path.is_dir():
        yield from _below(path, prefix, without)
    elif archive := _archive(path):
        yield from _inside(archive, path, prefix)
    else:
        name = prefix.rstrip("/") or path.name
        yield Entry(name, Disk(path.parent), path.name, (str(path.resolve()), ""))


def _below(root: Path, prefix: str, without: frozenset[Path]) -> Iterator[Entry]:
    disk = Disk(root)
    # A resolved root and plain entries below it make resolving each of a million files unnecessary.
    for member, place in _walk(root, "", root.resolve(), without):
        if isinstance(place, Damaged):
            yield Entry(prefix + member, place, member, (str(root / member), ""))
        elif member.lower().endswith(ARCHIVES) and (archive := _archive(root / member)):
            yield from _inside(archive, root / member, f"{prefix}{member}/")
        else:
            yield Entry(prefix + member, disk, member, (str(place), ""))


def _walk(root: Path, below: str, real: Path, above: frozenset[Path]) -> Iterator[tuple[str, Path | Damaged]]:
    """Names and real paths of regular files, folders that cannot be read with the reason; none of those ``above``."""
    if real in above:
        return
    try:
        entries = sorted(os.scandir(real), key=lambda entry: entry.name)
    except OSError as error:
        yield below.rstrip("/"), Damaged(f"the folder cannot be read: {error.strerror or error}")
        return
    for entry in entries:
        if entry.name.startswith(".") or entry.name == "__MACOSX":
            continue
        name, place = below + entry.name, Path(entry.path)
        if entry.is_symlink():
            place = Path(os.path.realpath(place))
        if entry.is_dir():
            yield from _walk(root, f"{name}/", place, above | {real})
        elif entry.is_file() or entry.is_symlink():
            yield name, place


def _inside(archive: Tar | Zip | Damaged, path: Path, prefix: str) -> Iterator[Entry]:
    real = str(path.resolve())
    if isinstance(archive, Damaged):
        yield Entry(prefix.rstrip("/") or path.name, archive, "", (real, ""))
        return
    for member in archive.names:
        if not any(part.startswith(".") or part == "__MACOSX" for part in member.split("/")):
            yield Entry(prefix + member, archive, member, (real, member))
    if archive.damage:
        yield Entry(prefix.rstrip("/") or path.name, Damaged(archive.damage), "", (real, ""))


def _archive(path: Path) -> Tar | Zip | Damaged | None:
    try:
        return packed(path)
    except (OSError, EOFError, zipfile.BadZipFile) as error:
        return Damaged(f"the archive cannot be read: {error}")
