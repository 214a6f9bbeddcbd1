"""The output of one module of a network, or what flows into it, while the whole network runs."""

from __future__ import annotations

import difflib
from threading import local
from typing import Any

import torch

from imagenetv2.errors import InputError


class Tap:
    """A network whose result is what flows through one of its modules; may be called from several threads.

    Args:
        module: the network.
        layer: name of a module in it, such as ``classifier.4``.
        field: the setting that named it.
        before: take what flows into the module, not out of it.

    Where the network calls the module several times, the last time counts. Raises InputError where there is no such
    module, or it gives nothing that has a row an image.
    """

    def __init__(self, module: torch.nn.Module, layer: str, field: str, *, before: bool = False) -> None:
        known = dict(module.named_modules())
        known.pop("")
        if layer not in known:
            near = difflib.get_close_matches(layer, known, 3, 0.5) or list(known)[-3:]
            raise InputError(f"{field}: the network has no layer {layer}; near it are {', '.join(near)}.")
        self._module, self._layer, self._field, self._seen = module, layer, field, local()
        # A copy: what follows may work in place.
        if before:
            known[layer].register_forward_pre_hook(lambda _module, inputs: self._see(inputs[0]))
        else:
            known[layer].register_forward_hook(lambda _module, _inputs, output: self._see(output))

    def _see(self, value: Any) -> None:
        self._seen.value = value.clone() if isinstance(value, torch.Tensor) else None
        self._seen.kind = type(value).__name__

    def __call__(self, batch: torch.Tensor) -> torch.Tensor:
        """What flows through the layer for images × 3 × height × width."""
        self._seen.value, self._seen.kind = None, "nothing"
        self._module(batch)
        value: torch.Tensor | None = self._seen.value
        self._seen.value = None
        if value is None or value.ndim < 2 or len(value) != len(batch):
            found = self._seen.kind if value is None else f"a tensor of shape {tuple(value.shape)}"
            raise InputError(
                f"{self._field}: layer {self._layer} gives {found}, not a row for each of {len(batch)} images; "
                "choose another layer."
            )
        return value


def last_linear(module: torch.nn.Module) -> str | None:
    """Name of the last fully connected layer, None where there is none."""
    names = [name for name, layer in module.named_modules() if isinstance(layer, torch.nn.Linear)]
    return names[-1] if names else None
