"""Histograms of oriented gradients and a linear classifier (Dalal and Triggs, CVPR 2005)."""

from __future__ import annotations

import numpy as np

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.linear import fit_logistic, logits
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels

ORIENTATIONS, CELL, BLOCK = 9, 8, 2
STRENGTH = 1e-2


def train(model: Model, training: Training) -> Fitted:
    """Multinomial logistic regression on the histograms."""
    preprocessing = Preprocessing(Cut.square(model.side))
    features = np.stack([histograms(preprocessing.cut(pixels)) for pixels in training.images])
    facts = {
        "library": "scikit-image",
        "architecture": f"HOG {ORIENTATIONS} orientations, cells of {CELL}, blocks of {BLOCK}, logistic",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, fit_logistic(features, training.labels, training.classes, STRENGTH))


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Gradients:
    """Ready."""
    return Gradients(weights)


def histograms(pixels: Pixels) -> Array:
    """The descriptor of an image, float32; of each pixel's gradients that of the channel where it is largest."""
    from skimage.feature import hog

    found = hog(pixels, ORIENTATIONS, (CELL, CELL), (BLOCK, BLOCK), "L2-Hys", channel_axis=-1)
    return np.asarray(found, np.float32)


class Gradients:
    """Outputs are logits."""

    digest = None

    def __init__(self, weights: Weights) -> None:
        self._weights = weights

    def outputs(self, batch: Array) -> Array:
        """Images × classes."""
        return logits(np.stack([histograms(pixels) for pixels in batch]), self._weights)
