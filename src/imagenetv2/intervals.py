"""Exact intervals for shares of counts."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def clopper_pearson(
    successes: npt.ArrayLike, trials: npt.ArrayLike, level: float = 0.95
) -> tuple[Floats, Floats]:
    """Clopper–Pearson interval of a binomial share.

    Args:
        successes: integer counts, any shape.
        trials: integer counts that broadcast against ``successes``; where 0, the interval is [0, 1].
        level: confidence level, between 0 and 1.

    Returns:
        Lower and upper ends, float64, of the broadcast shape: the quantiles (1 − level)/2 of
        Beta(k, n − k + 1) and (1 + level)/2 of Beta(k + 1, n − k) (Clopper and Pearson, Biometrika 1934).

    Raises:
        ValueError: counts are negative, there are more successes than trials, or ``level`` is not inside (0, 1).
    """
    from scipy.special import betaincinv

    k, n = np.broadcast_arrays(np.asarray(successes, np.float64), np.asarray(trials, np.float64))
    if np.any(k < 0) or np.any(k > n):
        raise ValueError("successes must lie between 0 and trials")
    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    tail = (1 - level) / 2
    low, high = np.zeros(k.shape), np.ones(k.shape)
    some, short = k > 0, k < n
    low[some] = betaincinv(k[some], n[some] - k[some] + 1, tail)
    high[short] = betaincinv(k[short] + 1, n[short] - k[short], 1 - tail)
    return low, high
