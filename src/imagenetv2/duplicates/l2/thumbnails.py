"""Block means of images in 8 bits, and the bounds on distances that follow from them.

Within a block, images are their mean colour plus a rest, and the two are orthogonal; rests are at least as far apart as
their lengths. So with v = (red, green, blue, length of the rest / √n) of each block of n pixels, n |v_x − v_y|² ≤
Σ (x − y)². Rounding v to integers q, by a vector of length e, gives √d ≥ √n (|q_x − q_y| − e_x − e_y). Integers make
the bounds the same on every machine.
"""

from __future__ import annotations

import threading

import numpy as np

from imagenetv2.duplicates.engine import Indices
from imagenetv2.duplicates.l2 import kernels
from imagenetv2.duplicates.l2.kernels import Bytes, Single

CELLS = 16
"""Most blocks a side of the fine thumbnails; the coarse ones have half as many.

4 · 64 integers below 256 are squared and added up without rounding in float32, in whatever order.
"""
CHUNK = 64
"""Images whose thumbnails are made together."""
CENTRE = np.float32(128)
SLACK = np.float32(1e-3)
"""Added to the errors, for rounding of roots below 4,081 to float32."""
ROUNDED = 1.0 - 1e-6
"""Factor on bounds, for rounding of products to float32."""


class Thumbnails:
    """Thumbnails of all images at two sizes, made when they are first needed; safe for several threads.

    Attributes:
        pixels: images × values, not to be written.
        block: pixels a side of a block of ``fine``; blocks at the edge may reach beyond the image.
        fine, coarse: images × cells × cells × 4, uint8: the q of each block.
        error: the e of ``coarse``.
    """

    def __init__(self, pixels: Bytes, side: int) -> None:
        """``pixels``: images × values, contiguous."""
        # One kind of array for the compiled loops, whether it was in a file or not.
        self.pixels = pixels.view(np.ndarray)
        self.pixels.flags.writeable = False
        self._side = side
        self.block = -(-side // CELLS)
        cells = -(-side // self.block)
        half = -(-cells // 2)
        self.fine = np.empty((len(pixels), cells, cells, 4), np.uint8)
        self.coarse = np.empty((len(pixels), half, half, 4), np.uint8)
        self.error = np.empty(len(pixels), np.float32)
        chunks = -(-len(pixels) // CHUNK)
        self._made = np.zeros(chunks, dtype=bool)
        self._locks = [threading.Lock() for _ in range(chunks)]

    def make(self, images: Indices) -> None:
        """See to it that these images have thumbnails."""
        if self._made.all():
            return
        wanted = np.zeros(len(self._made), dtype=bool)
        wanted[images // CHUNK] = True
        # First those that no other thread is at work on, then wait for the others.
        for wait in (False, True):
            for chunk in np.flatnonzero(wanted & ~self._made).tolist():
                if self._locks[chunk].acquire(blocking=wait):
                    try:
                        self._make(chunk)
                    finally:
                        self._locks[chunk].release()

    def _make(self, chunk: int) -> None:
        if not self._made[chunk]:
            part = slice(chunk * CHUNK, (chunk + 1) * CHUNK)
            kernels.reduce(
                self.pixels[part],
                self._side,
                self.block,
                self.fine[part],
                self.coarse[part],
                self.error[part],
            )
            self._made[chunk] = True

    def bounds(self, rows: Indices, columns: Indices) -> tuple[Single, Single]:
        """Of every pair a lower bound of the squared distance, and what it is if rests are uncorrelated."""
        n = 4 * self.block**2
        x, x_rest, left = self.sides(rows)
        y, y_rest, right = self.sides(columns)
        lower = np.empty((len(rows), len(columns)), np.float32)
        estimate = np.empty_like(lower)
        step = max(1, 2**18 // max(1, len(columns)))  # so that products are still in the cache
        for start in range(0, len(rows), step):
            part = slice(start, start + step)
            np.matmul(x[part], y.T, out=lower[part])
            np.matmul(x_rest[part], y_rest.T, out=estimate[part])
            some = np.ascontiguousarray(left[:, part])
            kernels.bound(lower[part], estimate[part], some, right, np.float32(n * ROUNDED))
        return lower, estimate

    def sides(self, images: Indices) -> tuple[Single, Single, Single]:
        """Centred means, lengths of rests, and for both their squared lengths, and the errors."""
        cells = self.coarse[images].astype(np.float32)
        blocks = cells.shape[1] * cells.shape[2]
        means = (cells[..., :3] - CENTRE).reshape(len(images), 3 * blocks)
        rests = np.ascontiguousarray(cells[..., 3]).reshape(len(images), blocks)
        lengths = [np.einsum("ij,ij->i", a, a) for a in (means, rests)]
        return means, rests, np.stack([*lengths, self.error[images] + SLACK])
