"""Precision and recall of a metric at every cut-off, from distances of labelled pairs.

A pair is found where its distance is at or below the cut-off. Pairs of equal distance are found together, so that a
curve has one point a distinct distance, as in scikit-learn's ``precision_recall_curve``.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Context

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.engine import Indices, Values

Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Counts:
    """Pairs of near-duplicates and others that there are, and how many of each are found."""

    duplicates: int
    different: int
    found: int
    false: int

    @property
    def precision(self) -> float:
        """Share of what is found that is right; not a number where nothing is found."""
        return self.found / (self.found + self.false) if self.found + self.false else float("nan")

    @property
    def recall(self) -> float:
        """Share of the near-duplicates that is found."""
        return self.found / self.duplicates if self.duplicates else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 where nothing is found."""
        total = self.duplicates + self.found + self.false
        return 2 * self.found / total if total else float("nan")


@dataclass(frozen=True)
class Curve:
    """What is found at each distinct distance, ascending.

    Attributes:
        cutoff: the distances.
        found, false: near-duplicates and others at or below each.
        duplicates, different: how many there are.
    """

    cutoff: Values
    found: Indices
    false: Indices
    duplicates: int
    different: int

    @property
    def precision(self) -> Values:
        """At each cut-off."""
        return np.asarray(self.found / (self.found + self.false), np.float64)

    @property
    def recall(self) -> Values:
        """At each cut-off."""
        return np.asarray(self.found / max(self.duplicates, 1), np.float64)

    @property
    def average_precision(self) -> float:
        """Σ (Rₙ − Rₙ₋₁) Pₙ: precision averaged over the near-duplicates, without interpolation."""
        return float(np.sum(np.diff(self.recall, prepend=0.0) * self.precision))

    def best(self) -> float:
        """The smallest cut-off with the largest F1; not a number where there is no near-duplicate."""
        if not self.duplicates:
            return float("nan")
        f1 = 2 * self.found / (self.duplicates + self.found + self.false)
        return self._up_to(int(np.argmax(f1)))

    def largest(self, precision: float) -> float:
        """The largest cut-off with at least that precision; not a number where none has it."""
        reached = np.flatnonzero(self.precision >= precision)
        return self._up_to(int(reached[-1])) if len(reached) else float("nan")

    def _up_to(self, place: int) -> float:
        """A short number that finds the pairs up to that distance and no more."""
        further = self.cutoff[place + 1] if place + 1 < len(self.cutoff) else np.inf
        return shortest(float(self.cutoff[place]), float(further))


def shortest(low: float, high: float) -> float:
    """The smallest number of the fewest significant digits with ``low <= number < high``; 0 <= low < high."""
    if low == 0:
        return 0.0
    for digits in range(1, 18):
        number = float(Context(prec=digits, rounding=ROUND_CEILING).create_decimal(repr(low)))
        if number < high:
            return number
    return low


def curve(distance: Values, duplicate: Bools) -> Curve:
    """The curve of pairs; ``distance`` and ``duplicate`` have one entry a pair. Raises ValueError for odd distances."""
    if not np.isfinite(distance).all():
        raise ValueError("distances must be finite")
    order = np.argsort(distance, kind="stable")
    ordered, right = distance[order], duplicate[order]
    last = np.flatnonzero(np.diff(ordered, append=np.inf))
    found, all_found = np.cumsum(right)[last], last + 1
    positives = int(duplicate.sum())
    return Curve(
        ordered[last],
        found.astype(np.int64),
        (all_found - found).astype(np.int64),
        positives,
        len(duplicate) - positives,
    )


def counts(found: Bools, duplicate: Bools) -> Counts:
    """What is found by any means; arrays have one entry a pair."""
    right, positives = int((found & duplicate).sum()), int(duplicate.sum())
    return Counts(positives, len(duplicate) - positives, right, int(found.sum()) - right)
