"""Distances of every pair of two sets of images by matrix products, without rounding.

Pixels are centred to −128 … 127, so that a sum of 1,024 products stays within 2^24 and is exact in float32 in whatever
order it is added; blocks of 1,024 values are added up in float64, exact up to 2^53. So the result depends neither on
threads nor on the linear algebra library. Plain float32 loses near-duplicates: see facebookresearch/faiss#297.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.engine import Indices, Values

BLOCK = 1024
"""Values of a partial sum in float32: 1,024 · 128² = 2^24."""


def squared_distances(pixels: npt.NDArray[np.uint8], rows: Indices, columns: Indices) -> Values:
    """Σ (x − y)² of every pair, rows × columns, integers in float64; ``pixels``: images × values.

    Exact for up to 2^37 values an image.
    """
    distance = np.zeros((len(rows), len(columns)))
    left, right = np.zeros(len(rows)), np.zeros(len(columns))
    product = np.empty(distance.shape, np.float32)
    for start in range(0, pixels.shape[1], BLOCK):
        x, y = (_centred(pixels[images, start : start + BLOCK]) for images in (rows, columns))
        np.matmul(x, y.T, out=product)
        distance -= product
        left += np.einsum("ij,ij->i", x, x)
        right += np.einsum("ij,ij->i", y, y)
    distance *= 2
    distance += left[:, None]
    distance += right[None, :]
    return distance


def _centred(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.float32]:
    return values.astype(np.float32) - np.float32(128)
