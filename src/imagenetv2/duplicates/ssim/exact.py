"""Structural dissimilarity of pairs, after Wang et al. 2004, as scikit-image computes it with ``channel_axis=-1,
data_range=255, win_size=window``: uniform window, sample covariance, borders left out, mean over places and channels.

With sums s over the N pixels of a window, and c₁ = (0.01 · 255)², c₂ = (0.03 · 255)²:

    2 s_x s_y + c₁ N²        2 (N s_xy − s_x s_y) + c₂ N (N − 1)
    ────────────────────  ·  ─────────────────────────────────────────────────────────
    s_x² + s_y² + c₁ N²      (N s_xx − s_x²) + (N s_yy − s_y²) + c₂ N (N − 1)

All but the constants and the last steps are whole numbers below 2^53: nothing cancels, and a pair of equal images is
exactly 1 in each window.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.ssim.windows import CENTRE, CHANNELS, Windows

C1, C2 = 6.5025, 58.5225
"""(0.01 · 255)² and (0.03 · 255)²."""
ROUND = 1e10
"""Ten decimals are returned: those from about the twelfth on depend on the order in which a mean is added up. Equal
images are at 0, and so may be large ones of which a few values differ by one."""


@dataclass(frozen=True)
class Limits:
    """When pairs are given up.

    Attributes:
        starts: first lines of strips of windows, ascending, all different.
        rest: pairs × strips: the most that the windows from a strip's start on can add to the sum of SSIM.
        least: of each pair the sum it has to reach.
    """

    starts: Indices
    rest: Values
    least: Values

    @classmethod
    def none(cls, pairs: int) -> Limits:
        """No pair is given up."""
        return cls(np.zeros(1, np.int64), np.full((pairs, 1), np.inf), np.full(pairs, -np.inf))

    def take(self, which: Indices) -> Limits:
        """Those of some pairs."""
        return Limits(self.starts, self.rest[which], self.least[which])


def dissimilarities(
    x: Windows, y: Windows, row: Indices, column: Indices, window: int, limits: Limits
) -> Values:
    """(1 − SSIM) / 2, to ten decimals, of image ``row[i]`` of ``x`` and ``column[i]`` of ``y``.

    Infinite for pairs given up.
    """
    side, places = x.pixels.shape[1], x.sums.shape[1]
    work = np.empty(CHANNELS * side, np.int32), np.zeros(side + 1, np.int32), np.empty(places)
    images, others = (x.pixels, x.sums, x.deviations), (y.pixels, y.sums, y.deviations)
    sums = np.empty(len(row))
    fill(images, others, row, column, window, (limits.starts, limits.rest, limits.least), work, sums)
    dissimilarity = np.maximum((1 - sums / (CHANNELS * places**2)) / 2, 0)
    rounded: Values = np.rint(dissimilarity * ROUND) / ROUND
    return rounded


@njit(cache=True, nogil=True, error_model="numpy")
def fill(x, y, row, column, window, limits, work, sums):  # type: ignore[no-untyped-def]
    """Fill in the sum of SSIM over all windows and channels of each pair; −∞ for those given up."""
    starts, rest, least = limits
    products, _, similarity = work
    side, places = x[0].shape[1], similarity.shape[0]
    n = float(window * window)
    constants = n, C1 * n * n, C2 * n * (n - 1), CENTRE * n
    for pair in range(sums.shape[0]):
        pixels, other_pixels = x[0][row[pair]], y[0][column[pair]]
        total, totals = x[1][row[pair]], y[1][column[pair]]
        spread, spreads = x[2][row[pair]], y[2][column[pair]]
        for k in range(3 * side):
            products[k] = 0
        for j in range(places):
            similarity[j] = 0
        strip = 0
        sums[pair] = 0
        for i in range(side):
            a, b = pixels[i], other_pixels[i]
            for k in range(3 * side):
                products[k] += np.int32(a[k]) * np.int32(b[k])
            top = i - window + 1
            if top < 0:
                continue
            if strip < starts.shape[0] and top == starts[strip]:
                if added(similarity) + rest[pair, strip] < least[pair]:
                    sums[pair] = -np.inf
                    break
                strip += 1
            add_line(total[top], totals[top], spread[top], spreads[top], constants, window, work)
            a, b = pixels[top], other_pixels[top]
            for k in range(3 * side):
                products[k] -= np.int32(a[k]) * np.int32(b[k])
        sums[pair] += added(similarity)


@njit(cache=True, nogil=True, error_model="numpy")
def add_line(total_x, total_y, spread_x, spread_y, constants, window, work):  # type: ignore[no-untyped-def]
    """Add SSIM of a line of windows, all channels, to the sums over columns.

    Running sums of products may wrap around; their differences are right.
    """
    n, c1, c2, shift = constants
    products, running, similarity = work
    side, places = running.shape[0] - 1, similarity.shape[0]
    for channel in range(3):
        here = slice(channel * places, (channel + 1) * places)
        one, other, spread, spread_other = total_x[here], total_y[here], spread_x[here], spread_y[here]
        so_far = np.int32(0)
        for j in range(side):
            so_far += products[channel * side + j]
            running[j + 1] = so_far
        last = running[window:]
        for j in range(places):
            s, t = float(one[j]), float(other[j])
            covariance = n * float(np.int32(last[j] - running[j])) - s * t
            s += shift
            t += shift
            similarity[j] += ((2 * (s * t) + c1) * (2 * covariance + c2)) / (
                (s * s + t * t + c1) * (spread[j] + spread_other[j] + c2)
            )


@njit(cache=True, nogil=True, error_model="numpy")
def added(values):  # type: ignore[no-untyped-def]
    """Sum, from the first to the last."""
    out = 0.0
    for j in range(values.shape[0]):
        out += values[j]
    return out
