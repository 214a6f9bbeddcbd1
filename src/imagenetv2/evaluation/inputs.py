"""What a network wants as input: what its library says of it, and what the configuration says instead."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from imagenetv2.evaluation.preprocessing import Cut, Fit, Preprocessing, Size
from imagenetv2.evaluation.settings import Colour, Input

UNKNOWN = Preprocessing(Cut.square(224, 256))
"""Of a network that says nothing of its input: what most are trained for."""


def from_timm(config: Mapping[str, Any], given: Input | None = None) -> Preprocessing:
    """Of timm's data configuration, as ``timm.data.create_transform`` has it for evaluation.

    Args:
        config: input_size (channels, height, width), interpolation, crop_pct, crop_mode, mean and std, as from
            ``timm.data.resolve_data_config``.
        given: what replaces it.
    """
    given = given or Input()
    size = tuple(config["input_size"][1:]) if given.size is None else (given.size, given.size)
    mean: Colour = given.mean or tuple(config["mean"])
    share = given.crop or config["crop_pct"]
    box = (math.floor(size[0] / share), math.floor(size[1] / share))
    fill = (0, 0, 0)
    resize: int | Size = box
    fit: Fit = "squash"
    if given.resize is not None:
        resize = given.resize
    elif config["crop_mode"] == "border":
        fit, fill = "inside", _levels(mean)
    elif config["crop_mode"] != "squash":
        if box[0] == box[1]:
            resize = box[0]
        else:
            fit = "around"
    cut = Cut(size, resize, given.interpolation or config["interpolation"], fit, fill)
    return Preprocessing(cut, mean, given.std or tuple(config["std"]))


def from_torchvision(transform: Any, given: Input | None = None) -> Preprocessing:
    """Of what ``transforms()`` of torchvision's weights gives; ``given`` replaces parts of it."""
    size, resize = (_pair(value) for value in (transform.crop_size, transform.resize_size))
    cut = Cut(size, resize[0] if len(transform.resize_size) == 1 else resize, transform.interpolation.value)
    return replaced(Preprocessing(cut, tuple(transform.mean), tuple(transform.std)), given or Input())


def replaced(base: Preprocessing, given: Input) -> Preprocessing:
    """With the parts that are given.

    Where only the size is, the share that is cut out stays what it was, up to the whole pixel of ``resize``, which is
    rounded down as timm does.
    """
    cut = base.cut
    size = cut.size if given.size is None else (given.size, given.size)
    resize = cut.resize
    if given.resize is not None:
        resize = given.resize
    elif given.crop is not None:
        box = (math.floor(size[0] / given.crop), math.floor(size[1] / given.crop))
        resize = box if isinstance(resize, tuple) else min(box)
    elif isinstance(resize, int):
        resize = resize * min(size) // min(cut.size)
    elif resize is not None:
        resize = (resize[0] * size[0] // cut.size[0], resize[1] * size[1] // cut.size[1])
    # Colours are given on the scale 0 to 1, and the network's may be on another.
    scale = 255.0 / base.divisor
    return replace(
        base,
        cut=replace(cut, size=size, resize=resize, interpolation=given.interpolation or cut.interpolation),
        mean=base.mean if given.mean is None else _times(given.mean, scale),
        std=base.std if given.std is None else _times(given.std, scale),
    )


def _times(values: Colour, scale: float) -> Colour:
    red, green, blue = (value * scale for value in values)
    return red, green, blue


def _levels(values: Colour) -> tuple[int, int, int]:
    red, green, blue = (round(255 * value) for value in values)
    return red, green, blue


def _pair(value: Any) -> Size:
    first, *rest = value
    return int(first), int(rest[0] if rest else first)
