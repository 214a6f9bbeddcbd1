"""l2 on the processor: squared Euclidean distance of pixels, an exact integer for every pair."""

from __future__ import annotations

import numpy as np

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.l2 import kernels
from imagenetv2.duplicates.l2.dense import squared_distances
from imagenetv2.duplicates.l2.kernels import Bytes, Single
from imagenetv2.duplicates.l2.thumbnails import Thumbnails

DENSE, WIDENED = 0.25, 10
"""What a pair of a matrix product costs, and each image that is widened for it, in pairs computed one by one."""


class Engine:
    """``duplicates.engine.Engine`` for pixels: images × side × side × 3, uint8, maybe memory-mapped.

    In memory are 1,284 bytes an image.
    """

    def __init__(self, pixels: Bytes) -> None:
        side = pixels.shape[1]
        flat = np.ascontiguousarray(pixels).reshape(len(pixels), side * side * 3)
        self._thumbnails = Thumbnails(flat, side)
        self._strip = self._thumbnails.block * side * 3

    def bounds(self, rows: Indices, columns: Indices) -> tuple[Single, Single]:
        """Lower bounds and estimates of every pair, from thumbnails."""
        for images in (rows, columns):
            self._thumbnails.make(images)
        return self._thumbnails.bounds(rows, columns)

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs, infinite for some above the limit."""
        thumbnails, strip = self._thumbnails, self._strip
        left, right = np.unique(rows), np.unique(columns)
        if len(rows) > DENSE * len(left) * len(right) + WIDENED * (len(left) + len(right)):
            whole = squared_distances(thumbnails.pixels, left, right)
            return whole[np.searchsorted(left, rows), np.searchsorted(right, columns)]
        for images in (left, right):
            thumbnails.make(images)
        distance = np.empty(len(rows))
        kernels.distances(
            thumbnails.pixels, thumbnails.fine, rows, columns, limit, strip, thumbnails.block, distance
        )
        return distance
