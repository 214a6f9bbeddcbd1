"""Where photographs come from: how hard they are, who selects them, and what a classifier makes of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.simulation.settings import Simulation

Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]


def bars(side: int, bar: int) -> tuple[Floats, Floats]:
    """The two classes: a bar across and a bar upright in the middle, ``side`` × ``side``, 1 on the bar and 0 beside it."""
    across = np.zeros((side, side))
    start = (side - bar) // 2
    across[start : start + bar] = 1.0
    return across, across.T.copy()


@dataclass(frozen=True)
class Source:
    """A source of photographs.

    A photograph of class t at contrast c is c · t plus independent normal noise in every pixel. The classifier is
    the ideal one for known classes t₀, t₁: it projects the photograph on (t₁ - t₀) / |t₁ - t₀| and looks at the
    sign. The projection is normal with mean ±c |t₁ - t₀| / 2 and the noise's own deviation, so it can be drawn
    without the pixels, and the classifier is right with probability Φ(c |t₁ - t₀| / (2 · noise)).

    Attributes:
        low, high: contrasts are uniform between them.
        centre, width: an annotator selects a photograph with probability Φ((c - centre) / width).
        distance: |t₁ - t₀|, in units of contrast.
        noise: standard deviation of a pixel.
    """

    low: float
    high: float
    centre: float
    width: float
    distance: float
    noise: float

    @classmethod
    def of(cls, settings: Simulation) -> Source:
        """The source that the settings describe."""
        across, upright = bars(settings.side, settings.bar)
        return cls(
            *settings.contrast,
            centre=settings.centre,
            width=settings.width,
            distance=float(np.linalg.norm(upright - across)),
            noise=settings.noise,
        )

    def contrasts(self, rng: np.random.Generator, count: int) -> Floats:
        """Contrasts of so many photographs."""
        return rng.uniform(self.low, self.high, count)

    def selection(self, contrast: Floats) -> Floats:
        """True selection frequency: the probability that an annotator selects each photograph."""
        return _normal((contrast - self.centre) / self.width)

    def accuracy(self, contrast: Floats) -> Floats:
        """Probability that the classifier is right about photographs of these contrasts."""
        return _normal(contrast * (self.distance / (2 * self.noise)))

    def projections(self, rng: np.random.Generator, contrast: Floats) -> Floats:
        """Projection of each photograph on the classifier, signed so that it is positive where that is right."""
        return contrast * (self.distance / 2) + self.noise * rng.standard_normal(contrast.size)

    def classified(self, rng: np.random.Generator, contrast: Floats) -> Bools:
        """Whether the classifier is right about each photograph, drawn."""
        return self.projections(rng, contrast) > 0


def _normal(z: Floats) -> Floats:
    from scipy.special import ndtr

    probability: Floats = ndtr(z)
    return probability
