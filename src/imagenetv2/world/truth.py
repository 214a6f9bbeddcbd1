"""Asking the embedded world's truth: how likely people are to select a photograph for a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from imagenetv2.world.settings import People

if TYPE_CHECKING:
    import pandas as pd

CARELESS_TICKS = 0.5
"""Probability that a careless worker ticks any image."""
DEFAULT = 0.01
"""Probability for a pair of file and class that the table does not hold."""


def probability(truth: pd.DataFrame, default: float = DEFAULT) -> Callable[[str, str], float]:
    """A function of file and wnid: the probability that a worker of the pool selects the file for the class.

    Pairs that ``truth`` (declared in ``world/stages.py``) does not hold have the probability ``default``.
    """
    pairs = zip(truth["file"].tolist(), truth["wnid"].tolist(), strict=True)
    known = dict(zip(pairs, truth["probability"].astype(float).tolist(), strict=True))
    return lambda file, wnid: known.get((file, wnid), default)


def careless_workers(people: People) -> int:
    """How many workers of the pool tick at random: the configured share, rounded half up."""
    return int(people.careless * people.workers + 0.5)


def of_population(careful: float, people: People) -> float:
    """Mean over all workers of the pool, from the probability of a careful one, rounded to 6 digits."""
    share = careless_workers(people) / people.workers
    return round((1.0 - share) * careful + share * CARELESS_TICKS, 6)


def of_careful(population: float, people: People) -> float:
    """The inverse of ``of_population``: the probability of a careful worker, within 0 and 1."""
    share = careless_workers(people) / people.workers
    return min(1.0, max(0.0, (population - share * CARELESS_TICKS) / (1.0 - share))) if share < 1 else 0.0
