"""From configuration files to a validated ``Config``: every fault in one readable line, all at once."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ValidationError

from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.stages import Stage

DEFAULT = Path("config/config.yaml")


def load(files: Sequence[Path]) -> Config:
    """Lay the files over the defaults, the later over the earlier, and validate.

    Raises InputError with one line a fault.
    """
    merged: dict[str, Any] = {}
    for file in files:
        merged = lay_over(merged, read_yaml(file))
    return validate(merged, files)


def read_yaml(file: Path) -> dict[str, Any]:
    """A configuration file as a mapping. Raises InputError where it is missing or no mapping."""
    try:
        value = yaml.safe_load(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}); correct the path.") from error
    except yaml.YAMLError as error:
        where = f" at line {error.problem_mark.line + 1}" if getattr(error, "problem_mark", None) else ""  # type: ignore[attr-defined]
        raise InputError(
            f"{file}: not YAML{where}: {getattr(error, 'problem', error)}; mend the file."
        ) from error
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise InputError(
            f"{file}: holds a {type(value).__name__}, not sections with values; see config/README.md."
        )
    return value


def lay_over(base: Mapping[str, Any], top: Mapping[str, Any]) -> dict[str, Any]:
    """Mappings are merged key by key; anything else, lists too, is replaced."""
    merged = dict(base)
    for key, value in top.items():
        old = merged.get(key)
        both = isinstance(old, Mapping) and isinstance(value, Mapping)
        merged[key] = lay_over(old, value) if both else value  # type: ignore[arg-type]
    return merged


def validate(values: Mapping[str, Any], files: Sequence[Path] = ()) -> Config:
    """Validate merged values; ``files`` are only searched to name the one that a fault comes from."""
    try:
        return Config.model_validate(dict(values))
    except ValidationError as error:
        faults = list(_faults(error, values))
        bad = [place for place, _ in faults]
        # Contradictions only show once each value is sound by itself.
        sound = _without(values, bad)
        try:
            Config.model_validate(sound)
        except ValidationError as second:
            faults += [f for f in _faults(second, sound) if f not in faults and not _mentions(f[1], bad)]
        lines = [f"{_origin(place, files)}: {text}" for place, text in faults]
        raise InputError("The configuration has faults:\n  " + "\n  ".join(lines)) from None


def require_outside(stages: Iterable[Stage]) -> None:
    """Raise InputError naming every outside file that the configuration names and that is not there."""
    missing = {
        f"{field}: {path} does not exist; correct the path or build it (see README.md)"
        for stage in stages
        for field, path in stage.outside.items()
        if not Path(path).exists()
    }
    if missing:
        raise InputError("The configuration names files that are missing:\n  " + "\n  ".join(sorted(missing)))


def _without(values: Any, places: Sequence[tuple[str, ...]]) -> Any:
    """A copy in which values at those places, or what holds them where that is a list, are left out."""
    if not isinstance(values, Mapping):
        return values
    kept = {}
    for key, value in values.items():
        inner = [place[1:] for place in places if place and place[0] == key]
        if not any(len(place) == 0 for place in inner) and not (inner and isinstance(value, list)):
            kept[key] = _without(value, inner) if inner else value
    return kept


def _mentions(text: str, places: Sequence[tuple[str, ...]]) -> bool:
    return any(".".join(place) in text for place in places if place)


def _faults(error: ValidationError, values: Mapping[str, Any]) -> Iterable[tuple[tuple[str, ...], str]]:
    for item in error.errors():
        place = tuple(str(part) for part in item["loc"])
        dotted = ".".join(place)
        message = item["msg"].removeprefix("Value error, ")
        if item["type"] == "extra_forbidden":
            yield place, f"{dotted}: unknown key{_suggestion(place)}"
        elif not place:
            for line in message.splitlines():
                yield tuple(line.split(":")[0].split(".")), line
        elif item["type"] == "value_error":
            yield place, f"{dotted}: {message}"
        elif item["type"] == "missing":
            yield place, f"{dotted}: is required; add it"
        else:
            yield place, f"{dotted}: {item['input']!r} is not allowed: {message[0].lower()}{message[1:]}"


def _suggestion(place: tuple[str, ...]) -> str:
    model: Any = Config
    for part in place[:-1]:
        model = _inner(model, part)
        if model is None:
            return ""
    close = difflib.get_close_matches(place[-1], model.model_fields, 1, 0.6)
    return f"; did you mean {close[0]}?" if close else f"; known are {', '.join(model.model_fields)}"


def _inner(model: type[BaseModel], part: str) -> type[BaseModel] | None:
    if part.isdigit():
        return model
    info = model.model_fields.get(part)
    if info is None:
        return None
    kinds = [info.annotation, *getattr(info.annotation, "__args__", ())]
    return next((k for k in kinds if isinstance(k, type) and issubclass(k, BaseModel)), None)


def _origin(place: tuple[str, ...], files: Sequence[Path]) -> str:
    """The last file that sets the faulty value or, failing that, its section."""
    for depth in range(len(place), 0, -1):
        for file in reversed(files):
            if _has(read_yaml(Path(file)), place[:depth]):
                return str(file)
    return "configuration"


def _has(value: Any, place: tuple[str, ...]) -> bool:
    for part in place:
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        else:
            return False
    return True
