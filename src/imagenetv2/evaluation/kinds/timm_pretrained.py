"""A network with timm's pretrained weights, under its own preprocessing."""

from __future__ import annotations

from typing import Any

import numpy as np
import timm
import torch
from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute, Facts, Fitted, Weights
from imagenetv2.evaluation.kinds.network import Network, state_digest
from imagenetv2.evaluation.kinds.timm_networks import build, require_architecture
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels
from imagenetv2.networks.states import fill, first_line

library: Any = timm.data


def describe(model: Model) -> Fitted:
    """Fetch the weights, and note what they are."""
    module = _network(model)
    data = library.resolve_data_config({}, model=module)
    preprocessing = {k: list(v) if isinstance(v, tuple) else v for k, v in data.items()}
    return Fitted(
        {
            "library": "timm",
            "architecture": model.architecture,
            "tag": str(module.pretrained_cfg.get("tag") or ""),
            "preprocessing": preprocessing,
            "outputs": int(module.num_classes),
            "state_sha256": state_digest(module),
        }
    )


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where its weights are not those that were noted."""
    module = _network(model)
    require_same(model, module, facts)
    transform = library.create_transform(**library.resolve_data_config({}, model=module), is_training=False)
    return Network(module, transformed(transform), torch.from_numpy, compute)


def transformed(transform: Any) -> Any:
    """A library's transform of PIL images to tensors, as a function of pixels to an array."""

    def prepare(pixels: Pixels) -> Array:
        return np.asarray(transform(Image.fromarray(pixels)).numpy())

    return prepare


def require_same(model: Model, module: torch.nn.Module, facts: Facts) -> None:
    """Raises InputError where the weights have changed since ``describe``."""
    if state_digest(module) != facts["state_sha256"]:
        raise InputError(
            f"models: {model.name}: its weights are not those with the digest {facts['state_sha256'][:10]} that "
            f"model.json names; remove the folder data/models/{model.name} to take the new ones."
        )


def _network(model: Model) -> Any:
    require_architecture(model)
    if model.weights is not None:
        module = build(model.architecture)
        fill(module, model.weights, "models")
        return module
    try:
        return timm.create_model(model.architecture, pretrained=True)
    except Exception as error:  # the hub's client raises whatever its own libraries do.
        raise unavailable(model, "timm", error) from error


def unavailable(model: Model, library: str, error: Exception) -> InputError:
    """That pretrained weights are not to be had, and what to do."""
    return InputError(
        f"models: {model.name}: {library} cannot get the weights of {model.architecture} ({first_line(error)}); connect "
        "to the internet once to fetch them, or set weights to a file of them."
    )
