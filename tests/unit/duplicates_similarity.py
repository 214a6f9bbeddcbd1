"""Structural dissimilarity by other people's code, and ours of all pairs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from skimage.metrics import structural_similarity

from imagenetv2.duplicates.ssim.cpu import Engine
from tests.unit.duplicates_pixels import Pixels, hostile

Distances = npt.NDArray[np.float64]


def odd_images(side: int) -> Pixels:
    """Hostile images, and some that are alike: noise of one level, a shift, a coarse copy, grey."""
    known = hostile(side).astype(np.int64)
    noise = np.random.default_rng(3).integers(-1, 2, known[5].shape)
    coarse = known[5].repeat(4, axis=0).repeat(4, axis=1)[:side, :side]
    more = [
        known[5] + noise,
        np.roll(known[5], 1, axis=1),
        coarse,
        coarse + noise,
        coarse[:, :, :1] + 0 * noise,
    ]
    return np.clip(np.concatenate([known, np.stack(more)]), 0, 255).astype(np.uint8)


def oracle(a: Pixels, b: Pixels, window: int) -> float:
    """By scikit-image."""
    value = structural_similarity(a, b, channel_axis=-1, data_range=255, win_size=window)
    return (1 - float(value)) / 2


def by_definition(a: Pixels, b: Pixels, window: int) -> float:
    """Window by window: means, sample variances and covariance."""
    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    values = []
    for i, j in np.ndindex(len(a) - window + 1, len(a) - window + 1):
        for channel in range(3):
            x, y = (image[i : i + window, j : j + window, channel].ravel().astype(float) for image in (a, b))
            (vx, cov), (_, vy) = np.cov(x, y)
            luminance = (2 * x.mean() * y.mean() + c1) / (x.mean() ** 2 + y.mean() ** 2 + c1)
            values.append(luminance * (2 * cov + c2) / (vx + vy + c2))
    return (1 - float(np.mean(values))) / 2


def every_pair(engine: Engine, count: int, limit: float = np.inf) -> Distances:
    """Ours: images × images."""
    column, row = np.divmod(np.arange(count * count), count)
    return engine.exact(row, column, np.full(len(row), limit)).reshape(count, count).T
