"""How hard a photograph is, and how likely a careful worker is to select it."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

from imagenetv2.world.rendering.chance import between
from imagenetv2.world.rendering.objects import likeness

WEIGHTS = {"size": 0.3, "contrast": 0.26, "occlusion": 0.28, "blur": 0.2, "clutter": 0.12}
HALF_WAY = 0.53
STEEPNESS = 5.0
DRAWN = 0.75
"""Share of workers who would tick a photograph and tick a drawing of the same thing too."""
UNCLEAR = 0.15
"""A reviewer objects to photographs that a smaller share of careful workers recognise."""
NOTHING = 0.015
"""Probability that a worker ticks an image in which nothing looks like the class."""


@dataclass(frozen=True)
class Factors:
    """What makes a photograph hard, each from 0 (none) to 1 (as bad as it gets)."""

    size: float
    contrast: float
    occlusion: float
    blur: float
    clutter: float

    def difficulty(self) -> float:
        """Weighted sum of the factors, about 0 to 1.16."""
        return sum((WEIGHTS[f.name] * float(getattr(self, f.name)) for f in fields(self)), 0.0)


def clarity(factors: Factors) -> float:
    """Probability that a careful worker recognises the object: a falling S-curve of the difficulty.

    ½ (1 + t / √(1 + t²)) with t = STEEPNESS · (HALF_WAY − difficulty), stretched so that an easy one reaches 0.99.
    """
    t = STEEPNESS * (HALF_WAY - factors.difficulty())
    return min(0.99, max(0.01, 0.5 + 0.53 * t / float(np.sqrt(1.0 + t * t))))


def selection(shown: str | None, asked: str, clear: float, drawing: bool = False) -> float:
    """Probability that a careful worker selects an image for the class ``asked``.

    It is the clarity for what is shown; look-alikes are selected by those who don't recognise what it is, most
    where it is half clear; images of nothing hardly ever.
    """
    if shown is None:
        return NOTHING
    if shown == asked:
        return clear * (DRAWN if drawing else 1.0)
    mistaken = likeness(shown, asked) * (1.0 - clear) * (0.3 + clear)
    return NOTHING + (1.0 - NOTHING) * mistaken


def easy(rng: np.random.Generator) -> Factors:
    """What a photographer shows who means the object: every factor small."""
    return _around(rng, between(rng, 0.0, 0.36))


def any_level(rng: np.random.Generator) -> Factors:
    """What Flickr returns: a third easy, most of the rest half hidden or half lit, a few hopeless."""
    u = float(rng.random())
    if u < 0.32:
        return easy(rng)
    return _around(rng, between(rng, 0.26, 0.52) if u < 0.95 else between(rng, 0.5, 0.9))


def _around(rng: np.random.Generator, level: float) -> Factors:
    """Factors that scatter about a level; one of them takes more than its share."""
    values = [min(1.0, max(0.0, level + between(rng, -0.3, 0.3))) for _ in WEIGHTS]
    main = int(rng.integers(len(values)))
    values[main] = min(1.0, values[main] + between(rng, 0.0, 0.35))
    return Factors(*(round(v, 4) for v in values))
