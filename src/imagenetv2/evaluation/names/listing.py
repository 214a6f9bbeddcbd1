"""What models a list of names comes to: as a table for people, and as entries of a configuration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from imagenetv2.analysis.wording import grid, plural
from imagenetv2.evaluation.classifier import Facts, outline
from imagenetv2.evaluation.names import input_words, published
from imagenetv2.evaluation.names.published import Known
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.settings import Model

HEADINGS = ("name", "library", "network", *input_words.HEADINGS, "cut", "in the study")


@dataclass(frozen=True)
class Listed:
    """A model, what its library says of it, and what the study does."""

    model: Model
    facts: Facts
    known: Known | None

    @property
    def preprocessing(self) -> Preprocessing:
        """Of its input."""
        return Preprocessing.from_json(self.facts["preprocessing"])


def listed(models: Sequence[Model]) -> list[Listed]:
    """Look each model up, without its weights. Raises InputError where one is not to be had."""
    return [Listed(model, outline(model), published.known(model)) for model in models]


def table(found: Sequence[Listed]) -> str:
    """One line a model; models with one number under cut share decoding and resizing. Then how many that makes."""
    numbers: dict[Cut, int] = {}
    for one in found:
        numbers.setdefault(one.preprocessing.cut, len(numbers) + 1)
    rows = [_row(one, numbers[one.preprocessing.cut]) for one in found]
    lines = grid(dict(zip(HEADINGS, map(list, zip(*rows, strict=True)), strict=True)), left=True)
    models, cuts = plural(len(found), "model"), plural(len(numbers), "time")
    return "\n".join((*lines, f"{models}; every image is cut {cuts}, once for each number under cut"))


def entries(models: Sequence[Model]) -> str:
    """The section ``models`` of a configuration, one line a model, without what is as by default."""
    lines = [f"  - {_flow(model.model_dump(mode='json', exclude_defaults=True))}" for model in models]
    return "\n".join(("models:", *lines))


def _row(one: Listed, number: int) -> tuple[str, ...]:
    facts = one.facts
    network = ".".join(filter(None, (str(facts["architecture"]), str(facts.get("tag") or ""))))
    words = (value or "–" for value in input_words.parts(one.preprocessing).values())
    return (one.model.name, str(facts["library"]), network, *words, str(number), _study(one.known))


def _study(known: Known | None) -> str:
    if known is None:
        return ""
    return known.row.name if known.same_input else f"{known.row.name} (other input)"


def _flow(value: Any) -> str:
    return yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, width=10_000, allow_unicode=True
    ).removesuffix("\n")
