"""Structural dissimilarity on a GPU."""

from __future__ import annotations

from functools import partial

import numpy as np
import numpy.typing as npt
import torch

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.on_device import Fused, Resident, check_single_precision, home, side
from imagenetv2.duplicates.ssim import pairs, tiles
from imagenetv2.duplicates.ssim.cells import Grid, coarse
from imagenetv2.duplicates.ssim.exact import ROUND
from imagenetv2.duplicates.ssim.windows import CHANNELS, LARGEST
from imagenetv2.pooling import slices

SMALLEST = 3


class Engine:
    """(1 − SSIM) / 2 of pairs of images, to ten decimals.

    Args:
        pixels: images × side × side × 3, uint8; may lie in a file.
        window: side of the uniform window: odd, at least 3, at most the side of the images.
        device: cuda, or one of several as cuda:1; cpu computes the same with CPU tensors.
        memory: bytes of the device that are used at most.

    Distances are the CPU's, but that one whose eleventh decimal is about to round may differ by 1e-10; bounds differ in
    their last digits, and so may the number of pairs that are skipped.

    Raises:
        ValueError: the window is even, or does not fit.
    """

    def __init__(
        self,
        pixels: npt.NDArray[np.uint8],
        window: int,
        device: str | torch.device = "cuda",
        memory: int = 2**32,
    ) -> None:
        length = pixels.shape[1]
        if window % 2 == 0 or not SMALLEST <= window <= min(length, LARGEST):
            raise ValueError(f"a window of {window} is even, or does not fit {length} × {length} pixels")
        self._device, self._workspace, self._window = torch.device(device), memory // 2, window
        check_single_precision(self._device)
        self._grid, self._places = coarse(length, window), CHANNELS * (length - window + 1) ** 2
        kept = partial(_kept, window=window, grid=self._grid)
        self._images = Resident(pixels, kept, self._device, memory // 2)
        self._similarity, self._similarities = (
            Fused(function, self._device) for function in (_similarity, tiles.similarities)
        )
        self._constants = pairs.constants(window, self._device)
        self._weights = tiles.weights(self._grid, self._device)
        self._numbers = tiles.constants(self._grid, self._device)
        # Where nothing is fused: running sums of the products, then some twelve numbers a place or a cell.
        blocks, cells = (CHANNELS * count**2 for count in (self._grid.blocks, self._grid.cells))
        self._exact = 16 * CHANNELS * length**2 + 96 * self._places
        self._bounded = 16 * blocks + 48 * cells
        self._prepared = 16 * CHANNELS * length**2 + 48 * cells

    def bounds(
        self, rows: Indices, columns: Indices
    ) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
        """Lower bounds and estimates of every pair, rows × columns."""
        lower, estimate = np.empty((2, len(rows), len(columns)), np.float32)
        size = side(self._workspace, self._prepared, self._bounded)
        out: list[torch.Tensor] = []
        tile = list(self._images.tiles(rows, columns, size))
        for down, across in tile:
            with self._images.held(rows[down], columns[across]) as (kept, (x, y)):
                pixels, stats = kept[0], kept[3]
                products = tiles.sums_of_products(pixels[x], pixels[y], self._grid)
                left, right = (stats[some].movedim(0, -1).contiguous() for some in (x, y))
            upper, likely = self._similarities(products, left, right, self._weights, self._numbers)
            out.extend(tiles.dissimilarities(upper, likely, self._grid))
        values = iter(home(*out))
        for place in tile:
            lower[place], estimate[place] = next(values), next(values)
        return lower, estimate

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs ``rows[i], columns[i]``; none is left out for its limit."""
        out = torch.empty(len(rows), dtype=torch.float64, device=self._device)
        size = min(self._images.capacity // 2, max(1, self._workspace // self._exact))
        for some in slices(len(rows), size):
            with self._images.held(rows[some], columns[some]) as ((pixels, sums, squares, _), (x, y)):
                cross = pixels[x].to(torch.int32).mul_(pixels[y])
                cross = pairs.window_sums(cross, self._window)
                out[some] = self._similarity(cross, sums, squares, x, y, self._constants)
        distance = (1.0 - home(out)[0] / self._places) / 2.0
        rounded: Values = np.rint(np.maximum(distance, 0.0) * ROUND) / ROUND
        return rounded


def _kept(images: torch.Tensor, window: int, grid: Grid) -> tuple[torch.Tensor, ...]:
    single = pairs.prepared(images, window)
    return *single, tiles.statistics(*single, grid)


def _similarity(
    cross: torch.Tensor,
    sums: torch.Tensor,
    squares: torch.Tensor,
    x: torch.Tensor,
    y: torch.Tensor,
    constants: torch.Tensor,
) -> torch.Tensor:
    return pairs.similarity(cross, sums[x], squares[x], sums[y], squares[y], constants)
