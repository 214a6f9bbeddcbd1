"""How many pairs of a large collection bounds will not exclude, judged from a few of its images."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.engine import Values

TAIL = 8
"""Nearest images of the few from which those of the many, which are nearer, are extrapolated."""
ENOUGH = 12


@dataclass(frozen=True)
class Shares:
    """Shares of pairs whose lower bound reaches a limit.

    Attributes:
        lower: lower bounds of the pairs of two different images.
        nearest: estimated distance of the nearest of each image.
        first: the share where that distance is the limit, which is met by one image in ``images`` - 1.
        power: how the share falls with the share of pairs that is asked for: 1 for tight bounds, 0 for useless ones.
        images: so many were compared.
    """

    lower: Values
    nearest: Values
    first: float
    power: float
    images: int

    @classmethod
    def of(cls, lower: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> Shares:
        """From bounds and estimates of all pairs of at least two images."""
        count = len(lower)
        other = ~np.eye(count, dtype=bool)
        bounds = lower.astype(np.float64)
        estimates = np.where(other, estimate, np.inf).astype(np.float64)
        tail = min(TAIL, count - 1)
        limits = np.sort(estimates, axis=1)[:, :tail]
        share = [float(((bounds <= limits[:, [j]]) & other).sum() / other.sum()) for j in range(tail)]
        if count < ENOUGH:
            return cls(bounds[other], limits[:, 0], 1 / (count - 1), 1.0, count)
        rise = np.log(max(share[-1], 1e-12) / max(share[0], 1e-12)) / np.log(tail)
        return cls(bounds[other], limits[:, 0], share[0], float(np.clip(rise, 0.0, 1.0)), count)

    @classmethod
    def tight(cls, lower: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> Shares:
        """As ``of``, where the few say nothing about bounds that are known to exclude all but what is wanted."""
        found = cls.of(lower, estimate)
        return replace(found, first=1 / (found.images - 1), power=1.0)

    def computed(self, among: float, k: int, within: float | None) -> float:
        """Share of pairs whose distance is computed, of images with so many others each."""
        wanted = min(1.0, k / max(among, 1.0))
        known = 1 / (self.images - 1)
        share = min(1.0, self.first * (wanted / known) ** self.power) if k else 0.0
        beyond = 0.0 if within is None else float(np.mean(self.lower <= within))
        return max(wanted, share, beyond)
