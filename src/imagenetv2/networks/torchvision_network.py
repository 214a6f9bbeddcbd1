"""Any classifier of torchvision's."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import torchvision

from imagenetv2.errors import InputError
from imagenetv2.networks.loaded import Loaded, levels
from imagenetv2.networks.states import fill
from imagenetv2.networks.timm_network import unavailable

BUILT_WITH_WEIGHTS = {
    "inception_v3": {"transform_input": True, "init_weights": False},
    "googlenet": {"transform_input": True, "init_weights": False},
}
"""What torchvision itself sets for these two where it loads weights, which were trained on inputs scaled another way."""


def load(name: str, weights: Path | None, where: str) -> Loaded:
    """With the weights of a file, or those that torchvision fetches.

    Args:
        name: the architecture, maybe with the name of its weights: ``resnet50.IMAGENET1K_V2``; else the default ones.
        weights: file of its state, or None; scaled as for the weights of that name.
        where: section of the configuration that has the fields network and weights.

    Raises InputError where torchvision does not know the name, or the weights are not to be had or another network's.
    """
    choice = _choice(name, where)
    architecture = name.partition(".")[0]
    if weights is None:
        try:
            module = torchvision.models.get_model(architecture, weights=choice)
        except Exception as error:  # urllib, ssl and the hash check each raise their own.
            raise unavailable("torchvision", name, where, error) from error
    else:
        options = BUILT_WITH_WEIGHTS.get(architecture, {})
        module = torchvision.models.get_model(architecture, weights=None, **options)
        fill(module, weights, f"{where}.weights")
    usual: Any = choice.transforms()
    side = int(usual.crop_size[-1])
    return Loaded(f"torchvision:{name}", module.eval(), levels(usual.mean), levels(usual.std), side)


def _choice(name: str, where: str) -> Any:
    architecture, _, tag = name.partition(".")
    known = torchvision.models.list_models(module=torchvision.models)
    if architecture not in known:
        near = difflib.get_close_matches(architecture, known, 3) or ["resnet50"]
        raise InputError(
            f"{where}.network: torchvision has no network {architecture}; take a name of "
            f"torchvision.models.list_models(), such as {', '.join(near)}."
        )
    weights = torchvision.models.get_model_weights(architecture)
    if tag and tag not in weights.__members__:
        raise InputError(
            f"{where}.network: torchvision has no weights {tag} of {architecture}; it has "
            f"{', '.join(weights.__members__)}."
        )
    return weights[tag] if tag else weights.DEFAULT
