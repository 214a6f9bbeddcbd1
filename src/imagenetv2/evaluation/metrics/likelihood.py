"""How much probability a model gives the true class."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.metrics.estimate import Estimate, mean

SMALLEST = float(np.finfo(np.float64).tiny)
"""A probability of 0 counts as the smallest normal number, a loss of 708."""


def mean_probability(probability: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Mean probability of the true class; see ``estimate.mean``."""
    return mean(probability, level)


def log_loss(probability: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Mean of −ln of the probability of the true class, in nats; see ``estimate.mean``."""
    return mean(-np.log(np.maximum(np.asarray(probability, np.float64), SMALLEST)), level)
