"""Distances of features on a GPU: bounds and distances as on the CPU, through the same steps."""

from __future__ import annotations

import numpy as np
import torch

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.fc7 import expansion
from imagenetv2.duplicates.fc7.expansion import Single
from imagenetv2.duplicates.fc7.rounding import rounded
from imagenetv2.duplicates.on_device import Resident, check_single_precision, home, on, side
from imagenetv2.pooling import slices

PAIR = 16
"""Bytes of a pair in bounds: its product, both results, and one of them while it is made."""


class Engine:
    """Σ (x − y)² of float32 features, summed in float64 and rounded to six significant digits.

    Args:
        features: images × features, float32 and finite; may lie in a file.
        device: cuda, or one of several as cuda:1; cpu computes the same with CPU tensors.
        memory: bytes of the device that are used at most.

    Bounds differ from the CPU's in their last digits, distances in digits that are rounded away.
    """

    def __init__(self, features: Single, device: str | torch.device = "cuda", memory: int = 2**32) -> None:
        self._device, self._workspace = torch.device(device), memory // 2
        self._images = Resident(features, lambda some: (some,), self._device, memory // 2)
        self._width = features.shape[1]
        norm = expansion.norms(features)
        self._useful = expansion.useful(norm, self._width)
        if self._useful:
            check_single_precision(self._device)
            self._norm = on(norm.astype(np.float32), self._device)
            self._shrunk = on(expansion.shrunk(norm, self._width).astype(np.float32), self._device)

    def bounds(self, rows: Indices, columns: Indices) -> tuple[Single, Single]:
        """Lower bound and estimate of every pair, rows × columns, float32; both 0 where nothing can be said."""
        lower, estimate = np.zeros((2, len(rows), len(columns)), np.float32)
        if not self._useful:
            return lower, estimate
        for down, across in self._images.tiles(rows, columns, side(self._workspace, 4 * self._width, PAIR)):
            with self._images.held(rows[down], columns[across]) as ((kept,), (x, y)):
                found = kept[x] @ kept[y].T
            i, j = on(rows[down], self._device), on(columns[across], self._device)
            found *= -2
            small = found + self._shrunk[i][:, None]
            small += self._shrunk[j]
            found += self._norm[i][:, None]
            found += self._norm[j]
            lower[down, across], estimate[down, across] = home(small, found)
        return lower, estimate

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs ``rows[i], columns[i]``; none is left out for its limit."""
        out = torch.empty(len(rows), dtype=torch.float64, device=self._device)
        size = min(self._images.capacity // 2, max(1, self._workspace // (32 * self._width)))
        for some in slices(len(rows), size):
            with self._images.held(rows[some], columns[some]) as ((kept,), (x, y)):
                apart = kept[x].to(torch.float64).sub_(kept[y])
            out[some] = apart.square_().sum(1)
        return rounded(home(out)[0])
