"""Networks compiled by torch.compile, each once for each shape of its input."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock

import torch

BACKEND = "inductor"


def compiled(module: torch.nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    """The same function of images, compiled when it is first called with a shape; for several threads."""
    run, known, lock = _apart(module), set[torch.Size](), Lock()

    def forward(images: torch.Tensor) -> torch.Tensor:
        if images.shape in known:
            return run(images)
        with lock:  # All who come before it is compiled would compile it.
            found = run(images)
        known.add(images.shape)
        return found

    return forward


def _apart(module: torch.nn.Module) -> Callable[[torch.Tensor], torch.Tensor]:
    def forward(images: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = module(images)
        return found

    # PyTorch compiles one piece of Python for eight different networks and then, with a warning, no more: of a class
    # of networks, such as timm's EfficientNet, the ninth would not be compiled. So each network is a piece of its own.
    forward.__code__ = forward.__code__.replace()
    # With a second shape it would otherwise guess that shapes vary, and be slower with all.
    made: Callable[[torch.Tensor], torch.Tensor] = torch.compile(forward, dynamic=False, backend=BACKEND)
    return made
