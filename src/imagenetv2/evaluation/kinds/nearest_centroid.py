"""The class whose mean training image is nearest in pixels."""

from __future__ import annotations

import numpy as np

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels


def train(model: Model, training: Training) -> Fitted:
    """Mean image of each class."""
    preprocessing = Preprocessing(model.side, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
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
    return NearestCentroid(Preprocessing.from_json(facts["preprocessing"]), weights["centroids"])


def vectors(batch: Array) -> Array:
    """Images × values from 0 to 1, float64."""
    return np.asarray(batch.reshape(len(batch), -1) / 255.0)


class NearestCentroid:
    """Outputs are squared distances, negated."""

    def __init__(self, preprocessing: Preprocessing, centroids: Array) -> None:
        self._preprocessing, self._centroids = preprocessing, centroids.astype(np.float64)

    def prepare(self, pixels: Pixels) -> Array:
        """size × size × 3, uint8."""
        return self._preprocessing.cut(pixels)

    def outputs(self, batch: Array) -> Array:
        """Minus the squared distance to each class's mean image, the sum over values from 0 to 1."""
        values = vectors(batch)
        return np.stack([-((values - c) ** 2).sum(axis=1) for c in self._centroids], axis=1)
