"""What a published line expects of a model, and how far above it the model is.

Effective robustness (Taori et al. 2020, section 2) is the new accuracy less what a line predicts from the original
one. Its interval counts that both accuracies are of a sample of images, and that the line is of a sample of models,
as ``analysis.robustness`` does: with s-th draws x_s and y_s of Binomial(n, k / n) / n, and the s-th line through a
resample of the models, it is the middle 95 % of y_s − (slope_s · x_s + offset_s). Images of the two sets are
different, so their draws are independent. Networks scatter about the line by more than that: see ``Line.scatter``.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.analysis.bootstrap import defined_interval
from imagenetv2.analysis.sampled_lines import Sampled
from imagenetv2.randomness import generator

Floats = npt.NDArray[np.float64]
SAMPLES = 20_000
SEED = 0
LEVEL = 0.95
MARGIN = 10.0
"""Points of accuracy on ImageNet beyond those of the line's networks up to which the line is extrapolated."""


@dataclass(frozen=True)
class Line:
    """New on original accuracy, both in percent: a line with the samples that show how uncertain it is.

    Attributes:
        source: what it was fitted on, in words.
        sampled: slope and offset.
        low, high: least and largest original accuracy of what it was fitted on.
        scatter: standard deviation of that about the line, points.
    """

    source: str
    sampled: Sampled
    low: float = 0.0
    high: float = 100.0
    scatter: float = 0.0

    @property
    def words(self) -> str:
        """Its equation and where it comes from."""
        offset = f"{abs(self.sampled.offset):.1f}"
        sign = "−" if self.sampled.offset < 0 else "+"
        return f"{self.sampled.slope:.2f}·x {sign} {offset} ({self.source})"

    @property
    def known(self) -> str:
        """Where it is known, in words."""
        return f"the line is known from {self.low:.0f} to {self.high:.0f} %"

    def extrapolated(self, original: float) -> bool:
        """Whether an accuracy is none of those that it was fitted on."""
        return not self.low <= original <= self.high

    def says(self, original: float) -> bool:
        """Whether it says anything there: not far beyond where it is known, and never what is no accuracy."""
        near = self.low - MARGIN <= original <= self.high + MARGIN
        return near and 0 <= float(self.at(original)) <= 100

    def at(self, original: npt.ArrayLike) -> Floats:
        """New accuracy that it expects, percent."""
        return np.asarray(self.sampled.slope * np.asarray(original, np.float64) + self.sampled.offset)


@dataclass(frozen=True)
class Effect:
    """Expected accuracy in percent; effective robustness and the ends of its interval in points."""

    expected: float
    effective: float
    low: float
    high: float


@dataclass(frozen=True)
class Count:
    """How many of how many images are right."""

    right: int
    images: int

    @property
    def percent(self) -> float:
        """The share."""
        return 100 * self.right / self.images

    def draws(self, samples: int, rng: np.random.Generator) -> Floats:
        """Shares on resamples of the images, percent, shape (samples,)."""
        return 100 * rng.binomial(self.images, self.right / self.images, samples) / self.images


def effect(line: Line, original: Count, new: Count, name: str) -> Effect:
    """How far above ``line`` a model is.

    Args:
        line: of the new set.
        original, new: what is right on ImageNet and on the new set.
        name: of model and set, so that each draws its own samples, whatever else is asked for.
    """
    slopes, offsets = line.sampled.slopes, line.sampled.offsets
    rng = generator(SEED, "scorecard", "effect", name)
    above = new.draws(slopes.size, rng) - (slopes * original.draws(slopes.size, rng) + offsets)
    low, high = defined_interval(above, LEVEL)
    expected = float(line.at(original.percent))
    return Effect(expected, new.percent - expected, low, high)
