"""ssim: structural dissimilarity (1 − SSIM) / 2 within a class and its WordNet neighbours.

Every pair is estimated first (``screen``); pairs that may be among the k nearest are then computed in full
(``ssim``). What is stored depends on neither tiles nor threads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates import squashed
from imagenetv2.duplicates.neighbours import Distances, Nearest, table
from imagenetv2.duplicates.screen import LARGEST, MARGIN, estimates, prepared
from imagenetv2.duplicates.settings import Structure
from imagenetv2.duplicates.squashed import Collection
from imagenetv2.duplicates.ssim import Windows, dissimilarities, windows
from imagenetv2.job import Job
from imagenetv2.pooling import threaded
from imagenetv2.progress import progress

ROWS, COLUMNS = 256, 256
"""Images of a tile: candidates and references; a few matrices of this size fit into a core's cache."""


@dataclass(frozen=True)
class Group:
    """Candidates of a class (rows of ``Collection.candidates``) and its references (indices of images)."""

    rows: npt.NDArray[np.int64]
    references: npt.NDArray[np.int64]


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among its own references."""
    settings = job.settings(Structure)
    images, archives = squashed.of(job)
    pixels = squashed.squashed(images, archives, settings.side, job.cores, job.data)
    found = groups(
        images,
        job.read("reference").table("reference"),
        job.read("candidates").table("candidates"),
        near(job.read("classes").table("classes"), settings.classes),
        everything=settings.everything,
    )
    with threadpool_limits(1, user_api="blas"):  # tiles run beside each other instead
        nearest = search(pixels, images, found, settings.k, settings.window, job.cores)
    ids = [images.ids[i] for i in images.candidates]
    job.out.table("neighbours", table(nearest, ids, images.ids, images.origins))
    pairs = sum(len(g.rows) * len(g.references) for g in found)
    job.log.info("ssim: %d candidates, %d pairs", len(ids), pairs)


def near(classes: pd.DataFrame, count: int) -> dict[str, list[str]]:
    """Each class and its so many WordNet-nearest ones, by WordNet ID."""
    pairs = zip(classes["wnid"].tolist(), classes["neighbours"].tolist(), strict=True)
    return {wnid: [wnid, *list(nearest)[:count]] for wnid, nearest in pairs}


def groups(
    images: Collection,
    reference: pd.DataFrame,
    candidates: pd.DataFrame,
    near: Mapping[str, Sequence[str]],
    *,
    everything: bool,
) -> list[Group]:
    """Which candidates are compared with which images, one group a class.

    The references are the training images of the classes ``near`` the class, and its other candidates;
    ``everything`` adds all validation and test images and all candidates. A candidate for several classes is in
    several groups: its references are the union.
    """
    place = {name: i for i, name in enumerate(images.ids)}
    train = reference[reference["split"] == "train"]
    of_class = {
        wnid: {place[name] for name in rows["image_id"]} for wnid, rows in train.groupby("wnid", sort=True)
    }
    added: set[int] = set()
    if everything:
        others = reference.loc[reference["split"] != "train", "image_id"]
        added = {place[name] for name in others} | set(images.candidates.tolist())
    pool_of = {
        wnid: {place[name] for name in rows["image_id"]}
        for wnid, rows in candidates.groupby("wnid", sort=True)
    }
    row_of = {int(index): row for row, index in enumerate(images.candidates)}
    out = []
    for name, members in pool_of.items():
        wnid = str(name)
        trained = [of_class.get(w, set()) for w in near.get(wnid, (wnid,))]
        references = added.union(members, *trained)
        rows = sorted(row_of[index] for index in members)
        out.append(Group(np.array(rows), np.array(sorted(references), dtype=np.int64)))
    return out


def search(
    pixels: npt.NDArray[np.uint8],
    images: Collection,
    groups: Sequence[Group],
    k: int,
    window: int,
    cores: int = 1,
    tile: tuple[int, int] = (ROWS, COLUMNS),
) -> Nearest:
    """The k nearest references of each candidate; all of them where it has fewer.

    ``pixels`` are images × side × side × 3; ``tile`` and ``cores`` change speed and memory only.
    """
    nearest = Nearest.none(len(images.candidates), k)
    tasks = [
        Group(group.rows[start : start + tile[0]], group.references)
        for group in groups
        for start in range(0, len(group.rows), tile[0])
    ]
    results = threaded(lambda task: _nearest(pixels, images, task, k, window, tile[1]), tasks, cores)
    for task, found in zip(tasks, progress(results, "ssim", len(tasks)), strict=True):
        before = Nearest(nearest.distance[task.rows], nearest.index[task.rows])
        both = before.joined(found)
        nearest.distance[task.rows], nearest.index[task.rows] = both.distance, both.index
    return nearest


def _nearest(
    pixels: npt.NDArray[np.uint8], images: Collection, group: Group, k: int, window: int, size: int
) -> Nearest:
    """Estimate every pair, then compute exactly those that may be among the nearest."""
    own = windows(pixels[images.candidates[group.rows]], window)
    never = images.never[group.rows][:, None]
    pieces = [group.references[start : start + size] for start in range(0, len(group.references), size)]
    estimated = [_estimates(own, windows(pixels[piece], window), window) for piece in pieces]
    for piece, estimate in zip(pieces, estimated, strict=True):
        estimate[never == piece] = np.inf
    nearest = Nearest.none(len(group.rows), k)
    if not pieces:
        return nearest
    bound = _kth(np.concatenate(estimated, axis=1), k) + 2 * MARGIN
    for piece, estimate in zip(pieces, estimated, strict=True):
        row, column = np.nonzero((estimate <= bound) & np.isfinite(estimate))
        used, place = np.unique(column, return_inverse=True)
        exact = np.full((len(group.rows), len(used)), np.inf)
        others = windows(pixels[piece[used]], window)
        exact[row, place] = dissimilarities(own, others, row, place, window)
        nearest = nearest.merged(exact, piece[used])
    return nearest


def _estimates(x: Windows, y: Windows, window: int) -> Distances:
    if window <= LARGEST:
        return estimates(prepared(x, window), prepared(y, window), window)
    return np.zeros((len(x.sums), len(y.sums)))


def _kth(estimate: Distances, k: int) -> Distances:
    place = min(k, estimate.shape[1]) - 1
    return np.partition(estimate, place, axis=1)[:, place : place + 1]
