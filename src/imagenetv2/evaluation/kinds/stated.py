"""The preprocessing of a network that comes without a library: what it states itself, what is given, and the usual."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Literal

from pydantic import Field, ValidationError

from imagenetv2.errors import InputError
from imagenetv2.evaluation.inputs import UNKNOWN, from_timm, from_torchvision, replaced
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing, Size
from imagenetv2.evaluation.settings import Colour, Input, Model
from imagenetv2.settings import Section

SHARE = 0.875
"""Of the shorter side that is cut out where nothing is said."""


class Stated(Section):
    """What a network says of its input; what it leaves out is as usual."""

    size: int | Size | None = Field(None, description="Side in pixels, or height and width.")
    resize: int | Size | None = Field(
        None, description="Length of the shorter side, or height and width, before."
    )
    crop: float | None = Field(None, gt=0, le=1, description="Share of the shorter side, in place of resize.")
    interpolation: Literal["nearest", "bilinear", "bicubic", "lanczos"] | None = None
    mean: Colour | None = None
    std: Colour | None = None
    divisor: float | None = Field(
        None, gt=0, description="Brings levels of 0 to 255 to the scale of mean and std."
    )


def facts(model: Model, stated: Any, source: str, size: Size | None = None) -> dict[str, Any]:
    """Preprocessing as JSON, and ``assumed``: the names of its parts that nobody stated, which are as usual.

    Args:
        model: whose ``input`` goes before anything else.
        stated: fields of ``Stated``, or ``Preprocessing.to_json``, or a configuration of timm's, or a transform of
            torchvision's weights; None for nothing.
        source: where ``stated`` is from, for errors.
        size: what the network takes, where it takes no other.

    Raises:
        InputError: what is stated is no preprocessing, or a size differs from ``size``.
    """
    preprocessing, open_parts = _read(stated, f"models: {model.name}: {source}", size, model.input)
    if size is not None and preprocessing.cut.size != size:
        found, wanted = (" × ".join(map(str, s)) for s in (preprocessing.cut.size, size))
        raise InputError(
            f"models: {model.name}: its input is {wanted} pixels, not {found} as its settings or {source} say; "
            "correct size there."
        )
    given = {name for name, value in model.input.model_dump().items() if value is not None}
    if "crop" in given:
        given.add("resize")
    assumed = [name for name in open_parts if name not in given]
    return {"preprocessing": preprocessing.to_json(), "assumed": assumed}


def _read(stated: Any, where: str, size: Size | None, given: Input) -> tuple[Preprocessing, list[str]]:
    """What is stated, with what is given in its place, and which parts nobody stated."""
    if hasattr(stated, "crop_size"):
        return from_torchvision(stated, given), []
    if stated is not None and not isinstance(stated, Mapping):
        raise InputError(
            f"{where} is a {type(stated).__name__}, not a table with size, resize, mean and so on."
        )
    try:
        if stated and "cut" in stated:
            return replaced(Preprocessing.from_json(stated), given), []
        if stated and "input_size" in stated:
            return from_timm(_resolved(stated), given), []
        fields = Stated.model_validate(dict(stated or {}))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"][:1])
        known = ", ".join(Stated.model_fields)
        raise InputError(f"{where}: {field}: {first['msg']}; state {known} as they are described.") from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{where} cannot be understood ({error}); state size, resize, mean and std."
        ) from error
    if given.size is not None and fields.resize is None:
        # A share is of the size that is given, not of one that was rounded before.
        fields = fields.model_copy(update={"size": given.size})
    base, open_parts = _of(fields, size)
    return replaced(base, given), open_parts


def _of(fields: Stated, size: Size | None) -> tuple[Preprocessing, list[str]]:
    own = (fields.size, fields.size) if isinstance(fields.size, int) else fields.size
    side = own or size or UNKNOWN.cut.size
    resize = fields.resize or math.floor(max(side) / (fields.crop or SHARE))
    cut = Cut(side, resize, fields.interpolation or UNKNOWN.cut.interpolation)
    divisor = fields.divisor or UNKNOWN.divisor
    usual = replace(UNKNOWN, cut=cut, divisor=divisor)
    base = replace(usual, mean=fields.mean or usual.mean, std=fields.std or usual.std)
    known = {
        "size": own or size,
        "resize": fields.resize or fields.crop,
        "interpolation": fields.interpolation,
        "mean": fields.mean,
        "std": fields.std,
    }
    return base, [name for name, value in known.items() if value is None]


def _resolved(config: Mapping[str, Any]) -> Any:
    import timm

    library: Any = timm.data
    return library.resolve_data_config({}, pretrained_cfg=dict(config))
