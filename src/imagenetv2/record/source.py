"""A record's files, from a checkout or from its archive."""

from __future__ import annotations

import json
import tarfile
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from imagenetv2.errors import InputError

MARKS = {"imagenetv2": "data/datasets/", "cifar10.1": "cifar101_predictions.npz"}
"""What every record of a kind holds, relative to its folder."""


@dataclass(frozen=True)
class Source:
    """Files by name relative to the record's folder, sorted, with their sizes in bytes."""

    path: Path
    sizes: Mapping[str, int]
    open: Callable[[str], bytes]

    def names(self, folder: str, suffix: str = "") -> list[str]:
        """Files below a folder, such as ``data/datasets``, that end with ``suffix``, sorted."""
        return [n for n in self.sizes if n.startswith(f"{folder}/") and n.endswith(suffix)]

    def read(self, name: str) -> bytes:
        """Bytes of a file. Raises InputError where the record has none of that name, or it cannot be read."""
        if name not in self.sizes:
            raise InputError(f"{self.path}: the record holds no {name}; give the path of a whole record.")
        try:
            return self.open(name)
        except OSError as error:
            raise InputError(
                f"{self.path}: {name} cannot be read ({error.strerror}); fetch the record again."
            ) from error

    def json(self, name: str) -> Any:
        """A JSON file's value. Raises InputError where it is missing or no JSON."""
        try:
            return json.loads(self.read(name))
        except ValueError as error:
            raise InputError(f"{self.path}: {name} is not JSON ({error}); fetch the record again.") from error


def read(path: Path, kind: str) -> Source:
    """The record at ``path``: a folder, or a .tar.gz that is unpacked into memory.

    Hidden files and folders, such as those of version control, are passed over. Files are found wherever the folder
    of the record lies below ``path``. Raises InputError where ``path`` holds no record of that kind.
    """
    sizes, open_ = _folder(path) if path.is_dir() else _archive(path)
    top = _top(sizes, MARKS[kind])
    if top is None:
        raise InputError(
            f"record.path: {path} holds no {MARKS[kind]}, so it is no record of the kind {kind}; give a checkout or "
            "its .tar.gz."
        )
    inside = {n.removeprefix(top): size for n, size in sorted(sizes.items()) if n.startswith(top)}
    return Source(path, inside, lambda name: open_(top + name))


def kind_of(path: Path) -> str:
    """Which kind of record lies at ``path``, by what every record of a kind holds. Raises InputError for none."""
    if not path.exists():
        raise InputError(f"{path} does not exist; give a checkout of a record or its .tar.gz.")
    sizes, _ = _folder(path) if path.is_dir() else _archive(path)
    for kind, mark in MARKS.items():
        if _top(sizes, mark) is not None:
            return kind
    raise InputError(
        f"{path} holds none of {', '.join(MARKS.values())}, so it is no record; give a checkout or its .tar.gz."
    )


def _top(names: Mapping[str, int], mark: str) -> str | None:
    """Folder in which ``mark`` lies, with a slash at its end; of several the uppermost; None where there is none."""
    tops = {n[: f"/{n}".index(f"/{mark}")] for n in names if f"/{mark}" in f"/{n}"}
    return min(tops, key=lambda top: (len(top), top)) if tops else None


Contents = tuple[dict[str, int], Callable[[str], bytes]]


def _folder(path: Path) -> Contents:
    found = {}
    for file in sorted(path.rglob("*")):
        name = file.relative_to(path)
        if not _hidden(name) and file.is_file():
            found[name.as_posix()] = file.stat().st_size
    return found, lambda name: (path / name).read_bytes()


def _archive(path: Path) -> Contents:
    """One pass: members of a compressed archive cannot be reached singly without unpacking what is before them."""
    found: dict[str, bytes] = {}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = PurePosixPath(member.name)
                file = archive.extractfile(member) if member.isfile() and not _hidden(name) else None
                if file is not None:
                    found[name.as_posix()] = file.read()
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        raise InputError(
            f"record.path: {path} is no whole archive ({error}); give a checkout or its .tar.gz."
        ) from error
    return {name: len(data) for name, data in found.items()}, found.__getitem__


def _hidden(name: PurePosixPath | Path) -> bool:
    return any(part.startswith(".") for part in name.parts)
