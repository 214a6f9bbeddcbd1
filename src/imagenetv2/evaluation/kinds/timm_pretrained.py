"""A network with timm's pretrained weights, or a checkpoint of one, under its own preprocessing."""

from __future__ import annotations

from typing import Any

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute, Facts, Weights
from imagenetv2.evaluation.inputs import from_timm
from imagenetv2.evaluation.kinds.network import Network, pretrained, require_imagenet
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks import timm_network
from imagenetv2.networks.named import Fields


def outline(model: Model) -> Facts:
    """What timm says of the weights; a checkpoint is taken to be of their network and preprocessing.

    Raises InputError where timm does not know the network or the weights, or where they are not ImageNet's.
    """
    own: Any = timm_network.known(model.architecture, Fields.of_model(model.name))
    config = timm_network.data.resolve_data_config({}, pretrained_cfg=own.to_dict())
    if config["input_size"][0] != 3:
        raise InputError(
            f"models: {model.name}: {model.architecture} needs {config['input_size'][0]} channels, not the 3 of an "
            "image; choose another network."
        )
    if model.weights is None:
        require_imagenet(model.name, model.architecture, own.num_classes)
    return {
        "library": "timm",
        "architecture": model.architecture.partition(".")[0],
        # Of a checkpoint nothing is known but what was said.
        "tag": model.architecture.partition(".")[2] if model.weights else str(own.tag or ""),
        "preprocessing": from_timm(config, model.input).to_json(),
        "outputs": OUTPUTS,
    }


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where its weights are not to be had, or another network's."""
    fields, options = Fields.of_model(model.name), {}
    if model.weights is not None:
        options["num_classes"] = OUTPUTS
    module = timm_network.network(model.architecture, model.weights, fields, model.input.size, **options)
    return pretrained(module, facts, compute)
