"""Networks under PyTorch, run so that the same input gives the same output."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute
from imagenetv2.images import Pixels


@contextmanager
def reproducible(threads: int) -> Iterator[None]:
    """Deterministic algorithms, full float32 (no TF32), no choice of algorithm by timing; restored afterwards."""
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        (cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32),
    )
    # cuBLAS reads this when its first handle is made; without it deterministic algorithms are refused.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = False, True, False, False
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
        cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = before[2]


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


def read_state(path: Path) -> Mapping[str, Any]:
    """The tensors of a checkpoint: safetensors, or a pickle of tensors only, under ``state_dict`` or at the top.

    Raises InputError where the file is no such thing.
    """
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # pickle, zip and safetensors each raise their own.
        line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(
            f"models: the weights {path} cannot be read ({line}); give a checkpoint of tensors."
        ) from error
    if isinstance(state, dict) and isinstance(state.get("state_dict"), dict):
        state = state["state_dict"]
    if not isinstance(state, dict):
        raise InputError(
            f"models: the weights {path} hold no table of tensors; give a checkpoint of tensors."
        )
    return {name.removeprefix("module."): value for name, value in state.items()}


def fill(module: torch.nn.Module, path: Path) -> None:
    """Load a checkpoint into a network. Raises InputError where names or shapes differ."""
    try:
        module.load_state_dict(read_state(path), strict=True)
    except RuntimeError as error:
        lines = [line.strip() for line in str(error).splitlines()]
        raise InputError(
            f"models: the weights {path} do not fit the network ({' '.join(lines[1:2])[:200]}); "
            "correct architecture or weights."
        ) from error
