"""Images on which searches by pixels go wrong, and their distances by definition."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Pixels = npt.NDArray[np.uint8]


def brute(pixels: Pixels) -> npt.NDArray[np.int64]:
    """Σ (x − y)² of all pairs in int64."""
    flat = pixels.reshape(len(pixels), -1).astype(np.int64)
    return np.array([((flat - one) ** 2).sum(axis=1) for one in flat]).reshape(len(pixels), len(pixels))


def hostile(side: int) -> Pixels:
    """Constant images, copies, differences of one level in one or all values, 0 against 255, boards and ramps."""
    rng = np.random.default_rng(5)
    shape = (side, side, 3)
    noise = rng.integers(0, 255, shape)
    place = np.arange(side * side * 3).reshape(shape)
    down, across, _ = np.indices(shape)
    one_level = noise.copy()
    one_level[-1, -1, -1] += 1
    images = [np.full(shape, level) for level in (0, 255, 128, 127, 1)]
    images += [noise, noise, noise + 1, 255 - noise, one_level]
    images += [
        place % 2 * 255,
        (place + 1) % 2 * 255,
        (down + across) % 2 * 255,
        (down // 2 + across // 2) % 2 * 255,
    ]
    images += [down * 255 // side, across * 255 // side, np.where(down < side // 2, 0, 255)]
    return np.stack(images).astype(np.uint8)
