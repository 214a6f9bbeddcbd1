"""Networks with random weights, and the rates of their forward passes alone."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator

import numpy as np
import torch

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
        seconds = timed(lambda: [network._module(x) for _ in range(passes)], network.device)
    return batch * passes / seconds


def timed(work: Callable[[], object], device: torch.device) -> float:
    """Median of some runs after one that compiles and chooses algorithms, in seconds."""
    work()
    took = []
    for _ in range(TIMES):
        wait(device)
        start = time.perf_counter()
        work()
        wait(device)
        took.append(time.perf_counter() - start)
    return float(np.median(took))


def wait(device: torch.device) -> None:
    """Until all that is queued is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
