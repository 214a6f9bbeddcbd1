"""Least squares lines, one or many at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Line:
    """A least squares line.

    Attributes:
        slope, offset: of the line.
        r2: share of the variance of y that it explains; None where y does not vary.
        residual: standard deviation of the residuals, two degrees of freedom spent; None for two points.
    """

    slope: float
    offset: float
    r2: float | None
    residual: float | None


def fit(x: Floats, y: Floats) -> Line | None:
    """The line of ``y`` on ``x``, each of shape (points,); None where all x are equal, or there is one or none."""
    if x.size < 2 or np.ptp(x) == 0:
        return None
    dx, dy = x - x.mean(), y - y.mean()
    slope = float((dx * dy).sum() / (dx * dx).sum())
    offset = float(y.mean() - slope * x.mean())
    left, spread = float(((dy - slope * dx) ** 2).sum()), float((dy * dy).sum())
    r2 = None if np.ptp(y) == 0 else 1 - left / spread
    return Line(slope, offset, r2, None if x.size == 2 else float(np.sqrt(left / (x.size - 2))))


def weighted(x: Floats, ys: Floats, weights: Floats) -> Floats:
    """Lines through the same points, each counted as often as its weight says.

    Args:
        x: shape (points,).
        ys: several y for each x: shape (kinds, points).
        weights: whole numbers, shape (samples, points).

    Returns:
        Slopes and offsets, float64, shape (kinds, 2, samples); not a number where all x that count are equal.
    """
    x0, y0 = x.mean(), ys.mean(axis=1)
    dx, dy = x - x0, ys - y0[:, None]
    place = np.unique(x, return_inverse=True)[1].astype(np.float64)
    sums = weights @ np.stack([np.ones(x.size), dx, dx * dx, place, place * place, *dy, *(dx * dy)], axis=1)
    n, sx, sxx, first, second = sums[:, :5].T
    sy, sxy = np.split(sums[:, 5:].T, 2)
    # Places are whole numbers, so their variance is exactly 0 where one x alone counts.
    return _lines(n, sx, sxx, sy, sxy, n * second > first * first, float(x0), y0)


def sampled(x: Floats, ys: Floats, weights: Floats | None = None) -> Floats:
    """Lines through other points in each sample.

    Args:
        x: samples × points.
        ys: kinds × samples × points.
        weights: how often each point counts, not negative, samples × points; None is once.

    Returns:
        Slopes and offsets, float64, shape (kinds, 2, samples); not a number where all x that count are equal, or
        something is not a number.
    """
    if weights is None:
        weights, reach = np.ones((1, x.shape[1])), np.ptp(x, axis=1)
    else:
        low, high = np.where(weights > 0, x, np.inf), np.where(weights > 0, x, -np.inf)
        reach = high.max(axis=1) - low.min(axis=1)
    # Sums of squares of values far from 0 lose digits, so values near the middle are subtracted.
    x0, y0 = _middle(x), np.array([_middle(y) for y in ys])
    dx = x - x0
    wx = weights * dx
    n, sx, sxx = weights.sum(axis=1), wx.sum(axis=1), _dot(wx, dx)
    sy = np.empty((len(ys), len(x)))
    sxy = np.empty_like(sy)
    for kind, y in enumerate(ys):
        dy = y - y0[kind]
        sy[kind], sxy[kind] = _dot(np.broadcast_to(weights, dy.shape), dy), _dot(wx, dy)
    return _lines(n, sx, sxx, sy, sxy, reach > 0, x0, y0)


def _middle(values: Floats) -> float:
    mean = float(values.mean())
    return mean if np.isfinite(mean) else 0.0


def _dot(a: Floats, b: Floats) -> Floats:
    out: Floats = np.einsum("sm,sm->s", a, b)
    return out


def _lines(
    n: Floats,
    sx: Floats,
    sxx: Floats,
    sy: Floats,
    sxy: Floats,
    defined: npt.NDArray[np.bool_],
    x0: float,
    y0: Floats,
) -> Floats:
    """From sums of x − x0 and y − y0; those of y have shape (kinds, samples)."""
    spread = sxx - sx * sx / n
    together = sxy - sx * sy / n
    where = np.broadcast_to(defined & (spread > 0), together.shape)
    slopes = np.divide(together, spread, out=np.full(together.shape, np.nan), where=where)
    offsets = (sy - slopes * sx) / n + y0[:, None] - slopes * x0
    return np.stack([slopes, offsets], axis=1)
