"""Weights of networks in files."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from imagenetv2.errors import InputError

WRAPPERS = ("state_dict", "model")
"""Keys under which training scripts put the tensors, beside other things."""


def read_state(path: Path, field: str) -> Mapping[str, Any]:
    """The tensors of a checkpoint: safetensors, or a pickle of tensors only, under a usual key or at the top.

    ``field`` is the setting that named the file. Raises InputError where the file is no such thing.
    """
    from safetensors.torch import load_file

    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except OSError as error:
        raise InputError(
            f"{field}: the weights {path} cannot be read ({error.strerror or first_line(error)}); correct the path."
        ) from error
    except Exception as error:  # pickle, zip and safetensors each raise their own, and say nothing of use.
        raise InputError(
            f"{field}: the weights {path} are no PyTorch or safetensors file of tensors, or are damaged; give a "
            "checkpoint of tensors."
        ) from error
    for key in WRAPPERS:
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if not isinstance(state, dict):
        raise InputError(
            f"{field}: the weights {path} hold no table of tensors; give a checkpoint of tensors."
        )
    return {str(name).removeprefix("module."): value for name, value in state.items()}


def fill(module: torch.nn.Module, path: Path, field: str) -> None:
    """Load a checkpoint into a network. Raises InputError where names or shapes differ."""
    state = read_state(path, field)
    try:
        module.load_state_dict(state, strict=True)
    except (RuntimeError, AttributeError, TypeError) as error:  # the latter two where a value is no tensor.
        lines = [line.strip() for line in str(error).splitlines()]
        raise InputError(
            f"{field}: the weights {path} do not fit the network ({' '.join(lines[1:2] or lines)[:200]}); "
            "correct the network or the weights."
        ) from error


def first_line(error: Exception) -> str:
    """What an error says, or where it says nothing its name, on one line."""
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
