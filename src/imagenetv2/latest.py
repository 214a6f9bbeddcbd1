"""``data/latest``: links to the versions of the last complete run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import yaml

from imagenetv2.artifacts import is_complete
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
    for stage, target in links(plan).items():
        link = latest / stage
        link.parent.mkdir(parents=True, exist_ok=True)
        draft = link.parent / f".{link.name}-{os.getpid()}"
        draft.unlink(missing_ok=True)
        draft.symlink_to(target, target_is_directory=True)
        draft.replace(link)
    values = plan.config.model_dump(mode="json")
    _write(latest / "config.yaml", yaml.safe_dump(values, sort_keys=False, allow_unicode=True))
    _write(latest / "versions.json", json.dumps(dict(sorted(plan.versions.items())), indent=2) + "\n")


def links(plan: Plan) -> dict[str, str]:
    """Target of each stage's link, relative to the link's folder."""
    found = {}
    for stage, version in plan.versions.items():
        up = "../" * (stage.count("/") + 1)
        found[stage] = f"{up}{stage}/{version}"
    return found


def is_whole(plan: Plan) -> bool:
    """Whether every link of ``data/latest`` is there and points where this plan's artifacts lie."""
    latest = plan.data / "latest"
    try:
        same = all((latest / stage).readlink() == Path(target) for stage, target in links(plan).items())
    except OSError:
        return False
    return same and (latest / "config.yaml").is_file()


def _remove_old(latest: Path, stages: set[str]) -> None:
    for path in sorted(latest.rglob("*"), reverse=True):
        name = path.relative_to(latest).as_posix()
        if path.is_symlink() and name not in stages:
            path.unlink()
        elif path.is_dir() and not path.is_symlink() and not any(path.iterdir()):
            path.rmdir()


def _write(path: Path, text: str) -> None:
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.write_text(text, "utf-8")
    draft.replace(path)
