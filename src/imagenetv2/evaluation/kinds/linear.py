"""A linear classifier over fixed features, and how it is trained."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.classifier import Integers, Weights

Floats = npt.NDArray[np.floating]


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep matrix products on one thread, so that no bit of a result depends on the number of cores."""
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        yield


def standardisation(features: Floats) -> dict[str, npt.NDArray[np.float32]]:
    """Mean and deviation of each feature; constant features keep their scale."""
    deviation = features.std(axis=0)
    return {
        "mean": features.mean(axis=0).astype(np.float32),
        "deviation": np.where(deviation > 1e-6, deviation, 1.0).astype(np.float32),
    }


def standardised(features: Floats, weights: Weights) -> npt.NDArray[np.float64]:
    """Features with the mean and deviation of the training images taken out."""
    return np.asarray((features.astype(np.float64) - weights["mean"]) / weights["deviation"])


def fit_logistic(features: Floats, labels: Integers, classes: int, strength: float) -> dict[str, Any]:
    """Multinomial logistic regression on standardised features, with scikit-learn.

    Args:
        features: images × features.
        labels: class of each image, 0 to ``classes`` − 1, each at least once.
        classes: how many.
        strength: scikit-learn's C, the inverse of the penalty.

    Returns:
        Arrays for ``logits``: mean, deviation, coefficients (classes × features) and intercepts.
    """
    from sklearn.linear_model import LogisticRegression

    weights: dict[str, Any] = standardisation(features)
    with one_thread():
        fitted = LogisticRegression(C=strength, max_iter=1000, tol=1e-3)
        fitted.fit(standardised(features, weights), labels)
    coefficients, intercepts = fitted.coef_, fitted.intercept_
    if classes == 2:  # scikit-learn then keeps the second class only
        coefficients = np.concatenate([-coefficients, coefficients]) / 2
        intercepts = np.concatenate([-intercepts, intercepts]) / 2
    weights["coefficients"] = coefficients.astype(np.float32)
    weights["intercepts"] = intercepts.astype(np.float32)
    return weights


def logits(features: Floats, weights: Weights) -> npt.NDArray[np.float64]:
    """Images × classes."""
    product = standardised(features, weights) @ weights["coefficients"].astype(np.float64).T
    return np.asarray(product + weights["intercepts"])
