"""The k nearest of each candidate, in a total order, and the table they are stored in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

Distances = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Nearest:
    """The nearest found so far, one row a candidate: nearest first, equal distances by index.

    ``distance`` is infinite and ``index`` -1 where fewer than k have been found. Indices number the references
    in the order of their image_ids, so that the order of indices is the order of ids.
    """

    distance: Distances
    index: Indices

    @classmethod
    def none(cls, rows: int, k: int) -> Nearest:
        """Nothing found yet for so many candidates."""
        return cls(np.full((rows, k), np.inf), np.full((rows, k), -1, dtype=np.int64))

    def merged(self, distance: Distances, index: Indices) -> Nearest:
        """With a tile of distances: rows × columns, infinite where a pair is left out; index of each column.

        The result does not depend on how the columns were cut into tiles, nor on the order of the tiles.
        """
        return self._with(distance, np.broadcast_to(index, distance.shape))

    def joined(self, other: Nearest) -> Nearest:
        """With what else was found for the same candidates; an image found by both counts once."""
        return self._with(other.distance, other.index)

    def _with(self, distance: Distances, index: Indices) -> Nearest:
        rows, k = self.distance.shape
        distances = np.concatenate([self.distance, distance], axis=1)
        indices = np.concatenate([self.index, index], axis=1)
        last = min(2 * k, distances.shape[1]) - 1  # each image may be there twice
        bound = np.partition(distances, last, axis=1)[:, last : last + 1]
        row, column = np.nonzero((distances <= bound) & np.isfinite(distances))
        d, i = distances[row, column], indices[row, column]
        order = np.lexsort((i, d, row))
        row, d, i = row[order], d[order], i[order]
        new = np.ones(len(row), dtype=bool)
        new[1:] = (row[1:] != row[:-1]) | (i[1:] != i[:-1])
        row, d, i = row[new], d[new], i[new]
        place = np.arange(len(row)) - np.searchsorted(row, row)
        out = Nearest.none(rows, k)
        row, d, i, place = (a[place < k] for a in (row, d, i, place))
        out.distance[row, place] = d
        out.index[row, place] = i
        return out


def table(
    nearest: Nearest, candidates: Sequence[str], references: Sequence[str], origins: Sequence[str]
) -> pd.DataFrame:
    """The declared table: image_id, rank, neighbour_id, origin, distance; fewer than k rows where fewer are."""
    row, rank = np.nonzero(nearest.index >= 0)
    found = nearest.index[row, rank]
    return pd.DataFrame(
        {
            "image_id": np.asarray(candidates, dtype=object)[row],
            "rank": rank.astype(np.int64),
            "neighbour_id": np.asarray(references, dtype=object)[found],
            "origin": np.asarray(origins, dtype=object)[found],
            "distance": nearest.distance[row, rank],
        }
    )
