"""``data/latest``: links to the versions of the last complete run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

import yaml

from imagenetv2.artifacts import is_complete
from imagenetv2.atomically import write_bytes
from imagenetv2.errors import InputError
from imagenetv2.plan import Plan


def point(plan: Plan) -> None:
    """Make ``data/latest`` say what this plan made. Raises InputError where a stage is not complete."""
    absent = [s for s in plan.stages if not is_complete(plan.folder(s), plan.versions[s])]
    if absent:
        raise InputError(f"{', '.join(absent)} are not complete; run snakemake.")
    latest = plan.data / "latest"
    latest.mkdir(parents=True, exist_ok=True)
    _remove_old(latest, set(plan.stages))
    for stage, target in links(plan.versions).items():
        link = latest / stage
        link.parent.mkdir(parents=True, exist_ok=True)
        draft = link.parent / f".{link.name}-{os.getpid()}"
        draft.unlink(missing_ok=True)
        draft.symlink_to(target, target_is_directory=True)
        draft.replace(link)
    values = plan.config.model_dump(mode="json")
    text = yaml.safe_dump(values, sort_keys=False, allow_unicode=True)
    write_bytes(latest / "config.yaml", text.encode())
    text = json.dumps(dict(sorted(plan.versions.items())), indent=2) + "\n"
    write_bytes(latest / "versions.json", text.encode())


def links(versions: Mapping[str, str]) -> dict[str, str]:
    """Target of each stage's link, relative to the link's folder."""
    return {
        stage: f"{'../' * (stage.count('/') + 1)}{stage}/{version}" for stage, version in versions.items()
    }


def is_sound(data: Path) -> bool:
    """Whether ``data/latest`` is what ``point`` left: every stage that versions.json names has its link."""
    latest = data / "latest"
    try:
        versions = json.loads((latest / "versions.json").read_text("utf-8"))
        return (latest / "config.yaml").is_file() and all(
            (latest / stage).readlink() == Path(target) for stage, target in links(versions).items()
        )
    except (OSError, ValueError, AttributeError):
        return False


def _remove_old(latest: Path, stages: set[str]) -> None:
    for path in sorted(latest.rglob("*"), reverse=True):
        name = path.relative_to(latest).as_posix()
        if path.is_symlink() and name not in stages:
            path.unlink()
        elif path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()
