"""Intervals for shares of counts, and for differences of two."""

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


def newcombe(
    new: npt.ArrayLike, new_images: npt.ArrayLike, old: npt.ArrayLike, old_images: npt.ArrayLike, level: float
) -> tuple[Floats, Floats]:
    """Interval of the difference new / new_images − old / old_images of independent shares.

    Method 10 of Newcombe (Statistics in Medicine 17, 1998): Wilson's intervals of both shares, combined by the
    squares of their arms.

    Args:
        new, old: counts, same shape.
        new_images, old_images: positive numbers of trials, of that shape or one for all.
        level: of the interval.
    """
    n, m = np.asarray(new_images), np.asarray(old_images)
    p, q = np.asarray(new) / n, np.asarray(old) / m
    p_low, p_high = wilson(p, n, level)
    q_low, q_high = wilson(q, m, level)
    change = p - q
    return change - np.hypot(p - p_low, q_high - q), change + np.hypot(p_high - p, q - q_low)


def wilson(share: Floats, trials: npt.ArrayLike, level: float) -> tuple[Floats, Floats]:
    """Wilson's interval of a share (Journal of the American Statistical Association 22, 1927)."""
    z, n = reach(level), np.asarray(trials)
    middle = share + z * z / (2 * n)
    arm = z * np.sqrt(share * (1 - share) / n + (z / (2 * n)) ** 2)
    scale = 1 + z * z / n
    return np.maximum((middle - arm) / scale, 0), np.minimum((middle + arm) / scale, 1)


def reach(level: float) -> float:
    """Standard deviations from the middle of a normal distribution within which ``level`` of it lies.

    Raises ValueError where ``level`` is not inside (0, 1).
    """
    from scipy.special import ndtri

    if not 0 < level < 1:
        raise ValueError(f"level must lie between 0 and 1, not {level}")
    return float(ndtri((1 + level) / 2))
