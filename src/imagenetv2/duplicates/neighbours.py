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

    def nearest(self, k: int, within: float) -> Pairs:
        """Of each row the k nearest and all at or below ``within``.

        Sorted by row, distance, column. A pair that is there twice counts once.
        """
        pairs = self.take(np.lexsort((self.column, self.distance, self.row))).distinct()
        return pairs.take((pairs.ranks() < k) | (pairs.distance <= within))

    def distinct(self) -> Pairs:
        """Without those that follow one of the same row and column."""
        new = np.ones(len(self), dtype=bool)
        new[1:] = (self.row[1:] != self.row[:-1]) | (self.column[1:] != self.column[:-1])
        return self.take(new)

    def ranks(self) -> Indices:
        """Place of each among those of its row, from 0; sorted by row."""
        return np.arange(len(self)) - np.searchsorted(self.row, self.row)


def table(pairs: Pairs, ids: Sequence[str], origins: Sequence[str]) -> pd.DataFrame:
    """The declared table of pairs in the order of ``nearest``: image_id, rank, neighbour_id, origin, distance."""
    names, places = np.asarray(ids, dtype=object), np.asarray(origins, dtype=object)
    return pd.DataFrame(
        {
            "image_id": names[pairs.row],
            "rank": pairs.ranks(),
            "neighbour_id": names[pairs.column],
            "origin": places[pairs.column],
            "distance": pairs.distance,
        }
    )
