"""Any network of timm's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import timm
import torch

from imagenetv2.networks.loaded import Loaded, levels
from imagenetv2.networks.named import Fields, unavailable, unknown, unknown_tag
from imagenetv2.networks.states import fill

data: Any = timm.data


def known(name: str, fields: Fields) -> Any:
    """timm's own account of a network's weights: tag, num_classes, input_size, … and whether they can be fetched.

    Args:
        name: the architecture, maybe with the tag of its weights: ``resnet50.a1_in1k``; else timm's default ones.
        fields: for messages.

    Raises InputError where timm does not know the architecture, or no such weights of it.
    """
    architecture, _, tag = name.partition(".")
    if architecture not in timm.list_models():  # where old names of networks do not count
        raise unknown("timm", architecture, timm.list_models(), "timm.list_models()", fields)
    try:
        return timm.get_pretrained_cfg(name, allow_unregistered=False)
    except RuntimeError as error:
        tags = [other.partition(".")[2] for other in timm.list_pretrained(f"{architecture}.*")]
        raise unknown_tag("timm", architecture, tag, tags, fields) from error


def build(name: str, side: int | None = None, *, pretrained: bool = False, **options: Any) -> Any:
    """A network, for images of ``side`` pixels where its size is fixed at birth."""
    own: Any = timm.get_pretrained_cfg(name)
    if side is not None and own is not None and own.fixed_input_size:
        options["img_size"] = side
    return timm.create_model(name, pretrained=pretrained, **options)


def network(name: str, weights: Path | None, fields: Fields, side: int | None = None, **options: Any) -> Any:
    """In eval mode, with the weights of a file, or those that timm fetches.

    Args:
        name: as for ``known``.
        weights: file of its state, or None.
        fields: for messages.
        side: size of its images where it is not the usual one, for networks whose size is fixed at birth.
        options: of ``timm.create_model``.

    Raises InputError where timm does not know the name, or the weights are not to be had or are another network's.
    """
    known(name, fields)
    if weights is not None:
        module = build(name, side, **options)
        fill(module, weights, fields.weights)
        return module.eval()
    try:
        return build(name, side, pretrained=True, **options).eval()
    except Exception as error:  # the hub's client raises whatever its own libraries do.
        raise unavailable("timm", name, fields, error) from error


def load(name: str, weights: Path | None, fields: Fields) -> Loaded:
    """As ``network``, with what its input has to look like."""
    module = network(name, weights, fields)
    usual = data.resolve_data_config({}, model=module)
    side = int(usual["input_size"][-1])
    return Loaded(f"timm:{name}", module, levels(usual["mean"]), levels(usual["std"]), side, pooled)


def pooled(module: torch.nn.Module, batch: torch.Tensor) -> torch.Tensor:
    """What the classifier of a network of timm's is given: images × features."""
    maps = module.forward_features(batch)  # type: ignore[operator]
    features: torch.Tensor = module.forward_head(maps, pre_logits=True)  # type: ignore[operator]
    return features
