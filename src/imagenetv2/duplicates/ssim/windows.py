"""What each image contributes alone to its structural similarity with others: sums over its windows, exact.

Pixels are centred by taking 128 off, which changes neither covariances nor variances. Sums are kept as running
sums in integers, so that nothing drifts: a window of 256 × 256 centred squares is at most 2^30.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from numba import njit

from imagenetv2.duplicates.engine import Indices
from imagenetv2.pooling import slices

CENTRE = 128
LARGEST = 256
"""Side of the largest window whose sums fit in 32 bits."""
CHANNELS = 3
AT_ONCE = 2**23
"""Bytes of temporary arrays, about."""

Images = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Windows:
    """A set of images; the three channels of a line follow each other.

    Attributes:
        pixels: images × height × (channels and width), less 128, int8.
        sums: sums of ``pixels`` over each window, images × places down × (channels and places across), int32.
        deviations: N Σx² − (Σx)² of the N pixels of each window, likewise, float64; whole numbers below 2^53.
    """

    pixels: npt.NDArray[np.int8]
    sums: npt.NDArray[np.int32]
    deviations: npt.NDArray[np.float64]

    @classmethod
    def of(cls, images: Images, which: Indices, window: int) -> Windows:
        """Of those of images × side × side × 3; the window fits them."""
        count, side = len(which), images.shape[1]
        shape = (count, side - window + 1, CHANNELS * (side - window + 1))
        out = cls(
            np.empty((count, side, CHANNELS * side), np.int8),
            np.empty(shape, np.int32),
            np.empty(shape, np.float64),
        )
        for some in slices(count, AT_ONCE // (CHANNELS * side**2)):
            centred = (images[which[some]] ^ CENTRE).view(np.int8)
            out.pixels[some] = centred.transpose(0, 1, 3, 2).reshape(out.pixels[some].shape)
        fill_sums(out.pixels, window, out.sums, out.deviations)
        return out

    @staticmethod
    def size(side: int, window: int) -> int:
        """Bytes of an image."""
        return CHANNELS * (side * side + 12 * (side - window + 1) ** 2)


@njit(cache=True, nogil=True, error_model="numpy")
def fill_sums(pixels, window, sums, deviations):  # type: ignore[no-untyped-def]
    """Fill the sums and deviations of several images from their pixels."""
    side = pixels.shape[1]
    places = side - window + 1
    n = window * window
    column, square = np.empty(3 * side, np.int32), np.empty(3 * side, np.int32)
    for image in range(pixels.shape[0]):
        for k in range(3 * side):
            column[k], square[k] = 0, 0
        for i in range(side):
            line = pixels[image, i]
            for k in range(3 * side):
                value = np.int32(line[k])
                column[k] += value
                square[k] += value * value
            top = i - window + 1
            if top < 0:
                continue
            line, out, spread = pixels[image, top], sums[image, top], deviations[image, top]
            for channel in range(3):
                total, squares = 0, 0
                start = channel * side
                for k in range(start, start + window - 1):
                    total += column[k]
                    squares += square[k]
                for j in range(places):
                    last = start + j + window - 1
                    total += column[last]
                    squares += square[last]
                    out[channel * places + j] = total
                    spread[channel * places + j] = n * squares - total * total
                    total -= column[start + j]
                    squares -= square[start + j]
            for k in range(3 * side):
                value = np.int32(line[k])
                column[k] -= value
                square[k] -= value * value
