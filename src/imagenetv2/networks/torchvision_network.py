"""Any classifier of torchvision's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torchvision

from imagenetv2.networks.loaded import Loaded, levels
from imagenetv2.networks.named import Fields, unavailable, unknown, unknown_tag
from imagenetv2.networks.states import fill

BUILT_WITH_WEIGHTS = {
    "inception_v3": {"transform_input": True, "init_weights": False},
    "googlenet": {"transform_input": True, "init_weights": False},
}
"""What torchvision itself sets for these two where it loads weights, which were trained on inputs scaled another way."""


def known(name: str, fields: Fields) -> Any:
    """The entry of torchvision's weights: transforms, meta, name.

    Args:
        name: the architecture, maybe with the name of its weights: ``resnet50.IMAGENET1K_V2``; else the default ones.
        fields: for messages.

    Raises InputError where torchvision does not know the architecture, or no such weights of it.
    """
    architecture, _, tag = name.partition(".")
    there = torchvision.models.list_models(module=torchvision.models)
    if architecture not in there:
        raise unknown("torchvision", architecture, there, "torchvision.models.list_models()", fields)
    weights = torchvision.models.get_model_weights(architecture)
    if tag and tag not in weights.__members__:
        raise unknown_tag("torchvision", architecture, tag, weights.__members__, fields)
    return weights[tag] if tag else weights.DEFAULT


def network(name: str, weights: Path | None, fields: Fields) -> Any:
    """In eval mode, with the weights of a file, or those that torchvision fetches.

    Args:
        name: as for ``known``.
        weights: file of its state, or None; scaled as for the weights of that name.
        fields: for messages.

    Raises InputError where torchvision does not know the name, or the weights are not to be had or another network's.
    """
    choice = known(name, fields)
    architecture = name.partition(".")[0]
    if weights is not None:
        options = BUILT_WITH_WEIGHTS.get(architecture, {})
        module = torchvision.models.get_model(architecture, weights=None, **options)
        fill(module, weights, fields.weights)
        return module.eval()
    try:
        return torchvision.models.get_model(architecture, weights=choice).eval()
    except Exception as error:  # urllib, ssl and the hash check each raise their own.
        raise unavailable("torchvision", name, fields, error) from error


def load(name: str, weights: Path | None, fields: Fields) -> Loaded:
    """As ``network``, with what its input has to look like."""
    module = network(name, weights, fields)
    usual: Any = known(name, fields).transforms()
    side = int(usual.crop_size[-1])
    return Loaded(f"torchvision:{name}", module, levels(usual.mean), levels(usual.std), side)
