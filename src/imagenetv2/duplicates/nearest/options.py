"""What is compared and how, from the options of a command line; the defaults are those of the configuration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from imagenetv2.duplicates.modes import STUDY, known_cutoff
from imagenetv2.duplicates.settings import Metric, Neighbours
from imagenetv2.errors import InputError

OWN = "efficientnet_lite0"
"""The default network, whose weights are always there."""


@dataclass(frozen=True)
class Wanted:
    """A metric with its settings, and the distance at or below which a pair is worth a look; None: not known."""

    metric: str
    section: Metric
    cutoff: float | None

    @property
    def side(self) -> int:
        """Pixels of a side to which pictures are squashed."""
        return int(getattr(self.section, "side"))  # noqa: B009 - every metric on pictures has it


def wanted(metric: str, given: Mapping[str, Any], study: bool) -> Wanted:
    """Settings of a metric from option names and values; options that are None are not given.

    With ``study`` its settings hold where no option says otherwise; if none that a cut-off belongs to does, all pairs
    within its cut-off are kept. Raises InputError naming the option and what it may be.
    """
    kind = _kind(metric)
    values = {name: value for name, value in given.items() if value is not None}
    for name in values:
        if not has(metric, name):
            raise InputError(f"--{name} has no meaning for --metric {metric}; leave it out.")
    base = STUDY[metric].model_dump(exclude_unset=True) if study and metric in STUDY else {}
    _refuse_weights({**base, **values})
    mode = _section(kind, {**base, **{name: v for name, v in values.items() if name not in ("k", "within")}})
    cutoff = known_cutoff(metric, mode)
    if study and cutoff is not None:
        base["within"] = cutoff
    base |= values
    if base.get("k") == 0 and base.get("within") is None:
        raise InputError("-k 0 keeps nothing; give --within, or a -k of at least 1.")
    section = _section(kind, base)
    _require_room(getattr(section, "window", 0), getattr(section, "side", 0))
    return Wanted(metric, section, values.get("within", cutoff))


def has(metric: str, name: str) -> bool:
    """Whether the settings of a metric have one of that name."""
    return name in _kind(metric).model_fields


def _kind(metric: str) -> type[Metric]:
    return type(getattr(Neighbours(), metric))


def _refuse_weights(values: Mapping[str, Any]) -> None:
    if "weights" in values and values.get("network", OWN) == OWN:
        raise InputError(
            f"--weights: {OWN} brings its own; leave out --weights, or set --network to what they belong to, such as "
            f"timm:tf_{OWN}."
        )


def _section(kind: type[Metric], values: Mapping[str, Any]) -> Metric:
    try:
        return kind(**values)
    except ValidationError as error:
        raise InputError(_sentence(error)) from error


def _require_room(window: int, side: int) -> None:
    if window > side:
        raise InputError(
            f"--window {window} does not fit into images of --side {side}; take a window of at most "
            f"{side - 1 + side % 2}, or a larger side."
        )


def _sentence(error: ValidationError) -> str:
    first = error.errors()[0]
    message = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return f"{message[0].upper()}{message[1:]}."
    option = "-k" if first["loc"][0] == "k" else f"--{first['loc'][0]}"
    return f"{option} {first['input']}: {message[0].lower()}{message[1:]}."
