"""Weights of networks in files."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path, PosixPath, WindowsPath
from threading import Lock
from typing import Any

import torch

from imagenetv2.errors import InputError, first_line

WRAPPERS = ("state_dict", "model", "state_dict_ema", "model_ema")
"""Keys under which training scripts put the tensors, beside other things; the first that is there counts."""
PREFIXES = ("module.", "_orig_mod.")
"""What DistributedDataParallel and torch.compile put before the names of tensors."""
COUNTER = "n_averaged"
"""How many states were averaged, which is no part of the network."""
HARMLESS: list[Any] = [Namespace, PosixPath, WindowsPath]
"""What training scripts store beside the tensors: their arguments."""
LOCK = Lock()
COLOURS = 3


def read_state(path: Path, field: str) -> Mapping[str, Any]:
    """The tensors of a checkpoint: safetensors, or a pickle of tensors only, under a usual key or at the top.

    ``field`` is the setting that named the file. Raises InputError where the file is no such thing.
    """
    try:
        state = _read(path)
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
            break
    if not isinstance(state, dict):
        raise InputError(
            f"{field}: the weights {path} hold no table of tensors; give a checkpoint of tensors."
        )
    return {_bare(str(name)): value for name, value in state.items() if name != COUNTER}


def _read(path: Path) -> Any:
    if path.suffix == ".safetensors":
        from safetensors.torch import load_file

        return load_file(path)
    # The list of what may be unpickled is the process's, so that threads have to take turns.
    with LOCK, torch.serialization.safe_globals(HARMLESS):
        return torch.load(path, map_location="cpu", weights_only=True)


def _bare(name: str) -> str:
    for prefix in PREFIXES:
        name = name.removeprefix(prefix)
    return name


def fill(module: torch.nn.Module, path: Path, field: str) -> None:
    """Load a checkpoint into a network. Raises InputError where names or shapes differ."""
    state = read_state(path, field)
    try:
        module.load_state_dict(state, strict=True)
    except (RuntimeError, AttributeError, TypeError) as error:  # the latter two where a value is no tensor.
        found = misfit(module.state_dict(), state) or first_line(error)
        raise InputError(
            f"{field}: the weights {path} do not fit the network: {found}; correct the network or the weights."
        ) from error


def misfit(own: Mapping[str, torch.Tensor], state: Mapping[str, Any]) -> str:
    """What keeps a checkpoint from being that of a network, in words; empty where names and shapes are the same."""
    lost = [name for name in own if name not in state]
    strange = [name for name in state if name not in own]
    shapes = {name: (_shape(state[name]), _shape(own[name])) for name in own if name in state}
    other = [name for name, (there, wanted) in shapes.items() if there != wanted]
    found = []
    if lost:
        found.append(f"they lack {len(lost)} of its {len(own)} tensors, such as {lost[0]}")
    if strange:
        found.append(f"they hold {len(strange)} tensors that it has not, such as {strange[0]}")
    if other:
        there, wanted = shapes[other[0]]
        found.append(_channels(there, wanted) or f"their {other[0]} is {_words(there)}, not {_words(wanted)}")
    return ", ".join(found)


def _channels(there: tuple[int, ...] | None, wanted: tuple[int, ...] | None) -> str:
    """Of a first convolution, which has one weight for each output, colour and place."""
    alike = there and wanted and len(there) == len(wanted) == 4 and wanted[1] == COLOURS
    if alike and there and wanted and (there[0], *there[2:]) == (wanted[0], *wanted[2:]):
        return f"they are of a network that needs {there[1]} channels, not the {COLOURS} of an image"
    return ""


def _shape(value: Any) -> tuple[int, ...] | None:
    return tuple(value.shape) if isinstance(value, torch.Tensor) else None


def _words(shape: tuple[int, ...] | None) -> str:
    if shape is None:
        return "no tensor"
    return " × ".join(map(str, shape)) or "a single number"
