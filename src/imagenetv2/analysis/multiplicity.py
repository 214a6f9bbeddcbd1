"""Probabilities of many tests at once, and how they are written."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
DIGITS = 10
"""Digits kept of a probability: later ones differ between processors. Decimals would lose the small ones."""


def holm(p: npt.ArrayLike) -> Floats:
    """Adjusted probabilities by Holm (1979): the k-th smallest of m times m − k + 1, made to rise, at most 1.

    Args:
        p: float64, shape (tests,).

    Returns:
        float64, same shape and order. Rejecting where it is at most α keeps the chance of any false rejection at α.
    """
    values = np.asarray(p, np.float64)
    order = np.argsort(values, kind="stable")
    rising = np.maximum.accumulate(values[order] * np.arange(values.size, 0, -1))
    out = np.empty_like(values)
    out[order] = np.minimum(rising, 1)
    return out


def written(p: npt.ArrayLike) -> Floats:
    """Probabilities rounded to significant digits."""
    values = np.asarray(p, np.float64)
    return np.array([float(f"{v:.{DIGITS - 1}e}") for v in values.ravel()]).reshape(values.shape)
