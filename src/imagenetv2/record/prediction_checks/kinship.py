"""How far models are from each other in two lists, by how much each agrees with all others: relatives stay relatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from imagenetv2.record.prediction_checks.consensus import agreement
from imagenetv2.record.sheets import Floats, Sheet, first, usable

MODELS = 6
"""Models that two lists must share for their agreements to tell them apart."""

Agreements = Mapping[str, tuple[list[str], Floats]]


def agreements(sheets: Sequence[Sheet], lists: Sequence[str]) -> dict[str, tuple[list[str], Floats]]:
    """For each list its models and their agreement."""
    found = {}
    for name in lists:
        ready = usable(sheets, name)
        if ready:
            found[name] = ([s.model for s in ready], agreement(first(ready)))
    return found


def kinship(shares: Floats) -> Floats:
    """Agreement beyond what two models' usual agreements make of it: logits less row and column means, 0 on the diagonal."""
    clipped = np.clip(shares, 1e-3, 1 - 1e-3)
    values = np.log(clipped / (1 - clipped))
    np.fill_diagonal(values, 0)
    count = len(values)
    rows = values.sum(axis=1) / (count - 1)
    values -= rows[:, None] + rows[None, :] - rows.mean()
    np.fill_diagonal(values, 0)
    return values


def distances(one: Floats, other: Floats) -> Floats:
    """Root mean square difference of the kinships of model i here and model k there to all models but these two.

    Args:
        one, other: agreements of the same models in the same order in two lists.
    """
    x, y = kinship(one), kinship(other)
    count = len(x)
    squares = (x**2).sum(axis=1)[:, None] + (y**2).sum(axis=1)[None, :] - 2 * x @ y.T - x**2 - (y**2).T
    left = np.full((count, count), count - 2)
    np.fill_diagonal(left, count - 1)
    found: Floats = np.sqrt(np.maximum(squares, 0) / left)
    return found


def between(found: Agreements, one: str, other: str) -> tuple[list[str], Floats] | None:
    """Models of both lists and their distances; None where they are too few."""
    names = sorted(set(found[one][0]) & set(found[other][0]))
    if len(names) < MODELS:
        return None
    parts = []
    for key in (one, other):
        places = [found[key][0].index(n) for n in names]
        parts.append(found[key][1][np.ix_(places, places)])
    return names, distances(parts[0], parts[1])
