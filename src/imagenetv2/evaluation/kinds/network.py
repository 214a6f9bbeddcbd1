"""Networks under PyTorch."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute, Facts
from imagenetv2.evaluation.kinds.compiling import compiled
from imagenetv2.evaluation.kinds.scaling import Scale
from imagenetv2.evaluation.kinds.transfers import Transfers
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Mode

AUTOCAST: dict[Mode, torch.dtype] = {"bf16": torch.bfloat16, "fp16": torch.float16}
"""What convolutions and matrix products of the fast modes are computed in."""


@contextmanager
def seeded(seed: int) -> Iterator[None]:
    """PyTorch's own random numbers, which networks draw their weights from; the outer state is restored."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


def device(name: str) -> torch.device:
    """Where to run. Raises InputError where a GPU is asked for that PyTorch does not find."""
    found = torch.device(name)
    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if found.type == "cuda" and (found.index or 0) >= count:
        raise InputError(
            f"evaluation.device is {name} but PyTorch finds {count or 'no'} GPU; set it to auto or cpu."
        )
    return found


class Network:
    """A network that takes images as they were cut, and scales them itself.

    In mode reference it computes in float32 what its module computes; whoever calls sees to deterministic algorithms
    and numbers of threads (``networks.reproducible``). The fast modes are autocast, channels last in memory and, where
    asked for, compiled. Several threads may call it at once.

    Args:
        module: takes images × 3 × height × width, float32.
        preprocessing: the scale of its input.
        compute: where to run, and in which mode.
        digest: of its state, from ``state_digest``; None where its weights are kept elsewhere.
    """

    def __init__(
        self,
        module: torch.nn.Module,
        preprocessing: Preprocessing,
        compute: Compute,
        digest: str | None = None,
    ) -> None:
        self.digest = digest
        self.device = device(compute.device)
        self._transfers = Transfers(self.device) if self.device.type == "cuda" else None
        self._lower = AUTOCAST.get(compute.mode)
        layout = torch.contiguous_format if self._lower is None else torch.channels_last
        module.eval().requires_grad_(False).to(self.device).to(memory_format=layout)
        self._module: Callable[[torch.Tensor], torch.Tensor] = compiled(module) if compute.compile else module
        self._scale = Scale(preprocessing, self.device, layout)

    def outputs(self, batch: Array) -> Array:
        """Images × outputs, float32, of images × height × width × 3, uint8."""
        # PyTorch warns of arrays that it could change, such as a file's that is mapped into memory.
        images = torch.from_numpy(batch if batch.flags.writeable else batch.copy())
        found = (
            self.run(images.to(self.device)).cpu()
            if self._transfers is None
            else self._transfers(self.run, images)
        )
        return np.asarray(found.numpy())

    def run(self, batch: torch.Tensor) -> torch.Tensor:
        """The same for tensors on the network's device, without waiting for it."""
        with torch.inference_mode(), torch.autocast(self.device.type, self._lower, self._lower is not None):
            return self._module(self._scale(batch)).to(torch.float32)


def state_digest(module: torch.nn.Module) -> str:
    """SHA-256 over names, types, shapes and values of a network's state: whatever file it came from."""
    digest = hashlib.sha256()
    for name, value in sorted(module.state_dict().items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return digest.hexdigest()


def pretrained(module: torch.nn.Module, facts: Facts, compute: Compute) -> Network:
    """A network with weights of its own, under the preprocessing of ``facts``."""
    return Network(module, Preprocessing.from_json(facts["preprocessing"]), compute, state_digest(module))


def require_imagenet(name: str, source: str, outputs: int | None) -> int:
    """``outputs``, which has to be 1,000. Raises InputError that names the model and its source of weights."""
    if outputs != OUTPUTS:
        has = f"{outputs} outputs" if outputs else "no classifier"
        raise InputError(
            f"models: {name}: {source} has {has}, not an output for each of ImageNet's 1,000 classes; choose weights "
            "that were tuned on ImageNet-1k."
        )
    return outputs
