"""Search through all images, tile by tile."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.neighbours import Distances, Nearest
from imagenetv2.progress import progress

TILE = 2048
"""Images of a tile, along both sides."""

Rows = npt.NDArray[Any]


def search(
    values: Rows,
    candidates: npt.NDArray[np.int64],
    never: npt.NDArray[np.int64],
    k: int,
    distances: Callable[[Rows, Rows], Distances],
    *,
    what: str,
    tile: int = TILE,
) -> Nearest:
    """The k nearest images of each candidate.

    Args:
        values: images × values, in the order of their ids.
        candidates: indices of the candidates among them.
        never: for each candidate the index of an image that does not count, or -1.
        k: neighbours wanted; where there are fewer images, all of them.
        distances: of every pair, from rows of images: rows × other rows.
        what: the metric, for the progress bar.
        tile: images of a tile along both sides; changes speed and memory only.
    """
    parts = []
    for rows in progress(list(slices(len(candidates), tile)), what):
        part = Nearest.none(rows.stop - rows.start, k)
        left = values[candidates[rows]]
        for columns in slices(len(values), tile):
            distance = distances(left, values[columns])
            index = np.arange(columns.start, columns.stop)
            own = never[rows] - columns.start
            row = np.flatnonzero((own >= 0) & (own < len(index)))
            distance[row, own[row]] = np.inf
            part = part.merged(distance, index)
        parts.append(part)
    if not parts:
        return Nearest.none(0, k)
    return Nearest(np.concatenate([p.distance for p in parts]), np.concatenate([p.index for p in parts]))


def slices(length: int, size: int) -> Iterator[slice]:
    """Slices of that size, the last maybe shorter."""
    return (slice(start, min(start + size, length)) for start in range(0, length, size))
