"""A lower bound of structural dissimilarity, and an estimate of it, from what windows close to each other share.

Windows whose places lie in a cell of s × s places share a core K of (window − s + 1)² pixels, and cells are laid out
so that each core is a whole number of blocks of s × s pixels. Of an image less its mean in a window W, let p be the
projection to what is 0 outside of K, constant in bins of pixels, and 0 in sum, and r the rest. With V = Σ_W (x − x̄)²

    Σ_W (x − x̄)(y − ȳ)  =  Σ p_x p_y + Σ r_x r_y  ≤  Σ p_x p_y + √(F_x F_y),     F = Σ r² = V − Σ p²,

so that contrast and structure, (2 Σ_W (x − x̄)(y − ȳ) + c) / (V_x + V_y + c), are at most

    (2 Σ p_x p_y + c + T) / (Σ p_x² + Σ p_y² + c + max(T, F_x + F_y))     with T = 2 √(F_x F_y)

or 0, where that is negative. It grows with T, so that T may be taken from the largest F of the cell, and F_x + F_y
from the smallest. (In cells of one window F is 0, and a negative value is as it should be.) Luminance is largest where
the two means are closest. All but Σ p_x p_y comes from single images; that is a sum of products over blocks.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.ssim.cells import LANES, Cells, Grid
from imagenetv2.duplicates.ssim.exact import Limits
from imagenetv2.duplicates.ssim.windows import CHANNELS
from imagenetv2.pooling import slices

MARGIN = 5e-4
"""Largest error of a bound of SSIM by rounding to float32, with u = 2^-24 and N pixels a window.

The sum of products, at most N 2^14, its product of means and their difference err by 6 u N 2^14, T by as much,
doubling and adding by 12 u N 2^14 more; 24 u N 2^14 over the denominator's least, 58.5 (N − 1), is 4.5e-4 for N ≥ 9.
The other factors are sums and products of positive numbers, below 1 in all: 60 u = 4e-6 for them and the mean.
"""
CACHE = 2**21
"""Bytes of cells that each image of the other side meets one after the other."""
STRIPS = 8
"""How often a pair may be given up on the way."""
Single = npt.NDArray[np.float32]


def bounds(x: Cells, y: Cells, grid: Grid) -> tuple[Single, Single]:
    """Lower bound and estimate of the dissimilarity of every pair: images of ``x`` × images of ``y``."""
    lower, estimate = np.empty((2, len(x.parts), len(y.parts)), np.float32)
    windows = CHANNELS * grid.places**2
    for part in slices(len(y.parts), CACHE // grid.size):
        some = Cells(y.parts[part], y.statistics[part])
        shape = len(x.parts), len(some.parts)
        row, column = np.divmod(np.arange(shape[0] * shape[1]), shape[1])
        upper, likely = similarity(x, some, row, column, grid, np.array([0, grid.cells]))
        lower[:, part] = np.maximum((1 - MARGIN - upper / windows) / 2, 0).reshape(shape)
        estimate[:, part] = ((1 - likely / windows) / 2).reshape(shape)
    return lower, estimate


def limits(limit: Values, grid: Grid) -> Limits:
    """When pairs are given up that have to be within ``limit``; what is to come (``rest``) is not filled in."""
    strips = _strips(grid)[:-1]
    least = (1 - MARGIN - 2 * np.minimum(limit, 1)) * (CHANNELS * grid.places**2)
    return Limits(strips * grid.cell, np.empty((len(limit), len(strips))), least)


def rest(x: Cells, y: Cells, row: Indices, column: Indices, grid: Grid) -> Values:
    """``Limits.rest`` of pairs, but for ``MARGIN``; arguments as for ``similarity``."""
    upper, _ = similarity(x, y, row, column, grid, _strips(grid))
    return np.cumsum(upper[:, ::-1], axis=1)[:, ::-1]


def _strips(grid: Grid) -> Indices:
    return np.unique(grid.cells * np.arange(STRIPS + 1) // STRIPS)


def similarity(
    x: Cells, y: Cells, row: Indices, column: Indices, grid: Grid, strips: Indices
) -> tuple[Values, Values]:
    """What the windows of each strip add to the sum of SSIM, at most but for ``MARGIN`` times their number; and an
    estimate of the whole sum.

    Of image ``row[i]`` of ``x`` and ``column[i]`` of ``y``; strips begin and end at ``strips``, in lines of cells.
    """
    upper, estimate = np.empty((len(row), len(strips) - 1)), np.empty(len(row))
    images, others = (x.parts, x.statistics), (y.parts, y.statistics)
    fill(images, others, row, column, grid.plan, strips * grid.width, buffers(grid), upper, estimate)
    return upper, estimate


def buffers(grid: Grid) -> tuple[npt.NDArray[Any], ...]:
    """What ``sums_of_products`` and ``similarities`` overwrite, for one thread."""
    (_, blocks), (_, cells) = grid.shapes
    return (
        np.empty(blocks, np.int32),
        np.empty(grid.width, np.int32),
        np.zeros(cells + grid.across + 1, np.int32),
        np.empty(cells, np.float32),
        np.empty(cells, np.float32),
    )


@njit(cache=True, nogil=True, error_model="numpy")
def fill(x, y, row, column, plan, ends, work, upper, estimate):  # type: ignore[no-untyped-def]
    """Fill ``upper`` and ``estimate`` of ``similarity``."""
    for pair in range(row.shape[0]):
        i, j = row[pair], column[pair]
        sums_of_products(x[0][i], y[0][j], plan, work)
        similarities(x[1][i], y[1][j], plan, work)
        for strip in range(upper.shape[1]):
            upper[pair, strip] = total(work[3][ends[strip] : ends[strip + 1]])
        estimate[pair] = total(work[4])


@njit(cache=True, nogil=True, error_model="numpy")
def sums_of_products(x, y, plan, work):  # type: ignore[no-untyped-def]
    """Fill the third of ``buffers``: running sums, along all cells, of sums over columns of blocks."""
    _, width, cells, across, _ = plan
    block, column, running = work[0], work[1], work[2]
    for k in range(block.shape[0]):
        block[k] = 0
    for part in range(x.shape[0]):
        a, b = x[part], y[part]
        for k in range(block.shape[0]):
            block[k] += np.int32(a[k]) * np.int32(b[k])
    for k in range(width):
        column[k] = 0
    for line in range(across - 1):
        new = block[line * width :]
        for k in range(width):
            column[k] += new[k]
    total, place = np.int32(0), 0
    for start in range(0, cells * width, width):
        new = block[start + (across - 1) * width :]
        for k in range(width):
            column[k] += new[k]
        for k in range(width):
            total += column[k]
            place += 1
            running[place] = total
        old = block[start:]
        for k in range(width):
            column[k] -= old[k]


@njit(cache=True, nogil=True, error_model="numpy")
def similarities(x, y, plan, work):  # type: ignore[no-untyped-def]
    """Fill the last two of ``buffers``: upper bound and estimate of SSIM of each cell, times its windows.

    ``x`` and ``y`` are the ``statistics`` of one image each.
    """
    weight, _, _, across, (scale, growth, c1, c2, floor) = plan
    running, upper, estimate = work[2], work[3], work[4]
    half, quarter = np.float32(0.5), np.float32(0.25)
    first, last = running, running[across:]
    mean, known, rest, least, low, high = x[0], x[1], x[2], x[3], x[4], x[5]
    mean_y, known_y, rest_y, least_y, low_y, high_y = y[0], y[1], y[2], y[3], y[4], y[5]
    for k in range(weight.shape[0]):
        covariance = np.float32(np.int32(last[k] - first[k])) * scale - mean[k] * mean_y[k]
        slack = rest[k] * rest_y[k]
        variances = known[k] + known_y[k]
        smallest = least[k] + least_y[k]
        middle = half * smallest + quarter * (rest[k] * rest[k] + rest_y[k] * rest_y[k])
        m = min(high[k], max(low[k], low_y[k]))
        m_y = max(low_y[k], min(high_y[k], m))
        product = m * m_y
        luminance = weight[k] * (product + product + c1)
        squares = m * m + m_y * m_y + c1
        upper[k] = (
            max(covariance + covariance + c2 + slack, floor)
            * luminance
            / ((variances + max(slack, smallest)) * squares)
        )
        estimate[k] = (covariance * growth + c2) * luminance / ((variances + middle) * squares)


@njit(cache=True, nogil=True, error_model="numpy")
def total(values):  # type: ignore[no-untyped-def]
    """Sum, in one fixed order; overwrites ``values``."""
    size = values.shape[0]
    while size > LANES:
        half = (size + 1) // 2
        front, back = values[:half], values[half:size]
        for k in range(size - half):
            front[k] += back[k]
        size = half
    out = 0.0
    for k in range(size):
        out += values[k]
    return out
