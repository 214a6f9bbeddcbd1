"""A network with torchvision's pretrained weights, or a checkpoint of one, under its own preprocessing."""

from __future__ import annotations

from imagenetv2.evaluation.classifier import Compute, Facts, Weights
from imagenetv2.evaluation.inputs import from_torchvision
from imagenetv2.evaluation.kinds.network import Network, pretrained, require_imagenet
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import torchvision_network
from imagenetv2.networks.named import Fields


def outline(model: Model) -> Facts:
    """What torchvision says of the weights; a checkpoint is taken to be of their network and preprocessing.

    Raises InputError where torchvision does not know the network or the weights, or where they are not ImageNet's.
    """
    choice = torchvision_network.known(model.architecture, Fields.of_model(model.name))
    name, _, tag = model.architecture.partition(".")
    outputs = len(choice.meta["categories"] or ())
    if model.weights is None:
        require_imagenet(model.name, f"{name}.{choice.name}", outputs)
    return {
        "library": "torchvision",
        "architecture": name,
        # Of a checkpoint nothing is known but what was said.
        "tag": tag if model.weights else choice.name,
        "preprocessing": from_torchvision(choice.transforms(), model.input).to_json(),
        "outputs": OUTPUTS,
    }


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where its weights are not to be had, or another network's."""
    module = torchvision_network.network(model.architecture, model.weights, Fields.of_model(model.name))
    return pretrained(module, facts, compute)
