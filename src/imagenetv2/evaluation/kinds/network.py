"""Networks under PyTorch, run so that the same input gives the same output."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute
from imagenetv2.images import Pixels
from imagenetv2.networks.reproducible import reproducible


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's own random numbers, which networks draw their weights from; the outer state is restored."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def device(compute: Compute) -> torch.device:
    """Where to run. Raises InputError where cuda is asked for and there is none."""
    there = torch.cuda.is_available()
    if compute.device == "cuda" and not there:
        raise InputError("evaluation.device is cuda but PyTorch finds no GPU; set it to auto or cpu.")
    return torch.device("cuda" if there and compute.device != "cpu" else "cpu")


class Network:
    """A network in eval mode, with what turns an image into its input.

    Args:
        module: takes images × 3 × height × width.
        prepare: one image to an array; called from several threads.
        assemble: a stack of such arrays to the module's input, float32.
        compute: where to run.
    """

    def __init__(
        self,
        module: torch.nn.Module | Callable[[torch.Tensor], torch.Tensor],
        prepare: Callable[[Pixels], Array],
        assemble: Callable[[Array], torch.Tensor],
        compute: Compute,
    ) -> None:
        self._device = device(compute)
        if isinstance(module, torch.nn.Module):
            module.eval().to(self._device)
        self._module, self._prepare, self._assemble, self._compute = module, prepare, assemble, compute

    def prepare(self, pixels: Pixels) -> Array:
        """The array of one image."""
        return self._prepare(pixels)

    def outputs(self, batch: Array) -> Array:
        """Images × outputs, float32."""
        with reproducible(self._compute.threads), torch.inference_mode():
            found = self._module(self._assemble(batch).to(self._device))
        return np.asarray(found.float().cpu().numpy())


def state_digest(module: torch.nn.Module) -> str:
    """SHA-256 over names, types, shapes and values of a network's state: whatever file it came from."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
