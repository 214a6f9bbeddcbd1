"""All distinct images that take part in a search: their names, where they come from and where they lie."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.archive import Reader
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.queue import ORIGINS
from imagenetv2.job import Job


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

    def excluded(self, copies: pd.DataFrame) -> Excluded:
        """Pairs that do not count: an image with itself, and images of one Flickr photograph.

        ``copies`` says which photographs (photo_id) have the pixels of an image_id. A candidate with the pixels of
        an original image has that image as a neighbour at distance 0.
        """
        own = [(int(i), int(i)) for i in self.candidates if self.origins[i] == "candidates"]
        place = {name: i for i, name in enumerate(self.ids)}
        known = copies[copies["image_id"].isin(place)]
        groups = [
            sorted({place[i] for i in rows}) for _, rows in known.groupby("photo_id", sort=True)["image_id"]
        ]
        return Excluded.of(len(self.ids), own + [(a, b) for g in groups for a in g for b in g if a != b])


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


def digest(unreadable: Iterable[int]) -> str:
    """A name for the images that take part, to which the pieces of a search belong, by those that do not."""
    left_out = sorted(unreadable)
    return hashlib.sha256(repr(left_out).encode()).hexdigest()[:10] if left_out else "all"
