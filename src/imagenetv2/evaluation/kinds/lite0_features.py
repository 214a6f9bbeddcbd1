"""Multinomial logistic regression on the pooled features of EfficientNet-Lite0."""

from __future__ import annotations

import numpy as np
import torch

from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Training, Weights
from imagenetv2.evaluation.kinds.linear import fit_logistic, logits
from imagenetv2.evaluation.kinds.lite_pretrained import lite_preprocessing
from imagenetv2.evaluation.kinds.network import Network
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import lite
from imagenetv2.networks.reproducible import reproducible
from imagenetv2.progress import progress

STRENGTH = 1e-2
BATCH = 64


def train(model: Model, training: Training) -> Fitted:
    """Features of all training images, then the regression."""
    preprocessing = lite_preprocessing(Cut.square(model.side, interpolation=lite.INTERPOLATION))
    network = _network(preprocessing, Compute())
    inputs = preprocessing.cut_all(training.images)
    parts = (inputs[i : i + BATCH] for i in progress(range(0, len(inputs), BATCH), model.name))
    with reproducible(1):
        features = np.concatenate([network.outputs(part) for part in parts])
    facts = {
        "library": lite.LITE0.package,
        "architecture": f"{lite.LITE0.architecture} pooled features, logistic",
        "preprocessing": preprocessing.to_json(),
    }
    return Fitted(facts, fit_logistic(features, training.labels, training.classes, STRENGTH))


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Lite0Features:
    """Ready."""
    return Lite0Features(_network(Preprocessing.from_json(facts["preprocessing"]), compute), weights)


def _network(preprocessing: Preprocessing, compute: Compute) -> Network:
    module = lite.load()

    class Pooled(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.inner = module

        def forward(self, batch: torch.Tensor) -> torch.Tensor:
            return lite.features(self.inner, batch)

    return Network(Pooled(), preprocessing, compute)


class Lite0Features:
    """Outputs are logits."""

    digest = None

    def __init__(self, network: Network, weights: Weights) -> None:
        self._network, self._weights = network, weights

    def outputs(self, batch: Array) -> Array:
        """Images × classes."""
        return logits(self._network.outputs(batch), self._weights)
