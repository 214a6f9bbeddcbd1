"""Structural dissimilarity on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.ssim.bounds import bounds, limits, rest
from imagenetv2.duplicates.ssim.cells import Cells, coarse, fine
from imagenetv2.duplicates.ssim.exact import Limits, dissimilarities
from imagenetv2.duplicates.ssim.windows import AT_ONCE, LARGEST, Images, Windows
from imagenetv2.pooling import slices

SMALLEST = 3
CACHE = 2**24
"""Bytes of images that each image of the other side meets one after the other."""
T = TypeVar("T")


class Engine:
    """(1 − SSIM) / 2 of pairs of images, to ten decimals; see ``exact`` for the formula.

    Args:
        pixels: all images × side × side × 3.
        window: side of the uniform window: odd, at least 3, at most the side of the images.
        memory: bytes a call may take for what it keeps of single images (of a few images at least); calls made at
            once take it each. No result depends on it.

    Raises:
        ValueError: the window is even, or does not fit.
    """

    def __init__(self, pixels: Images, window: int, memory: int = 2**28) -> None:
        side = pixels.shape[1]
        if window % 2 == 0 or window < SMALLEST:
            raise ValueError(f"a window of {window} is not an odd number of at least {SMALLEST}")
        if window > min(side, LARGEST):
            raise ValueError(f"a window of {window} does not fit images of {side} × {side} pixels")
        self._pixels, self._window, self._memory = pixels, window, memory
        self._coarse, self._fine = coarse(side, window), fine(side, window)

    def bounds(
        self, rows: Indices, columns: Indices
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        """Lower bounds and estimates, rows × columns, float32."""
        grid = self._coarse
        lower, estimate = np.empty((2, len(rows), len(columns)), np.float32)
        many, few = self._at_once(grid.size)
        for down in slices(len(rows), many):
            x = Cells.of(self._pixels, rows[down], grid)
            for across in slices(len(columns), few):
                y = Cells.of(self._pixels, columns[across], grid)
                lower[down, across], estimate[down, across] = bounds(x, y, grid)
                del y
            del x  # before the next are made
        return lower, estimate

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """Distances of the pairs; infinite where bounds closer than those of ``bounds`` are above the limit."""
        out = np.full(len(rows), np.inf)
        limits = self._limits(rows, columns, limit)
        left = np.flatnonzero(limits.rest[:, 0] >= limits.least)
        window = self._window

        def prepared(images: Indices) -> Windows:
            return Windows.of(self._pixels, images, window)

        def compared(x: Windows, y: Windows, row: Indices, column: Indices, pairs: Indices) -> None:
            some = left[pairs]
            out[some] = dissimilarities(x, y, row, column, window, limits.take(some))

        size = Windows.size(self._pixels.shape[1], window)
        self._compare(rows[left], columns[left], size, prepared, compared)
        return out

    def _limits(self, rows: Indices, columns: Indices, limit: Values) -> Limits:
        """When pairs are given up: never, where there are no finer bounds, or no limits."""
        grid = self._fine
        if grid is None or not (limit < 1).any():
            return Limits.none(len(limit))
        out = limits(limit, grid)

        def prepared(images: Indices) -> Cells:
            return Cells.of(self._pixels, images, grid)

        def compared(x: Cells, y: Cells, row: Indices, column: Indices, pairs: Indices) -> None:
            out.rest[pairs] = rest(x, y, row, column, grid)

        self._compare(rows, columns, grid.size, prepared, compared)
        return out

    def _compare(
        self,
        rows: Indices,
        columns: Indices,
        size: int,
        prepared: Callable[[Indices], T],
        compared: Callable[[T, T, Indices, Indices, Indices], None],
    ) -> None:
        """Call ``compared`` with prepared images, of ``size`` bytes, some pairs of them, and which pairs these are."""
        many, few = self._at_once(size)
        names, row = np.unique(rows, return_inverse=True)
        others, column = np.unique(columns, return_inverse=True)
        # Pairs of a batch follow each other, and in it those of one row.
        order = np.lexsort((row, column // few, row // many))
        batch = row[order] // many * len(others) + column[order] // few
        starts = np.flatnonzero(np.diff(batch, prepend=-1))
        ends = np.flatnonzero(np.diff(batch, append=-1)) + 1
        down, kept = -1, list[T]()
        for start, end in zip(starts, ends, strict=True):
            pairs = order[start:end]
            first = column[pairs[0]] // few * few
            if row[pairs[0]] // many != down:
                down = row[pairs[0]] // many
                kept.clear()  # before the next are made
                kept.append(prepared(names[down * many : (down + 1) * many]))
            y = prepared(others[first : first + few])
            compared(kept[0], y, row[pairs] - down * many, column[pairs] - first, pairs)
            del y

    def _at_once(self, size: int) -> tuple[int, int]:
        """Rows that are kept, and columns that they meet in turn, of so many bytes each."""
        room = max(2, (self._memory - 4 * AT_ONCE) // size)
        few = max(1, min(room // 8, CACHE // size))
        return room - few, few
