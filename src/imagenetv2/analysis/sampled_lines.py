"""Lines of new on original accuracy with the samples that show how uncertain they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.intervals import reach

Floats = npt.NDArray[np.float64]
BLOCK = 2_000_000
FLAT = 1e-12


@dataclass(frozen=True)
class Sampled:
    """A line and samples of it: ``slopes`` and ``offsets`` have shape (samples,); not numbers where undefined."""

    slope: float
    offset: float
    slopes: Floats
    offsets: Floats


PAPER_SLOPE, PAPER_OFFSET = 1.11, -20.2
PAPER_INTERVAL, PAPER_LEVEL = (1.07, 1.19), 0.95
PAPER_CENTRE = 75.6
"""Average original accuracy, in percent, of the 64 convolutional networks that the paper's line was fitted on."""


def paper(samples: int, rng: np.random.Generator) -> Sampled:
    """MatchedFrequency on original accuracy in percent, as Recht et al. 2019 state it.

    They state an interval for the slope only. A least squares line turns about the average of its points, so
    slopes are drawn from two halves of normal distributions that meet in the stated slope and have the stated
    quantiles, and each offset is what keeps the line's height at ``PAPER_CENTRE``.
    """
    z = rng.standard_normal(samples)
    low, high = PAPER_INTERVAL
    widths = np.where(z < 0, PAPER_SLOPE - low, high - PAPER_SLOPE) / reach(PAPER_LEVEL)
    slopes = PAPER_SLOPE + widths * z
    return Sampled(PAPER_SLOPE, PAPER_OFFSET, slopes, PAPER_OFFSET - (slopes - PAPER_SLOPE) * PAPER_CENTRE)


def of_points(x: Floats, y: Floats, samples: int, rng: np.random.Generator) -> Sampled:
    """The least squares line through points, and those through resamples of the points.

    Args:
        x, y: float64, shape (models,); models may be thousands: resamples are drawn a block at a time.
        samples: resamples.
        rng: source of randomness.
    """
    cx, cy = x - x.mean(), y - y.mean()
    values = np.stack([cx, cy, cx * cx, cx * cy])
    whole = _with_count(values.sum(axis=1, keepdims=True), x.size)
    slope, offset = _line(whole, whole)
    slopes, offsets = np.empty(samples), np.empty(samples)
    step = max(1, BLOCK // x.size)
    for start in range(0, samples, step):
        rows = slice(start, min(samples, start + step))
        drawn = rng.integers(0, x.size, size=(rows.stop - start, x.size), dtype=np.int32)
        sums = np.stack([np.take(value, drawn).sum(axis=1) for value in values])
        slopes[rows], offsets[rows] = _line(_with_count(sums, x.size), whole)
    slopes, offsets = (np.concatenate(each) for each in ((slope, slopes), (offset, offsets)))
    offsets += y.mean() - slopes * x.mean()
    return Sampled(float(slopes[0]), float(offsets[0]), slopes[1:], offsets[1:])


class OwnLine:
    """The least squares line through a study's models, of which one can be left out.

    Its samples are over images and models: column s of ``xs`` and ``ys`` holds accuracies on the s-th resample of
    the images, and the s-th line is fitted on a resample of the models there.
    """

    def __init__(
        self, x: Floats, y: Floats, xs: Floats, ys: Floats, weights: npt.NDArray[np.integer]
    ) -> None:
        """``x`` and ``y`` have shape (models,); ``xs``, ``ys`` and ``weights``, draws of each, (models, samples)."""
        self._mean = float(x.mean()), float(y.mean())
        observed = np.ones((x.size, 1)), x[:, None] - self._mean[0], y[:, None] - self._mean[1]
        drawn = weights.astype(np.float64), xs - self._mean[0], ys - self._mean[1]
        self._values = observed, drawn
        self._sums = tuple(_sums(values) for values in self._values)

    def without(self, model: int | None) -> Sampled:
        """The line through all models, or all but the one at that place: of the others, its samples too."""
        slope, offset = self._fit(0, model)
        slopes, offsets = self._fit(1, model)
        return Sampled(float(slope[0]), float(offset[0]), slopes, offsets)

    def _fit(self, which: int, model: int | None) -> tuple[Floats, Floats]:
        whole = self._sums[which]
        left = whole if model is None else whole - _products(*(v[model] for v in self._values[which]))
        slope, offset = _line(left, whole)
        return slope, offset + self._mean[1] - slope * self._mean[0]


def _sums(values: tuple[Floats, Floats, Floats]) -> Floats:
    out = np.zeros((5, values[0].shape[1]))
    for model in zip(*values, strict=True):
        out += _products(*model)
    return out


def _products(w: Floats, x: Floats, y: Floats) -> Floats:
    """What one model adds to Σw, Σwx, Σwy, Σwxx, Σwxy: shape (5, samples)."""
    return np.stack([w, w * x, w * y, w * x * x, w * x * y])


def _with_count(sums: Floats, n: int) -> Floats:
    return np.concatenate([np.full((1, sums.shape[1]), float(n)), sums])


def _line(sums: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """Slopes and offsets from sums of centred values, shape (5, samples).

    Not numbers where all x that count are equal: up to rounding, which is that of the sums of the ``whole`` that
    these were taken from.
    """
    n, sx, sy, sxx, sxy = sums
    spread = n * sxx - sx * sx
    defined = spread > FLAT * whole[0] * whole[3]
    slope = np.divide(n * sxy - sx * sy, spread, out=np.full(spread.shape, np.nan), where=defined)
    return slope, np.divide(sy - slope * sx, n, out=np.full(spread.shape, np.nan), where=defined)
