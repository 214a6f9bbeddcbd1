"""Write a set as others can use it: class folders, with tables that say in so many words which class each file is of."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import shutil
import tarfile
import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from imagenetv2.atomically import replacing
from imagenetv2.errors import InputError
from imagenetv2.progress import progress
from imagenetv2.testsets.class_table import CLASSES, ClassTable
from imagenetv2.testsets.manifest import COLUMNS
from imagenetv2.testsets.tree import MANIFEST

Layout = Literal["wnid", "index"]
ATTRIBUTION = "attribution.csv"
CREDITS = ("file", "photo_id", "owner_id", "license")


@dataclass(frozen=True)
class Credit:
    """Whom a photograph is owed to: Flickr's ids of it and its owner, and the number of its licence; no names."""

    photo_id: str
    owner_id: str
    license: str


@dataclass(frozen=True)
class Picture:
    """One image to be written.

    Attributes:
        index: its class index.
        file: its file name, without a folder.
        data: gives its bytes.
        image_id: what tells its content; empty where unknown.
        credit: see ``Credit``.
    """

    index: int
    file: str
    data: Callable[[], bytes]
    image_id: str = ""
    credit: Credit | None = None


class Sink(Protocol):
    """What takes files, one after the other."""

    def add(self, name: str, data: bytes) -> None:
        """Take one file."""
        ...


def write(
    pictures: Iterable[Picture], table: ClassTable, layout: Layout, sink: Sink, *, tables: bool = True
) -> int:
    """Hand images to ``sink`` in the order of their names, then classes.csv, manifest.csv and attribution.csv.

    Args:
        pictures: the images.
        table: their classes.
        layout: whether folders are named by WordNet ID or by class index.
        sink: where files go.
        tables: whether the tables are written.

    Returns:
        How many images there are.

    Raises:
        ValueError: two images have one name.
    """
    named = sorted(
        ((_name(picture, table, layout), picture) for picture in pictures), key=lambda pair: pair[0]
    )
    if len({name for name, _ in named}) < len(named):
        raise ValueError("two images have one name")
    rows, credits = [], []
    for name, picture in progress(named, "images written", len(named)):
        data = picture.data()
        sink.add(name, data)
        sha256 = hashlib.sha256(data).hexdigest()
        rows.append((name, picture.index, table.wnids[picture.index], picture.image_id, sha256))
        if (credit := picture.credit) is not None:
            credits.append((name, credit.photo_id, credit.owner_id, credit.license))
    if tables:
        listing = [(index, wnid, table.words[index]) for index, wnid in enumerate(table.wnids)]
        sink.add(CLASSES, _csv(("class_index", "wnid", "words"), listing))
        sink.add(MANIFEST, _csv(COLUMNS, rows))
        if credits:
            sink.add(ATTRIBUTION, _csv(CREDITS, credits))
    return len(rows)


def write_folder(pictures: Iterable[Picture], table: ClassTable, layout: Layout, out: Path) -> int:
    """``write`` to a new folder, which is there whole or not at all. Raises InputError where ``out`` exists."""
    _require_absent(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    part = Path(tempfile.mkdtemp(prefix=f".{out.name}-{os.getpid()}-", dir=out.parent))
    try:
        count = write(pictures, table, layout, FolderSink(part))
        part.chmod(0o755)
        part.rename(out)
    finally:
        shutil.rmtree(part, ignore_errors=True)
    return count


def write_tar(pictures: Iterable[Picture], table: ClassTable, layout: Layout, out: Path) -> int:
    """``write`` to a new tar archive without compression, with the same bytes each time; whole or not at all.

    Its folder is named like the archive. Raises InputError where ``out`` exists.
    """
    _require_absent(out)
    out.parent.mkdir(parents=True, exist_ok=True)
    with replacing(out) as file, tarfile.open(fileobj=file, mode="w") as archive:
        return write(pictures, table, layout, TarSink(archive, out.name.removesuffix(".tar")))


class FolderSink:
    """Files below a folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def add(self, name: str, data: bytes) -> None:
        """See ``Sink``."""
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


class TarSink:
    """Files in a tar archive, below one folder; times and owners are left out."""

    def __init__(self, archive: tarfile.TarFile, root: str) -> None:
        self._archive, self._root = archive, root

    def add(self, name: str, data: bytes) -> None:
        """See ``Sink``."""
        member = tarfile.TarInfo(f"{self._root}/{name}")
        member.size = len(data)
        self._archive.addfile(member, io.BytesIO(data))


def _name(picture: Picture, table: ClassTable, layout: Layout) -> str:
    folder = table.wnids[picture.index] if layout == "wnid" else str(picture.index)
    return f"{folder}/{picture.file}"


def _csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> bytes:
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue().encode("utf-8")


def _require_absent(out: Path) -> None:
    if out.exists():
        raise InputError(f"--out {out} exists already; delete it, or name another place.")
