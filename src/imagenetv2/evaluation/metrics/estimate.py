"""A number with its interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.intervals import reach

NONE = math.nan


@dataclass(frozen=True)
class Estimate:
    """A metric over so many images; ``low`` and ``high`` are NaN where it has no interval."""

    images: int
    value: float
    low: float = NONE
    high: float = NONE


def mean(values: npt.ArrayLike, level: float) -> Estimate:
    """Mean of one number an image, with the interval of a normal mean: ± z · standard deviation / √images.

    Sums are exactly rounded (``math.fsum``), so that the order of the images does not matter.

    Args:
        values: finite, shape (images,).
        level: of the interval; there is none for one image.

    Raises:
        ValueError: there are no images.
    """
    numbers = np.asarray(values, np.float64)
    images = numbers.size
    if not images:
        raise ValueError("a mean needs at least one image")
    value = math.fsum(numbers.tolist()) / images
    if images == 1:
        return Estimate(images, value)
    variance = math.fsum(np.square(numbers - value).tolist()) / (images - 1)
    half = reach(level) * math.sqrt(variance / images)
    return Estimate(images, value, value - half, value + half)
