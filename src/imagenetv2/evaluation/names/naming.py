"""Names for models: recognisable, safe as names of files, and no two alike."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.evaluation.settings import Input, Model

LONGEST = 100
"""Characters: names of files have at most 255 bytes, and more is added to some."""


@dataclass(frozen=True)
class Named:
    """A model, and whether its name was asked for."""

    model: Model
    asked: bool = False


def safe(text: str) -> str:
    """Letters, digits, dots, - and _, with a letter or digit first; anything else becomes -."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text).strip("-")
    return re.sub(r"^[._-]+", "", plain)[:LONGEST] or "model"


def of_file(file: Path, network: str = "") -> str:
    """Name of a model in a file, from the file's name and the network's."""
    return safe(f"{network}-{file.stem}" if network else file.stem)


def of_input(given: Input) -> str:
    """What is added to a library's name where the input is not the library's own, such as ``-size288-crop1.0``."""
    values = given.model_dump(exclude_none=True)
    return "".join(
        f"-{key}{','.join(map(str, v)) if isinstance(v := values[key], tuple) else v}" for key in values
    )


def distinct(found: Sequence[Named]) -> tuple[Model, ...]:
    """The models in their order, each once, with names that differ in more than case.

    Names that were asked for stay; of the others, one that is taken gets -2, -3, … Raises InputError where two models
    are to have one name.
    """
    once: dict[str, Named] = {}
    for entry in found:
        once.setdefault(_identity(entry.model), entry)
    taken: set[str] = set()
    for entry in once.values():
        if entry.asked and entry.model.name.casefold() in taken:
            raise InputError(
                f"models: {entry.model.name}: two models are to have this name; give one of them another with ?name=…."
            )
        if entry.asked:
            taken.add(entry.model.name.casefold())
    return tuple(entry.model if entry.asked else _free(entry.model, taken) for entry in once.values())


def _free(model: Model, taken: set[str]) -> Model:
    """The model under a name that is not taken, which then is."""
    name, number = model.name, 2
    while name.casefold() in taken:
        name, number = f"{model.name}-{number}", number + 1
    taken.add(name.casefold())
    return model.model_copy(update={"name": name})


def _identity(model: Model) -> str:
    weights = None if model.weights is None else str(model.weights.resolve())
    return repr((model.model_dump(exclude={"name", "family", "weights"}), weights))
