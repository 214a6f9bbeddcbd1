"""Any network of timm's."""

from __future__ import annotations

import difflib
from pathlib import Path
from typing import Any

import timm
import torch

from imagenetv2.errors import InputError
from imagenetv2.networks.loaded import Loaded, levels
from imagenetv2.networks.states import fill, first_line

data: Any = timm.data


def load(name: str, weights: Path | None, where: str) -> Loaded:
    """With the weights of a file, or those that timm fetches.

    Args:
        name: the architecture, maybe with the tag of its weights: ``resnet50.a1_in1k``.
        weights: file of its state, or None.
        where: section of the configuration that has the fields network and weights.

    Raises InputError where timm does not know the name, or the weights are not to be had or are another network's.
    """
    if not timm.is_model(name.partition(".")[0]):
        near = difflib.get_close_matches(name, timm.list_models(), 3) or ["resnet50"]
        raise InputError(
            f"{where}.network: timm has no network {name}; take a name of timm.list_models(), such as "
            f"{', '.join(near)}."
        )
    try:
        module: Any = timm.create_model(name, pretrained=weights is None)
    except Exception as error:  # the hub's client raises whatever its own libraries do.
        raise unavailable("timm", name, where, error) from error
    if weights is not None:
        fill(module, weights, f"{where}.weights")
    usual = data.resolve_data_config({}, model=module)
    side = int(usual["input_size"][-1])
    return Loaded(f"timm:{name}", module.eval(), levels(usual["mean"]), levels(usual["std"]), side, pooled)


def pooled(module: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """What the classifier of a network of timm's is given: images × features."""
    maps = module.forward_features(batch)  # type: ignore[operator]
    features: torch.Tensor = module.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    return features


def unavailable(library: str, name: str, where: str, error: Exception) -> InputError:
    """That pretrained weights are not to be had, and what to do."""
    return InputError(
        f"{where}.network: {library} cannot get the weights of {name} ({first_line(error)}); correct the name, connect "
        f"to the internet once to fetch them, or set {where}.weights to a file of them."
    )
