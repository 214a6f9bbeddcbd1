"""Ridge regression on random Fourier features of pixels (Rahimi and Recht, NIPS 2007)."""

from __future__ import annotations

from typing import Any

import numpy as np

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.linear import one_thread
from imagenetv2.evaluation.kinds.nearest_centroid import vectors
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model

COMPONENTS = 1000
"""Features where the configuration does not say."""
PENALTY = 1e-2
"""Ridge penalty as a share of the features' mean square."""
BLOCK = 4096
SHARPNESS = 20.0
"""Targets are 0 and 1; as logits, outputs are stretched by this. It moves probabilities, not ranks."""


def train(model: Model, training: Training) -> Fitted:
    """Draw the features, with the median distance between training images as bandwidth; solve for the rest."""
    preprocessing = Preprocessing(Cut.square(model.side), mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    inputs, random = preprocessing.cut_all(training.images), training.generator
    width = _median_distance(inputs, random)
    size, components = inputs[0].size, model.components or COMPONENTS
    weights: dict[str, Any] = {
        "centre": (inputs.reshape(len(inputs), -1).mean(axis=0) / 255.0).astype(np.float32),
        "directions": (random.standard_normal((size, components)) / width).astype(np.float32),
        "phases": random.uniform(0, 2 * np.pi, components).astype(np.float32),
    }
    slopes, intercepts = _ridge(inputs, np.eye(training.classes)[training.labels], weights)
    weights |= {"slopes": slopes.astype(np.float32), "intercepts": intercepts.astype(np.float32)}
    facts = {
        "library": "numpy",
        "architecture": f"{components} random Fourier features, ridge",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, weights)


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> RandomFeatures:
    """Ready."""
    return RandomFeatures(weights)


def fourier(values: Array, weights: Weights) -> Array:
    """Images × components: √(2/D) cos(xW + b)."""
    phases = (values - weights["centre"]) @ weights["directions"].astype(np.float64) + weights["phases"]
    return np.asarray(np.cos(phases) * np.sqrt(2.0 / phases.shape[1]))


class RandomFeatures:
    """Outputs are regressions on the indicator of each class, stretched to the scale of logits."""

    digest = None

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def outputs(self, batch: Array) -> Array:
        """Images × classes."""
        regressed = fourier(vectors(batch), self._weights) @ self._weights["slopes"].astype(np.float64)
        return np.asarray((regressed + self._weights["intercepts"]) * SHARPNESS)


def _ridge(inputs: Array, targets: Array, weights: Weights) -> tuple[Array, Array]:
    """Slopes and intercepts by the normal equations, summed a block of images at a time to bound memory."""
    components, count = weights["phases"].size, len(inputs)
    gram, cross = np.zeros((components, components)), np.zeros((components, targets.shape[1]))
    total = np.zeros(components)
    with one_thread():
        for start in range(0, count, BLOCK):
            features = fourier(vectors(inputs[start : start + BLOCK]), weights)
            gram += features.T @ features
            cross += features.T @ targets[start : start + BLOCK]
            total += features.sum(axis=0)
        offset, mean = total / count, targets.mean(axis=0)
        penalty = PENALTY * float(np.trace(gram)) / components
        gram += penalty * np.eye(components) - count * np.outer(offset, offset)
        slopes = np.linalg.solve(gram, cross - count * np.outer(offset, mean))
        return slopes, mean - offset @ slopes


def _median_distance(inputs: Array, random: np.random.Generator) -> float:
    first, second = random.integers(0, len(inputs), (2, 1000))
    squares = (vectors(inputs[first]) - vectors(inputs[second])) ** 2
    distances = np.sqrt(squares.sum(axis=1))
    positive = distances[distances > 0]
    return float(np.median(positive)) if positive.size else 1.0
