"""What a metric provides to the search."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int64]


class Engine(Protocol):
    """Distances of pairs of images, which are named by their index in the collection.

    An engine is made once over the arrays of all images and then called from several threads at once. What it
    returns for a pair never depends on the other pairs of a call, nor on threads, tiles or the order of pairs.
    """

    def bounds(
        self, rows: Indices, columns: Indices
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        """Of every pair, rows × columns: a lower bound of the distance, and an estimate of it.

        ``lower <= distance`` holds for every pair, rounding included. The estimate decides only which pairs are
        computed first; a good one makes the first limit tight. Cheap: this is called for all pairs, twice.
        """
        ...

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs ``rows[i], columns[i]``, sorted by column, then row; float64.

        Infinite is allowed (not required) where the distance is above ``limit[i]``.
        """
        ...
