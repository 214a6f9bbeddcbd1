"""A pretrained network, and what its input has to look like."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

Colour = tuple[float, float, float]


@dataclass(frozen=True)
class Loaded:
    """A network in eval mode with its weights.

    Attributes:
        name: for messages.
        module: takes images × 3 × height × width, float32.
        mean: of red, green and blue, 0 to 255: subtracted from the pixels.
        std: likewise; divides them then.
        side: input size it was trained at, in pixels.
        pooled: its pooled features before the classifier, where its library says which these are.
    """

    name: str
    module: torch.nn.Module
    mean: Colour
    std: Colour
    side: int
    pooled: Callable[[torch.nn.Module, torch.Tensor], torch.Tensor] | None = None


def levels(values: tuple[float, ...]) -> Colour:
    """From the scale 0 to 1 to the scale 0 to 255."""
    red, green, blue = (255.0 * value for value in values)
    return red, green, blue
