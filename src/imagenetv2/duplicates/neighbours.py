"""Which pairs are neighbours, in a total order, and the table they are stored in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from imagenetv2.duplicates.engine import Indices, Values


@dataclass(frozen=True)
class Pairs:
    """Pairs of a candidate and an image, with their distance; arrays of one length.

    ``row`` and ``column`` are indices of images, which number them in the order of their image_ids: the order of
    indices is the order of ids.
    """

    row: Indices
    column: Indices
    distance: Values

    def __len__(self) -> int:
        return len(self.row)

    @classmethod
    def none(cls) -> Pairs:
        """No pair."""
        return cls(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))

    @classmethod
    def joined(cls, parts: Iterable[Pairs]) -> Pairs:
        """One after the other."""
        parts = list(parts) or [cls.none()]
        return cls(
            np.concatenate([p.row for p in parts]),
            np.concatenate([p.column for p in parts]),
            np.concatenate([p.distance for p in parts]),
        )

    def take(self, which: np.ndarray) -> Pairs:
        """Those of a mask or of indices."""
        return Pairs(self.row[which], self.column[which], self.distance[which])

    def nearest(self, k: int, within: float) -> tuple[Pairs, Indices]:
        """Of each row the k nearest and all at or below ``within``, and the rank of each from 0.

        Sorted by row, distance, column. A pair that is there twice counts once.
        """
        order = np.lexsort((self.column, self.distance, self.row))
        pairs = self.take(order)
        new = np.ones(len(pairs), dtype=bool)
        new[1:] = (pairs.row[1:] != pairs.row[:-1]) | (pairs.column[1:] != pairs.column[:-1])
        pairs = pairs.take(new)
        rank = np.arange(len(pairs)) - np.searchsorted(pairs.row, pairs.row)
        kept = (rank < k) | (pairs.distance <= within)
        return pairs.take(kept), rank[kept]


def table(pairs: Pairs, rank: Indices, ids: Sequence[str], origins: Sequence[str]) -> pd.DataFrame:
    """The declared table: image_id, rank, neighbour_id, origin, distance."""
    names, places = np.asarray(ids, dtype=object), np.asarray(origins, dtype=object)
    return pd.DataFrame(
        {
            "image_id": names[pairs.row],
            "rank": rank.astype(np.int64),
            "neighbour_id": names[pairs.column],
            "origin": places[pairs.column],
            "distance": pairs.distance,
        }
    )
