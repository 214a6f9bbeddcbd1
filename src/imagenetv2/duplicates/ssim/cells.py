"""What a bound of structural dissimilarity needs of single images; ``bounds`` says what for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from numba import njit

from imagenetv2.duplicates.engine import Indices
from imagenetv2.duplicates.ssim.exact import C1, C2
from imagenetv2.duplicates.ssim.windows import AT_ONCE, CENTRE, CHANNELS, LARGEST, Images, Windows
from imagenetv2.pooling import slices

ROUNDING = 2.0**-36
"""Added to F for each pixel of a window: more than rounding to float64 can have taken from it."""
STATISTICS = 6
LANES = 32
"""Loops over arrays are multiples of that, so that no loop has a slow end."""


@dataclass(frozen=True)
class Grid:
    """Cells for a window and a side of images: ``cell`` divides window + 1, and ``bin`` (1 or 2) the cell."""

    side: int
    window: int
    cell: int
    bin: int

    @property
    def places(self) -> int:
        """Windows across, and down."""
        return self.side - self.window + 1

    @property
    def cells(self) -> int:
        """Cells across, and down; the last may be cut off."""
        return -(-self.places // self.cell)

    @property
    def across(self) -> int:
        """Blocks across a core, and down."""
        return (self.window + 1) // self.cell - 1

    @property
    def blocks(self) -> int:
        """Blocks across the image, and down."""
        return self.cells - 1 + self.across

    @property
    def width(self) -> int:
        """Blocks of a line, all channels; and cells of a line, of which the last of each channel are not used."""
        return CHANNELS * self.blocks

    @cached_property
    def weight(self) -> npt.NDArray[np.float32]:
        """Windows of each cell, line by line; 0 for those not used."""
        counts = np.zeros(self.blocks)
        counts[: self.cells] = np.minimum(self.cell, self.places - self.cell * np.arange(self.cells))
        weight = np.zeros(_whole(self.cells * self.width), np.float32)
        weight[: self.cells * self.width] = np.outer(counts[: self.cells], np.tile(counts, CHANNELS)).ravel()
        return weight

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """Of the arrays of an image's ``Cells``."""
        parts = (self.cell // self.bin) ** 2
        return (parts, _whole(self.blocks * self.width)), (STATISTICS, _whole(self.cells * self.width))

    @property
    def size(self) -> int:
        """Bytes of an image's ``Cells``."""
        parts, statistics = self.shapes
        return 2 * parts[0] * parts[1] + 4 * statistics[0] * statistics[1]

    @cached_property
    def plan(self) -> tuple[Any, ...]:
        """What the loops over pairs need: weight, width, cells and across, and five constants in float32.

        These are the factors from products of bins to those of pixels, and from a core's covariance to twice a
        window's; c₁; c₂ (N − 1); and the least numerator of contrast and structure that is not set to 0.
        """
        n, core = self.window**2, (self.cell * self.across) ** 2
        floor = 0 if self.cell > 1 else -np.inf
        constants = (self.bin**-2, 2 * n / core, C1, C2 * (n - 1), floor)
        return self.weight, self.width, self.cells, self.across, tuple(np.float32(c) for c in constants)


def coarse(side: int, window: int) -> Grid:
    """For bounds of all pairs: cells of about a sixth of the window, and where they are large, bins of 2 × 2.

    Where windows are small, comparing each is cheap, and as a bound within ``bounds.MARGIN``.
    """
    cell = _divisor(window + 1, max(1, (window + 1) // 6))
    return Grid(side, window, cell, 2 if cell % 2 == 0 and cell >= 4 and window <= LARGEST // 2 else 1)


def fine(side: int, window: int) -> Grid | None:
    """For pairs that the coarse bound leaves: cells half as wide, each pixel by itself; None where it does not pay."""
    cell = _divisor(window + 1, max(1, (window + 1) // 12))
    return Grid(side, window, cell, 1) if 1 < cell < coarse(side, window).cell else None


def _divisor(number: int, largest: int) -> int:
    return max(size for size in range(1, largest + 1) if number % size == 0)


def _whole(size: int) -> int:
    return -(-size // LANES) * LANES


@dataclass(frozen=True)
class Cells:
    """What the bound needs of each of a set of images.

    Attributes:
        parts: images × bins of a block × blocks (line by line, channels after each other within a line), int16: sums
            over the bins, of centred pixels.
        statistics: images × 6 × cells, float32: Σ_K x / √|K|; Σ p² + c/2; √(2 F) for the largest F; the smallest F;
            smallest and largest mean of a window.
    """

    parts: npt.NDArray[np.int16]
    statistics: npt.NDArray[np.float32]

    @classmethod
    def of(cls, images: Images, which: Indices, grid: Grid) -> Cells:
        """Of those of images × side × side × 3."""
        parts, statistics = grid.shapes
        out = cls(np.zeros((len(which), *parts), np.int16), np.zeros((len(which), *statistics), np.float32))
        out.statistics[:, 1] = C2 * (grid.window**2 - 1) / 2
        for some in slices(len(which), AT_ONCE // Windows.size(grid.side, grid.window)):
            windows = Windows.of(images, which[some], grid.window)
            bins = _bins(windows.pixels, grid)
            out.parts[some, :, : grid.blocks * grid.width] = bins.reshape(len(bins), parts[0], -1)
            used = out.statistics[some, :, : grid.cells * grid.width]
            _describe(
                windows, bins, grid, used.reshape(len(bins), STATISTICS, grid.cells, CHANNELS, grid.blocks)
            )
        return out


def _bins(pixels: npt.NDArray[np.int8], grid: Grid) -> npt.NDArray[np.int16]:
    """Sums over bins: images × bins of a block × blocks down × channels × blocks across."""
    used = slice(grid.cell - 1, grid.cell - 1 + grid.blocks * grid.cell)
    bins = pixels[:, used].reshape(len(pixels), -1, CHANNELS, grid.side)[..., used].astype(np.int16)
    if grid.bin == 2:
        bins = bins[:, ::2] + bins[:, 1::2]
        bins = bins[..., ::2] + bins[..., 1::2]
    many = grid.cell // grid.bin
    bins = bins.reshape(len(pixels), grid.blocks, many, CHANNELS, grid.blocks, many)
    shape = (len(pixels), many * many, grid.blocks, CHANNELS, grid.blocks)
    return np.ascontiguousarray(bins.transpose(0, 2, 5, 1, 3, 4)).reshape(shape)


def _describe(
    windows: Windows, bins: npt.NDArray[np.int16], grid: Grid, out: npt.NDArray[np.float32]
) -> None:
    """Fill in the statistics of each cell: images × 6 × cells down × channels × blocks across."""
    out = out[..., : grid.cells]
    n, core = float(grid.window**2), float((grid.cell * grid.across) ** 2)
    low, high, least, most = extremes(windows.sums, windows.deviations, grid.cell, grid.cells)
    total = _boxes(bins.sum(axis=1, dtype=np.int32), grid.across) / np.sqrt(core)
    squares = _boxes(np.square(bins, dtype=np.int32).sum(axis=1, dtype=np.int32), grid.across)
    known = squares / grid.bin**2 - total * total
    out[:, 0] = total
    out[:, 1] = known + C2 * (n - 1) / 2
    out[:, 2] = np.sqrt(2 * (np.maximum(most / n - known, 0) + ROUNDING * n))
    out[:, 3] = np.maximum(least / n - known, 0)
    out[:, 4] = low / n + CENTRE
    out[:, 5] = high / n + CENTRE


def _boxes(blocks: npt.NDArray[np.int32], across: int) -> npt.NDArray[np.int32]:
    """Sums over across × across blocks of images × blocks × channels × blocks.

    Running sums may wrap around; their differences are right.
    """
    down = np.cumsum(blocks, axis=1, dtype=np.int32)
    down[:, across:] -= down[:, :-across].copy()
    right = np.cumsum(down[:, across - 1 :], axis=3, dtype=np.int32)
    right[..., across:] -= right[..., :-across].copy()
    return right[..., across - 1 :]


@njit(cache=True, nogil=True, error_model="numpy")
def extremes(sums, deviations, cell, cells):  # type: ignore[no-untyped-def]
    """Smallest and largest window sum and deviation of each cell: 4 × images × cells × channels × cells."""
    places = sums.shape[1]
    out = np.empty((4, sums.shape[0], cells, 3, cells))
    for image in range(sums.shape[0]):
        for i in range(cells):
            for channel in range(3):
                for j in range(cells):
                    left = channel * places
                    low = high = sums[image, i * cell, left + j * cell]
                    least = most = deviations[image, i * cell, left + j * cell]
                    for y in range(i * cell, min(places, (i + 1) * cell)):
                        for x in range(left + j * cell, left + min(places, (j + 1) * cell)):
                            low = min(low, sums[image, y, x])
                            high = max(high, sums[image, y, x])
                            least = min(least, deviations[image, y, x])
                            most = max(most, deviations[image, y, x])
                    out[0, image, i, channel, j], out[1, image, i, channel, j] = low, high
                    out[2, image, i, channel, j], out[3, image, i, channel, j] = least, most
    return out
