"""The class whose mean training image is nearest in pixels."""

from __future__ import annotations

import numpy as np

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model


def train(model: Model, training: Training) -> Fitted:
    """Mean image of each class."""
    preprocessing = Preprocessing(Cut.square(model.side), mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    values = vectors(preprocessing.cut_all(training.images))
    centroids = np.stack([values[training.labels == c].mean(axis=0) for c in range(training.classes)])
    facts = {
        "library": "numpy",
        "architecture": "nearest centroid",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, {"centroids": centroids.astype(np.float32)})


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> NearestCentroid:
    """Ready to measure distances."""
    return NearestCentroid(weights["centroids"])


def vectors(batch: Array) -> Array:
    """Images × values from 0 to 1, float64."""
    return np.asarray(batch.reshape(len(batch), -1) / 255.0)


class NearestCentroid:
    """Outputs are squared distances, negated."""

    digest = None

    def __init__(self, centroids: Array) -> None:
        self._centroids = centroids.astype(np.float64)

    def outputs(self, batch: Array) -> Array:
        """Minus the squared distance to each class's mean image, the sum over values from 0 to 1."""
        values = vectors(batch)
        return np.stack([-((values - c) ** 2).sum(axis=1) for c in self._centroids], axis=1)
