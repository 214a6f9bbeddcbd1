"""Percentile bootstrap of averages."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.analysis.multinomial import Multinomial

Floats = npt.NDArray[np.float64]
BLOCK = 1000
"""Resamples drawn at once: part of what the result is."""


def averages(values: Floats, samples: int, rng: np.random.Generator) -> Floats:
    """Averages of bootstrap resamples.

    A resample's average depends only on how often each distinct value was drawn.

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
    distinct, copies = np.unique(values, return_counts=True)
    order = np.argsort(copies > 1, kind="stable")
    drawn = Multinomial(copies[order])
    out = np.empty(samples)
    for start in range(0, samples, BLOCK):
        rows = out[start : start + BLOCK]
        # Not a product of matrices, whose rounding depends on the processor.
        rows[:] = np.einsum("ij,j->i", drawn.draw(rows.size, rng), distinct[order]) / values.size
    return out


def interval(samples: npt.NDArray[np.floating], level: float) -> tuple[float, float]:
    """The middle ``level`` of a sample: its quantiles (1 ± level) / 2, by linear interpolation."""
    return _quantile(samples, (1 - level) / 2), _quantile(samples, (1 + level) / 2)


def _quantile(samples: npt.NDArray[np.floating], share: float) -> float:
    """That of ``numpy.quantile``, which takes three times as long to find two of them at once."""
    place = share * (samples.size - 1)
    k = int(place)
    parted = np.partition(samples, k)
    below = float(parted[k])
    above = float(parted[k + 1 :].min(initial=np.inf))
    return below if place == k else below + (place - k) * (above - below)


def defined_interval(samples: npt.NDArray[np.floating], level: float) -> tuple[float, float]:
    """The interval of the samples that are numbers; not numbers where fewer than half of them are."""
    defined = samples[~np.isnan(samples)]
    return interval(defined, level) if defined.size and 2 * defined.size >= samples.size else (np.nan, np.nan)
