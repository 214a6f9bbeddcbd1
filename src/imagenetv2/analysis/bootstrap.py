"""Percentile bootstrap of averages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
BLOCK = 4_000_000


def averages(values: Floats, samples: int, rng: np.random.Generator) -> Floats:
    """Averages of bootstrap resamples.

    A resample's average depends only on how often each distinct value was drawn, and these counts are
    multinomial; drawing them is the same bootstrap as drawing indices, and needs no ``samples`` × n indices.

    Args:
        values: float64, shape (n,), n ≥ 1; sampling is with replacement, n at a time.
        samples: resamples.
        rng: source of randomness.

    Returns:
        float64, shape (samples,).

    Raises:
        ValueError: ``values`` is empty.
    """
    if values.size == 0:
        raise ValueError("an empty sample has no average")
    distinct, counts = np.unique(values, return_counts=True)
    out = np.empty(samples)
    step = max(1, BLOCK // distinct.size)
    for start in range(0, samples, step):
        stop = min(samples, start + step)
        drawn = rng.multinomial(values.size, counts / values.size, size=stop - start)
        out[start:stop] = (drawn * distinct).sum(axis=1) / values.size
    return out


def interval(samples: Floats, level: float) -> tuple[float, float]:
    """The middle ``level`` of a sample: its quantiles (1 ± level) / 2, by linear interpolation."""
    low, high = np.quantile(samples, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)
