"""How widely an image set's difficulty is spread, from how often two models are right on the same image.

In the Gaussian model (see ``difficulty``) a model is right where a normal variable, difficulty plus its own noise,
stays below its skill. Two models share the difficulty but not the noise, so these variables correlate by
σ² / (σ² + 1), the share of difficulty in the variance, and the correlation shows in how often both are right.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
LARGEST = 1 - 1e-9


@dataclass(frozen=True)
class Spread:
    """Share of difficulty in the variance, and its standard error over images; not numbers where undefined."""

    share: float
    error: float

    @property
    def deviation(self) -> float:
        """Deviation σ of difficulty, where that of the noise is 1."""
        return float(np.sqrt(self.share / (1 - self.share)))

    @property
    def log_error(self) -> float:
        """Standard error of log σ, by the delta method."""
        return self.error / (2 * self.share * (1 - self.share))

    @property
    def total_error(self) -> float:
        """Standard error of log √(σ² + 1), by the delta method."""
        return self.error / (2 * (1 - self.share))


def spread(right: npt.NDArray[np.bool_]) -> Spread:
    """One correlation for all pairs of models: the expected share of pairs that are both right is that seen.

    Args:
        right: whether each model is right on each image, models × images.

    Returns:
        Not numbers where models agree no more than by chance, as much as their accuracies allow, or there are
        fewer than two of them. The error is that of the share seen and of the accuracies, linearised (the
        infinitesimal jackknife over images).
    """
    from scipy.optimize import brentq
    from scipy.special import ndtri

    models, images = right.shape
    if models < 2:
        return Spread(np.nan, np.nan)
    accuracy = right.mean(axis=1)
    half = 0.5 / images
    skill = ndtri(np.clip(accuracy, half, 1 - half))
    first, second = np.triu_indices(models, 1)
    count = right.sum(axis=0).astype(np.float64)
    both = count * (count - 1) / (models * (models - 1))

    def excess(share: float) -> float:
        return float(below(skill[first], skill[second], share).mean() - both.mean())

    if excess(0) >= 0 or excess(LARGEST) <= 0:
        return Spread(np.nan, np.nan)
    share = float(brentq(excess, 0, LARGEST, xtol=1e-13))
    return Spread(share, _error(right, accuracy, skill, both, share))


def below(a: Floats, b: Floats, correlation: float) -> Floats:
    """Chance that two standard normal variables of that correlation lie below ``a`` and ``b``.

    By Owen's T function (Owen, Annals of Mathematical Statistics 27, 1956); 0 ≤ correlation < 1.
    """
    from scipy.special import ndtr, owens_t

    # The formula divides by both: in place of zero, a number that makes no difference.
    x, y = (np.where(v == 0, np.finfo(np.float64).tiny, v) for v in (a, b))
    width = np.sqrt((1 - correlation) * (1 + correlation))
    with np.errstate(over="ignore"):
        slopes = (y / x - correlation) / width, (x / y - correlation) / width
    opposite = np.where((x > 0) == (y > 0), 0.0, 0.5)
    out: Floats = (ndtr(x) + ndtr(y)) / 2 - owens_t(x, slopes[0]) - owens_t(y, slopes[1]) - opposite
    return out


def _error(
    right: npt.NDArray[np.bool_], accuracy: Floats, skill: Floats, both: Floats, share: float
) -> float:
    """From what each image adds to the solution of: expected(accuracies, share) = seen."""
    from scipy.special import ndtr

    width = np.sqrt(1 - share * share)
    a, b = skill[:, None], skill[None]
    other = ~np.eye(skill.size, dtype=bool)
    pairs = other.sum()
    by_accuracy = 2 * np.where(other, ndtr((b - share * a) / width), 0).sum(axis=1) / pairs
    exponent = -(a * a - 2 * share * a * b + b * b) / (2 * width * width)
    by_share = np.where(other, np.exp(exponent), 0).sum() / (pairs * 2 * np.pi * width)
    added = (both - both.mean() - by_accuracy @ (right - accuracy[:, None])) / by_share
    return float(added.std() / np.sqrt(added.size))
