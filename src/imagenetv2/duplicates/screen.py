"""A quick estimate of structural dissimilarity for every pair of two sets of images, with a bound on its error.

In float32 the covariances of all pairs at one place are one matrix product, and so are the products of the two
denominators (of four terms) and the luminance's numerator (of two). The estimate is only used to leave out pairs
that can't be among the nearest; distances that are stored come from ``ssim``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.ssim import C1, C2, CENTRE, SCALE, Values, Windows

MARGIN = 2e-4
"""Largest error of an estimate.

Rounding a sum of N products of a centred window with another image's pixels errs by less than N · 2^-24 · N · σ · 128;
divided by its denominator, at least N (58.5 + σ²), that is below N · 4e-7 · σ / (58.5 + σ²) · 20 < 5e-5 for windows of
up to 13 pixels a side; the other factors err by a few units of 2^-24.
"""
LARGEST = 13
"""Side of the largest window that is worth a matrix product and has that bound."""

Single = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Prepared:
    """A set of images with the images along the last axis, so that a window is a few long runs of memory.

    Attributes:
        pixels: channels × height × width × images, less 128.
        means: channels × places × places × images, of 0 to 255.
        luminance, contrast: what the images contribute to each denominator, likewise.
    """

    pixels: Single
    means: Single
    luminance: Single
    contrast: Single


def prepared(windows: Windows, window: int) -> Prepared:
    """From exact window sums to float32."""
    n = window * window
    means = windows.sums / n + CENTRE
    arrays = (
        windows.pixels,
        means,
        means * means + C1 / SCALE / 2,
        windows.variances / (n * (n - 1)) + C2 / SCALE / 2,
    )
    return Prepared(*(np.ascontiguousarray(a.transpose(3, 1, 2, 0), dtype=np.float32) for a in arrays))


def estimates(x: Prepared, y: Prepared, window: int) -> Values:
    """(1 − SSIM) / 2 of every pair within ``MARGIN``: images of ``x`` × images of ``y``."""
    channels, down, across, rows = x.means.shape
    columns = y.means.shape[-1]
    n = window * window
    total = np.zeros((rows, columns))
    strip, top, other = (np.empty((rows, columns), np.float32) for _ in range(3))
    a, b = np.empty((n + 1, rows), np.float32), np.empty((n + 1, columns), np.float32)
    a[n], b[n] = C2 / SCALE, 1.0
    two_a, two_b = np.full((2, rows), C1 / SCALE, np.float32), np.ones((2, columns), np.float32)
    four_a, four_b = np.ones((4, rows), np.float32), np.ones((4, columns), np.float32)
    for channel in range(channels):
        for i in range(down):
            strip[:] = 0
            for j in range(across):
                place = (channel, i, j)
                _window(x.pixels[channel], i, j, a[:n], window)
                _window(y.pixels[channel], i, j, b[:n], window)
                # Only one side needs its own mean taken off for the product to be the covariance.
                a[:n] -= x.means[place] - CENTRE
                a[:n] *= 2.0 / (n - 1)
                np.matmul(a.T, b, out=top)
                np.multiply(x.means[place], 2.0, out=two_a[0])
                two_b[0] = y.means[place]
                np.matmul(two_a.T, two_b, out=other)
                top *= other
                four_a[0], four_a[1] = x.luminance[place], x.contrast[place]
                np.multiply(four_a[0], four_a[1], out=four_a[2])
                four_b[0], four_b[1] = y.contrast[place], y.luminance[place]
                np.multiply(four_b[0], four_b[1], out=four_b[3])
                np.matmul(four_a.T, four_b, out=other)
                top /= other
                strip += top
            total += strip
    dissimilarity: Values = (1.0 - total / (channels * down * across)) / 2.0
    return dissimilarity


def _window(pixels: Single, i: int, j: int, out: Single, window: int) -> None:
    np.copyto(out.reshape(window, window, -1), pixels[i : i + window, j : j + window])
