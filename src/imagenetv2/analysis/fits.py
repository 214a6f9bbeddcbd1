"""Lines of new on original accuracy, with a bootstrap over models.

Accuracies are in percent, so that an offset is in percentage points. On the probit scale both accuracies go
through the quantile function of the normal distribution first (Recht et al. 2019, section 5); an accuracy
of 0 or 1 has no such quantile, so shares are first clipped to [1 / 2n, 1 − 1 / 2n], n images: half an image.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.analysis.bootstrap import interval

Floats = npt.NDArray[np.float64]
GRID = 61


@dataclass(frozen=True)
class Lines:
    """A fitted line and those of its bootstrap resamples, without resamples in which no line is defined."""

    slope: float
    offset: float
    slopes: Floats
    offsets: Floats
    degenerate: int

    def band(self, grid: Floats, level: float) -> tuple[Floats, Floats]:
        """Pointwise interval of the line at ``grid``, each of shape (points,)."""
        lines = self.slopes[:, None] * grid + self.offsets[:, None]
        low, high = np.quantile(lines, [(1 - level) / 2, (1 + level) / 2], axis=0)
        return low, high


def line(x: Floats, y: Floats, weights: Floats | None = None) -> tuple[Floats, Floats]:
    """Slopes and offsets of least squares lines of ``y`` on ``x``.

    Args:
        x, y: float64, shape (models,).
        weights: float64, shape (resamples, models): how often each model counts; None is once each.

    Returns:
        Slopes and offsets, shape (resamples,); not a number where all x that count are equal.
    """
    w = np.ones((1, x.size)) if weights is None else weights
    # Centred first: sums of squares of values near 100 lose digits otherwise.
    cx, cy = x - x.mean(), y - y.mean()
    n = w.sum(axis=1)
    mx, my = (w * cx).sum(axis=1) / n, (w * cy).sum(axis=1) / n
    dx = cx - mx[:, None]
    sxx = (w * dx * dx).sum(axis=1)
    sxy = (w * dx * (cy - my[:, None])).sum(axis=1)
    flat = (np.where(w > 0, x, -np.inf).max(axis=1) - np.where(w > 0, x, np.inf).min(axis=1)) <= 0
    slopes = np.divide(sxy, sxx, out=np.full_like(sxx, np.nan), where=~flat)
    return slopes, my + y.mean() - slopes * (mx + x.mean())


def lines(x: Floats, y: Floats, samples: int, rng: np.random.Generator) -> Lines | None:
    """The line through all models and those of ``samples`` resamples of models; None where x is constant."""
    slope, offset = line(x, y)
    if np.isnan(slope[0]):
        return None
    drawn = rng.multinomial(x.size, np.full(x.size, 1 / x.size), size=samples).astype(np.float64)
    slopes, offsets = line(x, y, drawn)
    defined = ~np.isnan(slopes)
    return Lines(float(slope[0]), float(offset[0]), slopes[defined], offsets[defined], int((~defined).sum()))


def probit(share: Floats, images: npt.ArrayLike) -> Floats:
    """Normal quantiles of shares clipped to half an image from 0 and 1."""
    from scipy.special import ndtri

    half = 0.5 / np.asarray(images, np.float64)
    out: Floats = ndtri(np.clip(share, half, 1 - half))
    return out


def summary(x: Floats, y: Floats, level: float, samples: int, rng: np.random.Generator) -> dict[str, object]:
    """A fit as JSON values, rounded to 12 digits: line, intervals, R², residual deviation, band.

    Intervals and band are None with fewer than three models: two always lie on a line.
    """
    fitted = lines(x, y, samples, rng) if x.size > 1 else None
    if fitted is None:
        return {"models": int(x.size), "slope": None, "offset": None}
    residuals = y - (fitted.slope * x + fitted.offset)
    spread = float(((y - y.mean()) ** 2).sum())
    out: dict[str, object] = {
        "models": int(x.size),
        "slope": _plain(fitted.slope),
        "offset": _plain(fitted.offset),
        "r2": _plain(1 - float((residuals**2).sum()) / spread) if spread > 0 else None,
        "residual": _plain(np.sqrt((residuals**2).sum() / (x.size - 2))) if x.size > 2 else None,
        "degenerate_resamples": fitted.degenerate,
    }
    if x.size < 3 or fitted.slopes.size == 0:
        return {**out, "slope_interval": None, "offset_interval": None, "band": None}
    grid = np.linspace(x.min(), x.max(), GRID)
    low, high = fitted.band(grid, level)
    band = {"original": grid, "low": low, "high": high}
    return {
        **out,
        "slope_interval": [_plain(v) for v in interval(fitted.slopes, level)],
        "offset_interval": [_plain(v) for v in interval(fitted.offsets, level)],
        "band": {name: [_plain(v) for v in values] for name, values in band.items()},
    }


def _plain(value: float) -> float:
    return float(round(float(value), 12))
