"""The three rules on many photographs at once, of which all had equally many annotators.

Given the same generator they take the same photographs as the rules of ``imagenetv2.sampling``. Indices are returned in
no particular order; fewer than wanted where the rule cannot find more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from imagenetv2.sampling.bins import scale

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Votes:
    """How many of ``annotators`` selected each candidate and each original."""

    annotators: int
    candidates: Indices
    originals: Indices


def matched_frequency(
    rng: np.random.Generator, votes: Votes, wanted: int, edges: Sequence[Fraction]
) -> Indices:
    """Fill the originals' histogram from low to high, then what is missing from the nearest higher bins."""
    bins = len(edges) + 1
    starts = [_fewest(edge, votes.annotators) for edge in edges]
    numbers = np.searchsorted(starts, np.arange(votes.annotators + 1), side="right")
    originals, own = numbers[votes.originals], numbers[votes.candidates]
    targets = scale(np.bincount(originals, minlength=bins).tolist(), wanted)
    left = [np.flatnonzero(own == b) for b in range(bins)]
    taken = []
    for b, target in enumerate(targets):
        drawn, left[b] = _choose(rng, left[b], min(target, left[b].size))
        taken.append(drawn)
    for b, target in enumerate(targets):
        missing = target - taken[b].size
        for higher in range(b + 1, bins):
            drawn, left[higher] = _choose(rng, left[higher], min(missing, left[higher].size))
            taken.append(drawn)
            missing -= drawn.size
    return np.concatenate(taken)


def threshold(rng: np.random.Generator, votes: Votes, wanted: int, lowest: Fraction) -> Indices:
    """Draw from the candidates whose observed frequency is at least ``lowest``."""
    among = np.flatnonzero(votes.candidates >= _fewest(lowest, votes.annotators))
    return _choose(rng, among, min(wanted, among.size))[0]


def top_images(votes: Votes, wanted: int) -> Indices:
    """The candidates most often selected; of equals the later ones, which are as random as any."""
    return np.argsort(votes.candidates, kind="stable")[-wanted:]


def _fewest(frequency: Fraction, annotators: int) -> int:
    """The smallest number of votes that is at least that frequency."""
    return math.ceil(frequency * annotators)


def _choose(rng: np.random.Generator, among: Indices, count: int) -> tuple[Indices, Indices]:
    """``count`` of them, drawn without replacement, and the others in their order."""
    if not count:
        return among[:0], among
    places = rng.choice(among.size, size=count, replace=False)
    return among[places], np.delete(among, places)
