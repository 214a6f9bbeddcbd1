"""The Gaussian model of difficulty and skill (Recht et al. 2019, appendix B), fitted.

Image i of a set has difficulty τᵢ ~ N(μ, σ²), model j has skill sⱼ, and it is right where sⱼ exceeds τᵢ plus noise
from N(0, 1), so that its accuracy is Φ((sⱼ − μ) / √(σ² + 1)). Where skills are the same on two sets, accuracies lie
on a line on probit axes, with

    slope = √(σ₁² + 1) / √(σ₂² + 1),    offset = (μ₁ − μ₂) / √(σ₂² + 1).

Accuracies alone identify no more than these two numbers: the zero and the unit of skill are free, so μ₁, σ₁ and σ₂
each by itself are not. What they identify is given as ``spread`` = √(σ₂² + 1) / √(σ₁² + 1) and ``shift`` =
(μ₂ − μ₁) / √(σ₁² + 1), the differences between the sets in units of the original's deviation of difficulty and
noise. How often models are right on the same images does identify σ₁ and σ₂, in units of the noise, and implies a
slope of its own (``agreement_slope``), which no accuracy on the other set has gone into: where it and the slope of
the accuracies differ, the model does not hold.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import scales
from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import defined_interval
from imagenetv2.analysis.difficulty_spread import Spread, spread
from imagenetv2.analysis.resamples import Resamples
from imagenetv2.analysis.results import DIFFICULTY
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.study import SMALLEST_GROUP, Study
from imagenetv2.intervals import reach

Floats = npt.NDArray[np.float64]


def difficulty(study: Study, images: Resamples, level: float) -> pd.DataFrame:
    """The table ``results.DIFFICULTY``.

    There is no row for a group of fewer than three models, nor where its new accuracies do not rise with the
    original ones: the model has no such line.

    Args:
        study: predictions of all models.
        images: accuracies on resamples of the images.
        level: of the intervals.
    """
    rows: list[Row] = []
    for group, member in study.groups().items():
        if member.sum() < SMALLEST_GROUP:
            continue
        before = spread(study.right(ORIGINAL)[member])
        for name in study.new:
            fit = _fitted(study, images, name, member, level)
            if fit is not None:
                after = spread(study.right(name)[member])
                key = {"set": name, "group": group, "models": int(member.sum())}
                rows.append({**key, **fit, **_agreement(before, after, level)})
    return frame(rows, DIFFICULTY)


def deming(x: Floats, y: Floats, ratio: float) -> tuple[Floats, Floats]:
    """Slopes and offsets of lines through points whose both coordinates have errors (Deming 1943).

    Args:
        x, y: float64, shape (..., models).
        ratio: variance of the errors of y over that of x.

    Returns:
        Shape (...); not numbers where y does not rise with x.
    """
    mx, my = x.mean(axis=-1), y.mean(axis=-1)
    dx, dy = x - mx[..., None], y - my[..., None]
    sxx, syy, sxy = (dx * dx).sum(axis=-1), (dy * dy).sum(axis=-1), (dx * dy).sum(axis=-1)
    lean = syy - ratio * sxx
    top = lean + np.sqrt(lean * lean + 4 * ratio * sxy * sxy)
    slope = np.divide(top, 2 * sxy, out=np.full(np.shape(sxy), np.nan), where=sxy > 0)
    return slope, my - slope * mx


def _fitted(
    study: Study, images: Resamples, name: str, member: npt.NDArray[np.bool_], level: float
) -> Row | None:
    """The line on probit axes that sampling error in both accuracies leaves, and what follows from it."""
    (old, x, xs, x_error), (new, y, ys, y_error) = (
        _probits(study, images, each, member) for each in (ORIGINAL, name)
    )
    slope, offset = (float(v) for v in deming(x, y, y_error / x_error))
    if np.isnan(slope):
        return None
    slopes, offsets = deming(xs, ys, y_error / x_error)
    implied = scales.percent(slope * x + offset, scales.PROBIT)
    line = np.polynomial.Polynomial.fit(100 * old, implied, 1).convert().coef
    return {
        **_estimate("probit_slope", slope, slopes, level),
        **_estimate("probit_offset", offset, offsets, level),
        **_estimate("spread", 1 / slope, 1 / slopes, level),
        **_estimate("shift", -offset / slope, -offsets / slopes, level),
        "slope": float(line[1]),
        "offset": float(line[0]),
        "change": float(implied.mean() / 100 - old.mean()),
        "residual": float(np.sqrt(np.mean((new - implied / 100) ** 2))),
    }


def _probits(
    study: Study, images: Resamples, name: str, member: npt.NDArray[np.bool_]
) -> tuple[Floats, Floats, Floats, float]:
    """Accuracies, their probits, those of resamples, and the average variance of the probits' sampling error."""
    right = study.right(name)[member]
    count = right.shape[1]
    share = right.mean(axis=1)
    x = scales.forward(share, count, scales.PROBIT)
    half = 0.5 / count
    clipped = np.clip(share, half, 1 - half)
    density = np.exp(-x * x / 2) / np.sqrt(2 * np.pi)
    error = float(np.mean(clipped * (1 - clipped) / count / density**2))
    return share, x, scales.forward(images.top1[name][:, member], count, scales.PROBIT), error


def _estimate(name: str, value: float, drawn: Floats, level: float) -> Row:
    low, high = defined_interval(drawn, level)
    return {name: value, f"{name}_low": low, f"{name}_high": high}


def _agreement(before: Spread, after: Spread, level: float) -> Row:
    """σ of both sets and the slope that they imply, each with an interval that is symmetric about its logarithm."""
    slope = np.sqrt((1 - after.share) / (1 - before.share))
    return {
        **_log_normal("difficulty_original", before.deviation, before.log_error, level),
        **_log_normal("difficulty_new", after.deviation, after.log_error, level),
        **_log_normal(
            "agreement_slope", float(slope), np.hypot(before.total_error, after.total_error), level
        ),
    }


def _log_normal(name: str, value: float, error: float, level: float) -> Row:
    factor = np.exp(reach(level) * error)
    return {name: value, f"{name}_low": value / factor, f"{name}_high": value * factor}
