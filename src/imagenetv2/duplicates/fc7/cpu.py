"""Distances of features on the CPU.

Bounds come from |x|² + |y|² − 2xy, one matrix product in float32 a tile, with all it may be wrong by taken off. The
distance itself is a direct sum, so that near-copies keep their digits and copies are at exactly 0.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.fc7 import expansion
from imagenetv2.duplicates.fc7.expansion import Single
from imagenetv2.duplicates.fc7.rounding import rounded


class Engine:
    """Σ (x − y)² of float32 features, summed in float64 in one order and rounded to six significant digits.

    Args:
        features: images × features, float32 and finite; may lie in a file.

    Distances depend on the features alone. Features, the last digits of the bounds, and with them how many pairs are
    skipped, depend on the machine and its linear algebra library; which pairs are found does not.
    """

    def __init__(self, features: Single) -> None:
        self._features = np.asarray(features, np.float32)
        width = self._features.shape[1]
        norm = expansion.norms(self._features)
        self._useful = expansion.useful(norm, width)
        if self._useful:
            self._norm = norm.astype(np.float32)
            self._shrunk = expansion.shrunk(norm, width).astype(np.float32)

    def bounds(self, rows: Indices, columns: Indices) -> tuple[Single, Single]:
        """Lower bound and estimate of every pair, rows × columns, float32; both 0 where nothing can be said."""
        if not self._useful:
            nothing = np.zeros((2, len(rows), len(columns)), np.float32)
            return nothing[0], nothing[1]
        estimate: Single = self._features[rows] @ self._features[columns].T
        estimate *= -2
        lower: Single = estimate + self._shrunk[rows][:, None]
        lower += self._shrunk[columns]
        estimate += self._norm[rows][:, None]
        estimate += self._norm[columns]
        return lower, estimate

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs ``rows[i], columns[i]``; none is left out for its limit."""
        out = np.empty(len(rows))
        _direct(self._features, rows, columns, out)
        return rounded(out)


@njit(cache=True, nogil=True)
def _direct(features: Single, rows: Indices, columns: Indices, out: Values) -> None:
    # Four sums at once, added up in this order: a single one would wait for each addition.
    width = features.shape[1]
    whole = width - width % 4
    for pair in range(len(rows)):
        x, y = features[rows[pair]], features[columns[pair]]
        a = b = c = d = 0.0
        for i in range(0, whole, 4):
            a += (np.float64(x[i]) - np.float64(y[i])) ** 2
            b += (np.float64(x[i + 1]) - np.float64(y[i + 1])) ** 2
            c += (np.float64(x[i + 2]) - np.float64(y[i + 2])) ** 2
            d += (np.float64(x[i + 3]) - np.float64(y[i + 3])) ** 2
        for i in range(whole, width):
            a += (np.float64(x[i]) - np.float64(y[i])) ** 2
        out[pair] = (a + b) + (c + d)
