"""How often each item is drawn when n items are drawn from n with replacement: many such bootstrap samples, fast.

Drawing n indices and counting them costs one random number an item and a walk through memory for each. Instead each
item's count is drawn as a Poisson number with mean a little under 1, and the sample is completed: given their total,
independent Poisson counts are multinomial, so a sample whose total t does not exceed n and n − t further draws of
single items are together n draws with replacement, exactly. Samples whose total exceeds n are drawn anew; whether
that happens depends on the total alone, given which the counts are multinomial all the same. Items that need not be
told apart share a count, since a sum of Poisson numbers is one too.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

Counts = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
FEW = 8
"""Up to so many items that need not be told apart, a count for each is cheaper than one for all."""
CELLS = 2**16
AT_ONCE = 2**16
"""Counts drawn at once, so that they stay in a processor's cache."""
DIRECT = 5
"""Counts below this are read off the bits."""


def collapse(features: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Items with equal features put together.

    Args:
        features: items × features.

    Returns:
        Features of each column, columns × features, and how many items it stands for, shape (columns,): first those
        of one item each, then those of more than ``FEW``.
    """
    _, first, copies = np.unique(np.packbits(features, axis=1), axis=0, return_index=True, return_counts=True)
    few = copies <= FEW
    rows = np.concatenate([np.repeat(first[few], copies[few]), first[~few]])
    return features[rows], np.concatenate([np.ones(copies[few].sum(), np.int64), copies[~few]])


class Multinomial:
    """Bootstrap samples of n items.

    Args:
        copies: items that each column stands for, shape (columns,), those of one item first; n is their sum.
    """

    def __init__(self, copies: Ints) -> None:
        self.copies = copies
        self.items = int(copies.sum())
        self.singles = int((copies == 1).sum())
        # Two deviations of the total under n: few samples exceed it, and few draws are left to complete the others.
        self.mean = max(0.25, 1 - 2 / np.sqrt(self.items))

    def draw(self, samples: int, rng: np.random.Generator) -> Counts:
        """How often the items of each column are drawn: float32, samples × columns; each row sums to n."""
        counts = self._poisson(samples, rng)
        missing = self._missing(counts)
        while (over := np.flatnonzero(missing < 0)).size:
            counts[over] = self._poisson(over.size, rng)
            missing[over] = self._missing(counts[over])
        drawn = self._columns[rng.integers(0, self.items, missing.sum())]
        np.add.at(
            counts.reshape(-1),
            np.repeat(np.arange(samples) * self.copies.size, missing) + drawn,
            np.float32(1),
        )
        return counts

    def _missing(self, counts: Counts) -> Ints:
        # As a product this takes a third of the time of a sum; whole numbers add without error either way.
        return self.items - (counts @ np.ones(self.copies.size, np.float32)).astype(np.int64)

    @cached_property
    def _columns(self) -> Ints:
        """Column of each item."""
        return np.repeat(np.arange(self.copies.size), self.copies)

    @cached_property
    def _cells(self) -> tuple[npt.NDArray[np.uint16], npt.NDArray[np.float64]]:
        """The Poisson distribution of one item as whole 2⁻¹⁶ths, and that of what these leave over.

        Returns the cells below which a count is at most 0, 1, …, and the cumulated probabilities, given a later cell.
        """
        k = np.arange(30)
        chance = np.exp(-self.mean) * self.mean**k / np.cumprod(np.maximum(k, 1), dtype=np.float64)
        whole = np.floor(chance[:DIRECT] * CELLS)
        left = chance.copy()
        left[:DIRECT] -= whole / CELLS
        return np.cumsum(whole).astype(np.uint16), np.cumsum(left) / left.sum()

    def _poisson(self, samples: int, rng: np.random.Generator) -> Counts:
        counts = np.empty((samples, self.copies.size), np.float32)
        step = max(1, AT_ONCE // max(1, self.singles))
        for start in range(0, samples, step):
            part = counts[start : start + step, : self.singles]
            part[:] = self._singles(part.size, rng).reshape(part.shape)
        several = self.copies[self.singles :]
        counts[:, self.singles :] = rng.poisson(self.mean * several, (samples, several.size))
        return counts

    def _singles(self, size: int, rng: np.random.Generator) -> npt.NDArray[np.uint8]:
        bounds, left = self._cells
        bits = rng.integers(0, 2**64, -(-size // 4), np.uint64).view(np.uint16)[:size]
        counts = np.zeros(size, np.uint8)
        for bound in bounds:
            reached = bits >= bound
            counts += reached.view(np.uint8)
        rest = np.flatnonzero(reached)
        counts[rest] = np.searchsorted(left, rng.random(rest.size), side="right")
        return counts
