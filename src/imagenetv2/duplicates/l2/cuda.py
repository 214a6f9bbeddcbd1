"""Distances of pixels on a GPU: bounds and distances are the CPU's, to the last bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import torch

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.l2.kernels import Single
from imagenetv2.duplicates.l2.products import centred, dense_distances, norms, paired_distances
from imagenetv2.duplicates.l2.thumbnails import ROUNDED, Thumbnails
from imagenetv2.duplicates.on_device import Resident, home, on, side
from imagenetv2.pooling import slices

Sides = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""As from ``Thumbnails.sides``."""

DENSE = 256
"""Distances of all pairs of two sets of images take the time of so many times fewer distances of single pairs."""
PAIR = 48
"""Bytes of a pair of a matrix product: the product's part, its sum and what is made of it."""

BOUNDED_IMAGE, BOUNDED_PAIR = 2048, 32
"""Bytes of an image and of a pair in bounds."""


class Engine:
    """Σ (x − y)² of uint8 pixels, an exact integer.

    Args:
        pixels: images × rows × columns × channels, uint8; may lie in a file.
        device: cuda, or one of several as cuda:1; cpu computes the same with CPU tensors.
        memory: bytes of the device that are used at most.
    """

    def __init__(
        self, pixels: npt.NDArray[np.uint8], device: str | torch.device = "cuda", memory: int = 2**32
    ) -> None:
        self._device, self._workspace = torch.device(device), memory // 2
        self._thumbnails = Thumbnails(pixels.reshape(len(pixels), -1), pixels.shape[1])
        self._scale = float(np.float32(4 * self._thumbnails.block**2 * ROUNDED))
        self._images = Resident(pixels, _kept, self._device, memory // 2)

    def bounds(self, rows: Indices, columns: Indices) -> tuple[Single, Single]:
        """Lower bounds and estimates of every pair, from thumbnails."""
        for images in (rows, columns):
            self._thumbnails.make(images)
        lower, estimate = np.empty((2, len(rows), len(columns)), np.float32)
        size = side(self._workspace, BOUNDED_IMAGE, BOUNDED_PAIR)
        for down in slices(len(rows), size):
            x = self._sides(rows[down])
            for across in slices(len(columns), size):
                found = _bounds(x, self._sides(columns[across]), self._scale)
                lower[down, across], estimate[down, across] = home(*found)
        return lower, estimate

    def _sides(self, images: Indices) -> Sides:
        means, rests, single = (on(values, self._device) for values in self._thumbnails.sides(images))
        return means, rests, single

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs ``rows[i], columns[i]``; none is left out for its limit."""
        out = torch.empty(len(rows), dtype=torch.int64, device=self._device)
        for some in self._tiles(rows, columns):
            down, row = np.unique(rows[some], return_inverse=True)
            across, column = np.unique(columns[some], return_inverse=True)
            if len(down) * len(across) <= DENSE * len(row):
                with self._images.held(down, across) as ((values, squares), (x, y)):
                    distance = dense_distances(values[x], values[y], squares[x], squares[y])
                found = distance[on(row, self._device), on(column, self._device)]
            else:
                found = self._paired(rows[some], columns[some])
            out[on(some, self._device)] = found
        return home(out)[0].astype(np.float64)

    def _tiles(self, rows: Indices, columns: Indices) -> Iterator[Indices]:
        """Places of the pairs, put together by tiles of images that fit into memory."""
        size = min(side(self._workspace, self._images.bytes, PAIR), self._images.capacity // 2)
        down, across = (np.unique(some, return_inverse=True)[1] // size for some in (rows, columns))
        tile = across * (len(rows) + 1) + down
        order = np.argsort(tile, kind="stable")
        yield from np.split(order, np.flatnonzero(np.diff(tile[order])) + 1) if len(order) else ()

    def _paired(self, rows: Indices, columns: Indices) -> torch.Tensor:
        size = max(1, min(self._workspace // (8 * self._images.bytes), self._images.capacity // 2))
        out = torch.empty(len(rows), dtype=torch.int64, device=self._device)
        for some in slices(len(rows), size):
            with self._images.held(rows[some], columns[some]) as ((values, squares), (x, y)):
                out[some] = paired_distances(values[x], values[y], squares[x], squares[y])
        return out


def _kept(images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    values = centred(images)
    return values, norms(values)


def _bounds(x: Sides, y: Sides, scale: float) -> tuple[torch.Tensor, torch.Tensor]:
    (means_x, rests_x, left), (means_y, rests_y, right) = x, y
    # The steps of kernels.bound. Products and lengths are whole numbers below 2²⁴: sums of them are not rounded.
    apart = (left[0][:, None] + right[0]).add_(means_x @ means_y.T, alpha=-2)
    whole = apart.add_(left[1][:, None] + right[1])
    estimate = whole * scale
    # Roots in float32 are not the nearest numbers on every processor; by way of float64 they are.
    least = whole.add_(rests_x @ rests_y.T, alpha=-2).to(torch.float64).sqrt_().to(torch.float32)
    least = least.sub_(left[2][:, None] + right[2]).clamp_(min=0)
    return (least * scale).mul_(least), estimate
