"""Pairs of images that are never neighbours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from imagenetv2.duplicates.engine import Indices


@dataclass(frozen=True)
class Excluded:
    """For each image the others that do not count as its neighbours: those of image i are
    ``other[start[i]:start[i + 1]]``, ascending."""

    start: Indices
    other: Indices

    @classmethod
    def of(cls, count: int, pairs: Iterable[tuple[int, int]]) -> Excluded:
        """From pairs (image, other), in one direction each, among so many images."""
        unique = np.array(sorted(set(pairs)), dtype=np.int64).reshape(-1, 2)
        return cls(np.searchsorted(unique[:, 0], np.arange(count + 1)), unique[:, 1])

    def inside(self, rows: Indices, columns: Indices) -> tuple[Indices, Indices]:
        """Places in a tile, ``rows`` down and ``columns`` (ascending) across, of the pairs that do not count."""
        counts = self.start[rows + 1] - self.start[rows]
        place = np.repeat(np.arange(len(rows)), counts)
        step = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
        other = self.other[self.start[rows][place] + step]
        column = np.searchsorted(columns, other)
        there = column < len(columns)
        there[there] = columns[column[there]] == other[there]
        return place[there], column[there]
