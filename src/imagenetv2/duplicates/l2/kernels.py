"""The loops of l2 over single images and single pairs, compiled.

Arrays are contiguous. ``pixels``: images × values (rows, columns, channels), uint8. ``cells``: images × down × across ×
4, uint8: of each block of pixels the means of red, green and blue, and the norm of what the means leave.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from numba import njit

from imagenetv2.duplicates.engine import Indices, Values

Bytes = npt.NDArray[np.uint8]
Single = npt.NDArray[np.float32]

RUN = 32768
"""Values of a partial sum in 32 bits: 32,768 · 255² < 2^31."""
SAFE = 1.0 - 1e-9
"""Factor on bounds in float64, for their rounding."""
ZERO, TWO = np.float32(0), np.float32(2)


@njit(cache=True, nogil=True)
def reduce(pixels: Bytes, side: int, block: int, fine: Bytes, coarse: Bytes, error: Single) -> None:
    """Fill ``fine`` and ``coarse``, whose blocks are ``block`` and twice ``block`` wide, and the ``error`` of coarse."""
    half = len(coarse[0])
    small, large = np.zeros((2 * half, 2 * half, 4), np.int64), np.empty((half, half, 4), np.int64)
    for image in range(len(pixels)):
        added(pixels[image], side, block, small)
        for i in range(half):
            for j in range(half):
                for v in range(4):
                    above = small[2 * i, 2 * j, v] + small[2 * i, 2 * j + 1, v]
                    below = small[2 * i + 1, 2 * j, v] + small[2 * i + 1, 2 * j + 1, v]
                    large[i, j, v] = above + below
        quantised(small, block * block, fine[image])
        error[image] = quantised(large, 4 * block * block, coarse[image])


@njit(cache=True, nogil=True)
def added(pixels: Bytes, side: int, block: int, sums: Indices) -> None:
    """Of each block the sums of red, green and blue, and of all squares."""
    width = side * 3
    sums[:] = 0
    values, squares = np.empty(width, np.uint32), np.empty(width, np.uint32)
    for top in range(0, side, block):
        values[:] = 0
        squares[:] = 0
        for y in range(top, min(side, top + block)):
            row = pixels[y * width : (y + 1) * width]
            for x in range(width):
                values[x] += np.uint32(row[x])
                squares[x] += np.uint32(row[x]) * np.uint32(row[x])
        for left in range(0, side, block):
            red, green, blue, square = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
            for x in range(left * 3, min(side, left + block) * 3, 3):
                red += values[x]
                green += values[x + 1]
                blue += values[x + 2]
                square += np.int64(squares[x]) + np.int64(squares[x + 1]) + np.int64(squares[x + 2])
            cell = sums[top // block, left // block]
            cell[0], cell[1], cell[2], cell[3] = red, green, blue, square


@njit(cache=True, nogil=True)
def quantised(sums: Indices, n: int, cells: Bytes) -> float:
    """Cells from the sums of n pixels and of their squares; returns the length of the rounding error.

    Pixels beyond the image's edge count as 0, in every image alike.
    """
    total = 0.0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            rest = n * sums[i, j, 3]
            for channel in range(3):
                rest -= sums[i, j, channel] ** 2
                mean = sums[i, j, channel] / n
                cells[i, j, channel] = np.uint8(np.rint(mean))
                total += (mean - np.rint(mean)) ** 2
            norm = math.sqrt(rest) / n
            cells[i, j, 3] = np.uint8(np.rint(norm))
            total += (norm - np.rint(norm)) ** 2
    return math.sqrt(total)


@njit(cache=True, nogil=True)
def bound(means: Single, norms: Single, left: Single, right: Single, n: np.float32) -> None:
    """Turn products of means and of norms, rows × columns, into lower bounds and estimates, in place; all float32.

    ``left`` and ``right`` (3 × images): squared length of means, of norms, error.
    """
    for r in range(len(means)):
        x, y = means[r], norms[r]
        for c in range(len(x)):
            apart = left[0, r] + right[0, c] - TWO * x[c]
            energy = left[1, r] + right[1, c]
            least = math.sqrt(apart + energy - TWO * y[c]) - (left[2, r] + right[2, c])
            least = least if least > ZERO else ZERO
            x[c] = n * least * least
            y[c] = n * (apart + energy)


@njit(cache=True, nogil=True)
def squared(x: Bytes, y: Bytes) -> np.int64:
    """Σ (x − y)² of two uint8 arrays, in integers."""
    total = np.int64(0)
    for start in range(0, len(x), RUN):
        a, b = x[start : start + RUN], y[start : start + RUN]
        part = np.uint32(0)
        for i in range(len(a)):
            d = np.uint8(max(a[i], b[i]) - min(a[i], b[i]))
            part = np.uint32(part + np.uint32(d) * np.uint32(d))
        total += np.int64(part)
    return total


@njit(cache=True, nogil=True)
def distances(
    pixels: Bytes,
    fine: Bytes,
    rows: Indices,
    columns: Indices,
    limit: Values,
    strip: int,
    block: int,
    out: Values,
) -> None:
    """Distances of pairs to ``out``; infinite above the limit.

    Strip by strip, of ``strip`` values and one row of cells, its bound gives way to its distance, until the sum of
    both is above the limit.
    """
    images, m = fine.shape[0], fine.shape[1]
    cells = fine.reshape(images, m, m * 4)
    error = math.sqrt(m * 4)  # of both images: each value is rounded by at most 1/2
    rest = np.zeros(m + 1)
    for pair in range(len(rows)):
        r, c = rows[pair], columns[pair]
        for i in range(m - 1, -1, -1):
            least = block * max(0.0, math.sqrt(squared(cells[r, i], cells[c, i])) - error)
            rest[i] = rest[i + 1] + SAFE * least * least
        total, i = np.int64(0), 0
        while i < m and total + SAFE * rest[i] <= limit[pair]:
            start, end = i * strip, min((i + 1) * strip, pixels.shape[1])
            total += squared(pixels[r, start:end], pixels[c, start:end])
            i += 1
        out[pair] = total if i == m and total <= limit[pair] else np.inf
