"""A network with torchvision's pretrained weights, under its own preprocessing."""

from __future__ import annotations

import difflib
from typing import Any

import torch
import torchvision

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute, Facts, Fitted, Weights
from imagenetv2.evaluation.kinds.network import Network, state_digest
from imagenetv2.evaluation.kinds.timm_pretrained import require_same, transformed, unavailable
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks.states import fill
from imagenetv2.networks.torchvision_network import BUILT_WITH_WEIGHTS


def describe(model: Model) -> Fitted:
    """Fetch the weights, and note what they are."""
    choice = _choice(model)
    module = _network(model, choice)
    transform = choice.transforms()
    return Fitted(
        {
            "library": "torchvision",
            "architecture": model.architecture.partition(".")[0],
            "tag": choice.name,
            "preprocessing": {
                "size": list(transform.crop_size),
                "resize": list(transform.resize_size),
                "interpolation": transform.interpolation.value,
                "mean": list(transform.mean),
                "std": list(transform.std),
            },
            "outputs": len(choice.meta["categories"]),
            "state_sha256": state_digest(module),
        }
    )


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where its weights are not those that were noted."""
    choice = _choice(model)
    module = _network(model, choice)
    require_same(model, module, facts)
    return Network(module, transformed(choice.transforms()), torch.from_numpy, compute)


def _choice(model: Model) -> Any:
    name, _, tag = model.architecture.partition(".")
    classifiers = torchvision.models.list_models(module=torchvision.models)
    if name not in classifiers:
        near = difflib.get_close_matches(name, classifiers, 3) or ["resnet50"]
        raise InputError(
            f"models: {model.name}: torchvision has no network {name or '(architecture is empty)'}; "
            f"set architecture to a name of torchvision.models.list_models(), such as {', '.join(near)}."
        )
    weights = torchvision.models.get_model_weights(name)
    if not tag:
        return weights.DEFAULT
    if tag not in weights.__members__:
        raise InputError(
            f"models: {model.name}: torchvision has no weights {tag} of {name}; "
            f"it has {', '.join(weights.__members__)}."
        )
    return weights[tag]


def _network(model: Model, choice: Any) -> Any:
    name = model.architecture.partition(".")[0]
    if model.weights is not None:
        module = torchvision.models.get_model(name, weights=None, **BUILT_WITH_WEIGHTS.get(name, {}))
        fill(module, model.weights, "models")
        return module
    try:
        return torchvision.models.get_model(name, weights=choice)
    except Exception as error:  # urllib, ssl and the hash check each raise their own.
        raise unavailable(model, "torchvision", error) from error
