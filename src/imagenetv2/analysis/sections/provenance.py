"""What was run: versions of all stages, and settings that are not the defaults."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from imagenetv2.artifacts import Artifact
from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.record.settings import Record
from imagenetv2.settings import versioned
from imagenetv2.stages import Stage

GATHERED = ("sets.",)
"""Sections that stages are handed but that nobody sets."""


def link(stage: str, version: str, file: str = "manifest.json") -> str:
    """Address of a file of an artifact, from the report's own folder or from ``data/latest/report``."""
    return f"../../{stage}/{version}/{file}"


def provenance(artifacts: Mapping[str, Artifact]) -> dict[str, Any]:
    """Versions, and settings that differ from the defaults.

    Returns:
        ``stages``: name, version and address of each stage that the report reads, families of models apart;
        ``models``: the same for models and predictions; ``settings``: key, value and default of each setting
        that differs; ``seed``.
    """
    versions = {name: artifact.version for name, artifact in artifacts.items()}
    for artifact in artifacts.values():
        versions |= artifact.manifest.get("reads", {})
    rows = [
        {"stage": name, "version": version, "link": link(name, version)}
        for name, version in sorted(versions.items())
    ]
    many = ("models/", "predictions/")
    return {
        "stages": [row for row in rows if not row["stage"].startswith(many)],
        "models": [row for row in rows if row["stage"].startswith(many)],
        "settings": differing({n: a.manifest for n, a in artifacts.items()}),
    }


def differing(manifests: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """Settings in ``manifests``, by stage, that are not what the default configuration has.

    A setting that the default configuration does not know, such as those of another model, has no default.
    """
    config = Config()
    if any(name.startswith("record/") for name in manifests):
        config = Config(record=Record(path=Path()))
    defaults = stages(config)
    found: dict[str, dict[str, str]] = {}
    for name, manifest in manifests.items():
        usual = dict(_default(defaults[name])) if name in defaults else {}
        for key, value in leaves(manifest.get("settings", {})):
            if (key in usual and usual[key] == value) or key.startswith(GATHERED):
                continue
            default = _plain(usual[key]) if key in usual else ""
            found[key] = {"key": key, "value": _plain(value), "default": default}
        seed = manifest.get("seed")
        if seed is not None and seed != config.seed:
            found["seed"] = {"key": "seed", "value": str(seed), "default": str(config.seed)}
    return [found[key] for key in sorted(found)]


def _default(stage: Stage) -> Iterator[tuple[str, Any]]:
    settings = {name: versioned(section) for name, section in stage.settings.items()}
    return leaves(settings)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every leaf of nested mappings with its dotted path; lists are leaves."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, value


def _plain(value: Any) -> str:
    if isinstance(value, list):
        return "; ".join(map(_plain, value)) if any(isinstance(v, Mapping) for v in value) else _row(value)
    if isinstance(value, Mapping) and value:
        return ", ".join(f"{key} {_plain(inner)}" for key, inner in value.items())
    if value is None or value == {}:
        return "none"
    return str(value)


def _row(values: list[Any]) -> str:
    return ", ".join(map(_plain, values)) or "none"
