"""Places of models, and how much an order changes from one set to another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Agreement:
    """How alike two orders are: correlations are None where one of them is all ties or has one model."""

    kendall: float | None
    spearman: float | None
    moved: int
    largest: int


def places(scores: npt.ArrayLike, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Place of each model from 1; the highest score is first, ties are in the order of names."""
    values = np.asarray(scores, np.float64)
    order = sorted(range(len(names)), key=lambda i: (-values[i], names[i]))
    out = np.empty(len(names), np.int64)
    out[order] = np.arange(1, len(names) + 1)
    return out


def agreement(old: npt.ArrayLike, new: npt.ArrayLike, names: Sequence[str]) -> Agreement:
    """Kendall's tau-b and Spearman's rho of two scores of the same models, and how many changed place.

    Args:
        old, new: scores, shape (models,).
        names: of the models, which order ties.
    """
    from scipy import stats

    x, y = np.asarray(old, np.float64), np.asarray(new, np.float64)
    steps = np.abs(places(x, names) - places(y, names))
    constant = np.ptp(x) == 0 or np.ptp(y) == 0
    return Agreement(
        kendall=None if constant else round(float(stats.kendalltau(x, y).statistic), 12),
        spearman=None if constant else round(float(stats.spearmanr(x, y).statistic), 12),
        moved=int((steps > 0).sum()),
        largest=int(steps.max(initial=0)),
    )
