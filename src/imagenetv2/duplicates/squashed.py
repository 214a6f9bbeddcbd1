"""All distinct images that take part, squashed to one size."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.archive import Reader
from imagenetv2.duplicates.queue import ORIGINS
from imagenetv2.images import Pixels, squash
from imagenetv2.job import Job
from imagenetv2.pooling import threaded
from imagenetv2.progress import progress

IN_MEMORY = 2**30
"""Arrays of more bytes than this lie in a temporary file that the system deletes with the process."""
AT_ONCE = 256


@dataclass(frozen=True)
class Collection:
    """Distinct images, in the order of their ids.

    Attributes:
        ids: image_ids, ascending.
        origins: train, val, test or candidates for each; the first that holds.
        files: where each picture lies: ``reference`` or ``candidates``, and its name in that archive.
        candidates: indices of the candidates, ascending.
    """

    ids: list[str]
    origins: list[str]
    files: list[tuple[str, str]]
    candidates: npt.NDArray[np.int64]

    @property
    def never(self) -> npt.NDArray[np.int64]:
        """For each candidate the index of the image it can't be a neighbour of: itself, or -1.

        A candidate with the pixels of an original image has that image as a neighbour at distance 0.
        """
        own = np.array([self.origins[i] == "candidates" for i in self.candidates], dtype=bool)
        return np.where(own, self.candidates, -1)


def collection(reference: pd.DataFrame, candidates: pd.DataFrame) -> Collection:
    """Put together the tables of ``reference`` and ``candidates`` (columns image_id, split, file)."""
    rows = pd.concat(
        [
            reference[["image_id", "split", "file"]].rename(columns={"split": "origin"}),
            candidates[["image_id", "file"]].assign(origin="candidates"),
        ],
        ignore_index=True,
    )
    rows["place"] = rows["origin"].map({name: place for place, name in enumerate(ORIGINS)})
    rows = rows.sort_values(["image_id", "place", "file"], kind="stable").drop_duplicates("image_id")
    where = np.where(rows["origin"] == "candidates", "candidates", "reference")
    pool = set(candidates["image_id"])
    ids = rows["image_id"].tolist()
    return Collection(
        ids=ids,
        origins=rows["origin"].tolist(),
        files=list(zip(where.tolist(), rows["file"].tolist(), strict=True)),
        candidates=np.array([i for i, name in enumerate(ids) if name in pool], dtype=np.int64),
    )


def of(job: Job) -> tuple[Collection, dict[str, Reader]]:
    """The collection of a stage that reads ``reference`` and ``candidates``, and its archives."""
    artifacts = {name: job.read(name) for name in ("reference", "candidates")}
    tables = {name: artifact.table(name) for name, artifact in artifacts.items()}
    archives = {name: Reader(artifact.path("images.zip")) for name, artifact in artifacts.items()}
    return collection(tables["reference"], tables["candidates"]), archives


def batches(
    images: Collection, archives: Mapping[str, Reader], side: int, size: int, workers: int
) -> Iterator[tuple[slice, Pixels]]:
    """The images in order, squashed to images × side × side × 3, so many at a time."""

    def one(index: int) -> Pixels:
        archive, name = images.files[index]
        return squash(archives[archive].pixels(name), side)

    starts = range(0, len(images.ids), size)
    pixels = threaded(one, range(len(images.ids)), workers)
    for start in progress(starts, f"images at {side} pixels"):
        place = slice(start, min(start + size, len(images.ids)))
        yield place, np.stack([next(pixels) for _ in range(place.start, place.stop)])


def squashed(
    images: Collection, archives: Mapping[str, Reader], side: int, workers: int, data: Path
) -> npt.NDArray[np.uint8]:
    """All images squashed: images × side × side × 3; ``data`` is the folder for a temporary file if it is large."""
    out = room((len(images.ids), side, side, 3), np.dtype(np.uint8), data)
    for place, pixels in batches(images, archives, side, AT_ONCE, workers):
        out[place] = pixels
    return out


def room(shape: tuple[int, ...], dtype: np.dtype[Any], data: Path) -> npt.NDArray[Any]:
    """An empty array: in memory, or where it is large in a temporary file in ``data`` without a name."""
    if int(np.prod(shape)) * dtype.itemsize <= IN_MEMORY:
        return np.empty(shape, dtype)
    with tempfile.TemporaryFile(dir=data) as file:
        return np.memmap(file, dtype=dtype, mode="w+", shape=shape)
