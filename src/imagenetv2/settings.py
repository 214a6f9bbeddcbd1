"""The base of all configuration sections, and fields that change how but not what."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Section(BaseModel):
    """A section of the configuration: unknown keys are errors, values do not change after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_default=True)


def operational(default: Any, description: str, **constraints: Any) -> Any:
    """A field that says where or how fast, not what: it is left out of every version."""
    return Field(default, description=description, json_schema_extra={"versioned": False}, **constraints)


def versioned(model: BaseModel) -> dict[str, Any]:
    """The settings that determine a result, as JSON values, without operational fields."""
    out: dict[str, Any] = {}
    for name, info in type(model).model_fields.items():
        extra = info.json_schema_extra
        if isinstance(extra, dict) and extra.get("versioned") is False:
            continue
        out[name] = _plain(getattr(model, name))
    return out


def _plain(value: Any) -> Any:
    if isinstance(value, BaseModel):
        return versioned(value)
    if isinstance(value, list | tuple):
        return [_plain(v) for v in value]
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
