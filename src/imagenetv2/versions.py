"""What version each stage's artifact has under a configuration: known before anything runs.

A version is the first ten hex digits of a SHA-256 over the stage's name, its algorithm version, its settings,
the content of the outside files it reads, and the versions of the artifacts it reads.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from imagenetv2.errors import InputError
from imagenetv2.settings import versioned
from imagenetv2.stages import Stage

CONTENT_LIMIT = 1_000_000_000


def identity(stage: Stage, seed: int, versions: Mapping[str, str]) -> dict[str, Any]:
    """Everything that determines the artifact of ``stage``, as JSON values."""
    settings = {name: versioned(section) for name, section in sorted(stage.settings.items())}
    return {
        "stage": stage.name,
        "algorithm": stage.algorithm,
        "settings": settings,
        "seed": seed if stage.seed else None,
        "outside": {name: digest_outside(name, path) for name, path in sorted(stage.outside.items())},
        "reads": {name: versions[name] for name in sorted(stage.reads)},
    }


def plan(stages: Mapping[str, Stage], seed: int) -> dict[str, str]:
    """Versions of all stages, by name, in an order in which each comes after what it reads."""
    versions: dict[str, str] = {}
    waiting = dict(sorted(stages.items()))
    while waiting:
        ready = [s for s in waiting.values() if all(r in versions for r in s.reads)]
        if not ready:
            raise ValueError(
                f"stages read each other in a circle or read what isn't there: {sorted(waiting)}"
            )
        for stage in ready:
            text = json.dumps(identity(stage, seed, versions), sort_keys=True, ensure_ascii=False)
            versions[stage.name] = hashlib.sha256(text.encode()).hexdigest()[:10]
            del waiting[stage.name]
    return versions


def digest_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def digest_outside(field: str, path: Path) -> str:
    """Digest of an outside input: the bytes of a file, or of all files of a folder, with their names.

    Hidden files and folders within a folder do not count: what version control and file managers keep there differs
    between copies of the same thing. Of a folder above ``CONTENT_LIMIT`` bytes only names and sizes count: reading
    ImageNet before every job would take hours. Raises InputError where nothing is there.
    """
    if path.is_file():
        return digest_file(path)
    if not path.is_dir():
        raise InputError(f"{field}: {path} does not exist; correct the path in the configuration.")
    files = {f: f.relative_to(path) for f in sorted(path.rglob("*")) if f.is_file()}
    shown = [f for f, name in files.items() if not any(part.startswith(".") for part in name.parts)]
    sizes = {f: f.stat().st_size for f in shown}
    small = sum(sizes.values()) <= CONTENT_LIMIT
    rows = [
        f"{f.relative_to(path).as_posix()}\t{size}\t{digest_file(f) if small else ''}"
        for f, size in sizes.items()
    ]
    return hashlib.sha256("\n".join(rows).encode()).hexdigest()
