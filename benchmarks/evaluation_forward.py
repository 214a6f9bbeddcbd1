"""Networks with random weights, and the rates of their forward passes alone."""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import torch
from device_time import timed

from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.kinds.network import Network
from imagenetv2.evaluation.names import published
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.networks.reproducible import numerics

TIMES = 3


def networks(some: tuple[str, ...] | None) -> Iterator[Model]:
    """The study's that timm and torchvision still carry."""
    for model in published.preset():
        if some is None or model.architecture.partition(".")[0] in some:
            yield model


def built(model: Model, device: str) -> torch.nn.Module:
    """A network with random weights."""
    import timm
    import torchvision

    name = model.architecture.partition(".")[0]
    with warnings.catch_warnings(), torch.device(device):
        warnings.simplefilter("ignore")  # Some of torchvision's say that drawing weights takes long.
        made = (
            timm.create_model(name)
            if model.kind == "timm"
            else torchvision.models.get_model(name, weights=None)
        )
    return made.eval()


def rate(module: torch.nn.Module, compute: Compute, side: int, batch: int, passes: int) -> float:
    """Images a second, on tensors that are where they are needed, scaled and laid out as the mode wants it."""
    network = Network(module, Preprocessing(Cut.square(side)), compute)
    fast = compute.mode != "reference"
    layout = torch.channels_last if fast else torch.contiguous_format
    x = torch.randn(batch, 3, side, side, device=network.device).to(memory_format=layout)
    lower = torch.bfloat16 if fast else None
    with numerics(compute.mode), torch.inference_mode(), torch.autocast(network.device.type, lower, fast):
        seconds = timed(lambda: [network._module(x) for _ in range(passes)], network.device, TIMES)
    return batch * passes / seconds
