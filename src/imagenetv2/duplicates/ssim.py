"""Structural similarity after Wang et al. 2004, as scikit-image computes it with ``channel_axis=-1,
data_range=255, win_size=window``: uniform window, sample covariance, borders left out, mean over places and channels.

With N values a window and sums s over it, every factor is an integer once it is multiplied by N², N (N − 1) and
10⁴ (which makes (0.01 · 255)² and (0.03 · 255)² whole), so that nothing is rounded before the last steps:

    2 s_x s_y + c₁        2 (N s_xy − s_x s_y) + c₂
    ─────────────────  ·  ───────────────────────────────────────────
    s_x² + s_y² + c₁      (N s_xx − s_x²) + (N s_yy − s_y²) + c₂
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

C1 = 65025
"""10⁴ (0.01 · 255)²."""
C2 = 585225
"""10⁴ (0.03 · 255)²."""
SCALE = 10_000
CENTRE = 128
"""Taken from every pixel: covariance and variance stay as they are, and numbers stay small."""
ROUND = 1e12
"""Twelve decimals are stored: the last digits depend on the order in which a mean is added up."""
PAIRS = 16
"""Pairs at once: their windows fit into a core's cache."""

Values = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Windows:
    """What one image alone contributes, for a set of images.

    Attributes:
        pixels: images × height × width × channels, less ``CENTRE``, float64.
        sums: sums of ``pixels`` over each window, images × places down × places across × channels.
        variances: N s_xx − s_x² of each window, likewise.
    """

    pixels: Values
    sums: Values
    variances: Values


def windows(pixels: npt.NDArray[np.uint8], window: int) -> Windows:
    """Window sums of images × height × width × channels.

    Raises ValueError where the window is larger than the images.
    """
    if window > min(pixels.shape[1:3]):
        raise ValueError(f"a window of {window} does not fit images of {pixels.shape[1]} × {pixels.shape[2]}")
    centred = pixels.astype(np.float64) - CENTRE
    sums = window_sums(centred, window)
    variances = float(window**2) * window_sums(centred * centred, window) - sums * sums
    return Windows(centred, sums, variances)


def dissimilarities(
    x: Windows, y: Windows, row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], window: int
) -> Values:
    """(1 − SSIM) / 2 of pairs, to twelve decimals: image ``row[i]`` of ``x`` with image ``column[i]`` of ``y``."""
    out = np.empty(len(row))
    for start in range(0, len(row), PAIRS):
        part = slice(start, start + PAIRS)
        out[part] = _pairs(x, y, row[part], column[part], window)
    return out


def _pairs(
    x: Windows, y: Windows, row: npt.NDArray[np.int64], column: npt.NDArray[np.int64], window: int
) -> Values:
    n = float(window * window)
    sx, sy = x.sums[row], y.sums[column]
    covariance = n * window_sums(x.pixels[row] * y.pixels[column], window) - sx * sy
    contrast = (2 * SCALE * covariance + C2 * n * (n - 1)) / (
        SCALE * (x.variances[row] + y.variances[column]) + C2 * n * (n - 1)
    )
    sx, sy = sx + CENTRE * n, sy + CENTRE * n
    luminance = (2 * SCALE * sx * sy + C1 * n * n) / (SCALE * (sx * sx + sy * sy) + C1 * n * n)
    similarity = (luminance * contrast).reshape(len(row), -1).mean(axis=1)
    dissimilarity: Values = np.rint(np.maximum((1.0 - similarity) / 2.0, 0.0) * ROUND) / ROUND
    return dissimilarity


def window_sums(images: Values, window: int) -> Values:
    """Sums over each window that lies inside, exact for whole numbers: images × places × places × channels."""
    down = np.cumsum(images, axis=1)
    strips = down[:, window - 1 :].copy()
    strips[:, 1:] -= down[:, :-window]
    across = np.cumsum(strips, axis=2)
    out = across[:, :, window - 1 :].copy()
    out[:, :, 1:] -= across[:, :, :-window]
    return out
