"""Compressed archives: recognised by their first bytes, and unpacked once into a tar that is read in place."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from imagenetv2.atomically import replacing
from imagenetv2.errors import InputError
from imagenetv2.progress import bar
from imagenetv2.testsets.stores import AGAIN, Disk, Store, Tar, Zip

BLOCK = 512
CHUNK = 1 << 20
COMPRESSED: dict[bytes, Callable[[Any], IO[bytes]]] = {
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"BZh": bz2.open,
    b"\xfd7zXZ": lzma.open,
}
"""By the first bytes: how a compressed tar is opened. Names do not tell: ImageNetV2's .tar.gz are plain tars."""
ENDINGS = (".tar.gz", ".tgz", ".tar.bz2", ".tar.xz", ".tar", ".zip", ".parquet")


def open_store(path: Path, scratch: Path | None) -> Store:
    """The files at ``path``: a folder, a tar archive, compressed or not, or a ZIP archive.

    Raises InputError where it is none of these, or compressed without a ``scratch`` folder to unpack it in.
    """
    if path.is_dir():
        return Disk(path)
    head = first_bytes(path)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")) and zipfile.is_zipfile(path):
        return Zip(path)
    if _is_tar(head):
        return Tar(path)
    for magic, opener in COMPRESSED.items():
        if head.startswith(magic):
            return _Unpacked(path, _unpack(path, opener, scratch))
    raise InputError(
        f"{path} is neither a folder nor a tar, tar.gz, zip or Parquet file: it begins with {head[:8]!r}; name a "
        "test set."
    )


def first_bytes(path: Path) -> bytes:
    """The first 512. Raises InputError where it cannot be read."""
    try:
        with path.open("rb") as file:
            return file.read(BLOCK)
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror}); correct the path.") from error


def stem(path: Path) -> str:
    """The name of a folder or archive without the ending of an archive."""
    name = path.resolve().name
    for ending in ENDINGS:
        if name.lower().endswith(ending) and len(name) > len(ending):
            return name[: -len(ending)]
    return name


class _Unpacked(Tar):
    """A compressed archive's tar; messages name what was given."""

    kind = "in a compressed tar archive"

    def __init__(self, given: Path, unpacked: Path) -> None:
        self._given = given
        super().__init__(unpacked)

    def shown(self, name: str) -> str:
        """See ``Store``."""
        return f"{self._given}: {name}"


def _unpack(path: Path, opener: Callable[[Any], IO[bytes]], scratch: Path | None) -> Path:
    if scratch is None:
        raise InputError(
            f"{path} is compressed, and its images can't be read in place; give a scratch folder, in which it "
            "is unpacked once, or unpack it yourself."
        )
    facts = path.stat()
    key = hashlib.sha256(repr((str(path.resolve()), facts.st_size, facts.st_mtime_ns)).encode()).hexdigest()
    target = scratch / f"{stem(path)}-{key[:10]}.tar"
    if target.is_file():
        return target
    scratch.mkdir(parents=True, exist_ok=True)
    _sweep(target)
    try:
        with (
            path.open("rb") as file,
            opener(file) as stream,
            bar(f"unpacking {path.name}", facts.st_size) as shown,
        ):
            head, done = stream.read(BLOCK), 0
            if not _is_tar(head):
                raise InputError(f"{path} is compressed, but holds no tar archive; name a test set.")
            with replacing(target) as out:
                out.write(head)
                while chunk := stream.read(CHUNK):
                    out.write(chunk)
                    shown.update(file.tell() - done)
                    done = file.tell()
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        if (
            isinstance(error, OSError) and error.errno is not None
        ):  # of the disk, not of what is in the archive
            raise
        raise InputError(f"{path} is damaged or not whole ({error}); {AGAIN}.") from error
    return target


def _sweep(target: Path) -> None:
    """Delete what killed processes left of unpacking the same archive."""
    for part in sorted(target.parent.glob(f".{target.name}.*.part")):
        pid = part.name.split(".")[-3]
        if not (pid.isdigit() and Path(f"/proc/{pid}").exists()):
            part.unlink(missing_ok=True)


def _is_tar(head: bytes) -> bool:
    try:
        tarfile.TarInfo.frombuf(head, "utf-8", "surrogateescape")
    except tarfile.HeaderError:
        return False
    return True
