"""Networks by their name in timm."""

from __future__ import annotations

import difflib
from typing import Any

import timm

from imagenetv2.errors import InputError
from imagenetv2.evaluation.settings import Model


def require_architecture(model: Model) -> None:
    """Raises InputError, with the nearest names, where timm has no such network."""
    name = model.architecture
    if name and timm.is_model(name.partition(".")[0]):
        return
    near = difflib.get_close_matches(name, timm.list_models(), 3) or ["resnet50"]
    raise InputError(
        f"models: {model.name}: timm has no network {name or '(architecture is empty)'}; "
        f"set architecture to a name of timm.list_models(), such as {', '.join(near)}."
    )


def build(architecture: str, side: int | None = None, **options: Any) -> Any:
    """A network without pretrained weights, for images of ``side`` pixels where its size is fixed at birth."""
    known = timm.get_pretrained_cfg(architecture, allow_unregistered=False)
    if side is not None and known is not None and known.fixed_input_size:
        options["img_size"] = side
    return timm.create_model(architecture, pretrained=False, **options)
