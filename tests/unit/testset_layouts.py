"""One generated data set in every layout that test sets come in."""

from __future__ import annotations

import gzip
import io
import json
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy.io import savemat

from imagenetv2.images import encode_png
from imagenetv2.testsets import class_table, timm_tables
from imagenetv2.testsets.devkit import FOLDER, IMAGES, META, TRUTH
from imagenetv2.testsets.stores import Listed
from imagenetv2.testsets.writing import FolderSink, Layout, Picture, TarSink, write

IMAGENET = class_table.imagenet()
ROOT = "a-set"


def pixels_of(index: int, number: int = 0) -> np.ndarray:
    """An image that tells its class and its number."""
    return np.full((3, 2, 3), (index // 256, index % 256, number), np.uint8)


def picture(index: int, file: str, number: int = 0) -> Picture:
    """A picture of that class, as a PNG whatever its name."""
    data = encode_png(pixels_of(index, number))
    return Picture(index, file, lambda: data)


def pictures(per_class: int = 1, classes: Iterable[int] = range(1000)) -> list[Picture]:
    """So many of each class, named like those of ImageNetV2."""
    return [picture(i, f"{i * 100 + k:040x}.jpeg", k) for i in classes for k in range(per_class)]


def validation_pictures(per_class: int = 1, classes: Iterable[int] = range(0, 1000, 7)) -> list[Picture]:
    """Of each class so many that are named like validation images which really are of that class."""
    numbers: dict[int, list[int]] = {index: [] for index in classes}
    for number, labels in enumerate(timm_tables.real_labels(), start=1):
        if len(labels) == 1 and len(numbers.get(labels[0], range(per_class))) < per_class:
            numbers[labels[0]].append(number)
    return [
        picture(i, f"ILSVRC2012_val_{n:08d}.JPEG", k) for i, own in numbers.items() for k, n in enumerate(own)
    ]


class Memory(dict[str, bytes]):
    """Takes files like any sink, and gives them like any store, without a disk."""

    kind = "in memory"
    stamp = ""

    def add(self, name: str, data: bytes) -> None:
        self[name] = data

    @property
    def files(self) -> tuple[Listed, ...]:
        return tuple(sorted(Listed(name, len(data)) for name, data in self.items()))

    @property
    def folders(self) -> tuple[str, ...]:
        names = {name.rsplit("/", k)[0] for name in self for k in range(1, name.count("/") + 1)}
        return tuple(sorted(names))

    def shown(self, name: str) -> str:
        return f"set/{name}"

    def read(self, name: str, limit: int | None = None) -> bytes:
        return self[name][:limit]


def memory(images: Iterable[Picture], layout: Layout = "index", *, tables: bool = False) -> Memory:
    """The set as a store in memory."""
    store = Memory()
    write(images, IMAGENET, layout, store, tables=tables)
    return store


class ZipSink:
    """Files in a ZIP archive."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self._archive = archive

    def add(self, name: str, data: bytes) -> None:
        self._archive.writestr(f"{ROOT}/{name}", data)


def folder(out: Path, images: Sequence[Picture], layout: Layout, *, tables: bool = False) -> Path:
    """Class folders."""
    write(images, IMAGENET, layout, FolderSink(out), tables=tables)
    return out


def tar(
    out: Path, images: Sequence[Picture], layout: Layout, *, tables: bool = False, root: str = ROOT
) -> Path:
    """Class folders in a tar archive, compressed where its name says so."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        write(images, IMAGENET, layout, TarSink(archive, root), tables=tables)
    data = buffer.getvalue()
    out.write_bytes(gzip.compress(data, 1) if out.suffix in (".gz", ".tgz") else data)
    return out


def packed_zip(out: Path, images: Sequence[Picture], layout: Layout, *, tables: bool = False) -> Path:
    """Class folders in a compressed ZIP archive."""
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        write(images, IMAGENET, layout, ZipSink(archive), tables=tables)
    return out


def devkit(
    out: Path, images: Sequence[Picture], *, ids: Mapping[int, int] | None = None, lines: int = IMAGES
) -> Path:
    """ImageNet's development kit, with ILSVRC2012_IDs (``ids`` by class index) in another order than class indices."""
    ids = ids or {index: 1 + (index * 7 + 3) % 1000 for index in range(1000)}
    truth = [1] * lines
    for image in images:
        truth[int(image.file[15:23]) - 1] = ids[image.index]
    rows = [(i, IMAGENET.wnids[index], IMAGENET.words[index], "", 0) for index, i in ids.items()]
    rows.append((1001, "n00001740", "entity", "not a leaf", 2))
    fields = [(name, object) for name in ("ILSVRC2012_ID", "WNID", "words", "gloss", "num_children")]
    (out / "data").mkdir(parents=True)
    (out / "readme.txt").write_text("about the kit")
    (out / "data" / TRUTH).write_text("".join(f"{i}\n" for i in truth))
    savemat(out / "data" / META, {"synsets": np.array(sorted(rows), fields)[:, None]})
    return out


def packed_devkit(out: Path, images: Sequence[Picture]) -> Path:
    """The same as an archive."""
    with tempfile.TemporaryDirectory() as aside, tarfile.open(out, "w:gz") as archive:
        archive.add(devkit(Path(aside) / FOLDER, images), FOLDER)
    return out


def flat(out: Path, images: Sequence[Picture]) -> Path:
    """All images in one folder."""
    out.mkdir(parents=True)
    for image in images:
        (out / image.file).write_bytes(image.data())
    return out


def flat_tar(out: Path, images: Sequence[Picture]) -> Path:
    """All images in an archive without folders."""
    with tarfile.open(out, "w") as archive:
        for image in images:
            member = tarfile.TarInfo(image.file)
            member.size = len(image.data())
            archive.addfile(member, io.BytesIO(image.data()))
    return out


def parquet_table(
    images: Sequence[Picture], names: Sequence[str] | None = None, labels: Sequence[int] | None = None
) -> pa.Table:
    """Rows as the Hugging Face Hub has them; ``names`` are those of the labels, in the schema's metadata."""
    kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    image = pa.array([{"bytes": p.data(), "path": p.file} for p in images], kind)
    numbers = pa.array([p.index for p in images] if labels is None else labels, pa.int64())
    table = pa.table({"image": image, "label": numbers})
    if names is None:
        return table
    features: dict[str, Any] = {
        "image": {"_type": "Image"},
        "label": {"names": list(names), "_type": "ClassLabel"},
    }
    return table.replace_schema_metadata({"huggingface": json.dumps({"info": {"features": features}})})


def parquet(out: Path, images: Sequence[Picture], shards: int = 3, split: str = "validation") -> Path:
    """Images in no order, in several files of several row groups."""
    order = np.random.default_rng(5).permutation(len(images))
    out.mkdir(parents=True, exist_ok=True)
    (out / "README.md").write_text("about the set")
    for shard, part in enumerate(np.array_split(order, shards)):
        table = parquet_table([images[i] for i in part], IMAGENET.words)
        pq.write_table(table, out / f"{split}-{shard:05d}-of-{shards:05d}.parquet", row_group_size=250)
    return out


@dataclass(frozen=True)
class Stored:
    """A set on the disk, and where its development kit lies, if it needs one."""

    path: Path
    devkit: Path | None = None


Make = Callable[[Path, Sequence[Picture]], Stored]
LAYOUTS: dict[str, Make] = {
    "index": lambda at, images: Stored(folder(at / "set", images, "index")),
    "wnid": lambda at, images: Stored(folder(at / "set", images, "wnid")),
    "nested": lambda at, images: Stored(folder(at / "set/inner/val", images, "index").parents[1]),
    "with tables": lambda at, images: Stored(folder(at / "set", images, "wnid", tables=True)),
    "tar by index": lambda at, images: Stored(tar(at / "set.tar", images, "index")),
    "tar by wnid": lambda at, images: Stored(tar(at / "set.tar", images, "wnid", tables=True)),
    "tar.gz": lambda at, images: Stored(tar(at / "set.tar.gz", images, "index")),
    "tgz": lambda at, images: Stored(tar(at / "set.tgz", images, "wnid")),
    "zip": lambda at, images: Stored(packed_zip(at / "set.zip", images, "wnid")),
    "flat": lambda at, images: Stored(flat(at / "val", images), devkit(at / "kit", images)),
    "flat tar": lambda at, images: Stored(
        flat_tar(at / "val.tar", images), packed_devkit(at / "kit.tar.gz", images)
    ),
    "parquet": lambda at, images: Stored(parquet(at / "set", images)),
    "one parquet": lambda at, images: Stored(
        parquet(at / "s", images, 1) / "validation-00000-of-00001.parquet"
    ),
}
"""How a set of validation images is written to a folder, by layout."""
