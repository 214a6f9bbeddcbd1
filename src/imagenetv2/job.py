"""One stage at work: what its function is handed, and the shell that runs it."""

from __future__ import annotations

import importlib
import json
import logging
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from imagenetv2.artifacts import Artifact, Draft, draft, is_complete, publish
from imagenetv2.errors import InputError
from imagenetv2.libraries import versions_of
from imagenetv2.stages import Stage
from imagenetv2.versions import identity

S = TypeVar("S")
LIBRARIES = (
    "imagenetv2", "numpy", "scipy", "pandas", "pyarrow", "pillow", "scikit-image", "scikit-learn",
    "torch", "torchvision", "timm", "boto3", "flickrapi", "snakemake",
)  # fmt: skip


@dataclass(frozen=True)
class Endpoints:
    """Base URLs of services, without a slash at the end; None means the real service's own address."""

    flickr: str | None = None
    photos: str | None = None
    mturk: str | None = None
    s3: str | None = None
    pages: str | None = None

    @classmethod
    def read(cls, path: Path | None) -> Endpoints:
        """From the file that a local server writes when it is ready. Raises InputError for any other."""
        if path is None:
            return cls()
        try:
            return cls(**json.loads(path.read_text("utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise InputError(
                f"{path} holds no addresses of local servers ({error}); name another file."
            ) from error


@dataclass(frozen=True)
class Job:
    """What the function of a stage gets. It reads and writes nothing that isn't reached from here."""

    stage: Stage
    version: str
    versions: Mapping[str, str]
    data: Path
    seed: int
    out: Draft
    endpoints: Endpoints = field(default_factory=Endpoints)
    cores: int = 1
    log: logging.Logger = field(default_factory=lambda: logging.getLogger("imagenetv2"))

    def settings(self, kind: type[S]) -> S:
        """The section of that class. Raises KeyError where the stage does not declare it."""
        for section in self.stage.settings.values():
            if isinstance(section, kind):
                return section
        raise KeyError(f"stage {self.stage.name} does not declare the section {kind.__name__}")

    def read(self, name: str) -> Artifact:
        """The artifact of a stage that this one declares to read. Raises KeyError for any other."""
        if name not in self.stage.reads:
            raise KeyError(f"stage {self.stage.name} does not declare to read {name}")
        return Artifact(folder(self.data, name, self.versions[name]))

    def reads(self, prefix: str) -> dict[str, Artifact]:
        """Artifacts of a family that this stage reads: ``reads("neighbours")`` gives l2, fc7 and ssim."""
        names = [n for n in self.stage.reads if n.startswith(f"{prefix}/")]
        return {n.removeprefix(f"{prefix}/"): self.read(n) for n in names}

    def store(self, name: str) -> Path:
        """A folder for append-only records beside the artifacts, such as downloads; made if absent."""
        path = self.data / "stores" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    @property
    def work(self) -> Path:
        """A folder for the finished pieces of this artifact's long work; it goes when the artifact is published."""
        return workplace(self.data, self.stage.name, self.version)


def workplace(data: Path, stage: str, version: str) -> Path:
    """Where the pieces of an unfinished artifact lie."""
    return data / "stores" / "work" / stage / version


def folder(data: Path, stage: str, version: str) -> Path:
    """Where an artifact lies."""
    return data / stage / version


def run(
    stage: Stage, versions: Mapping[str, str], data: Path, seed: int, *, force: bool = False, **options: Any
) -> bool:
    """Make the artifact of ``stage`` unless it is there whole. Returns whether anything was made."""
    final = folder(data, stage.name, versions[stage.name])
    made = force or not is_complete(final, versions[stage.name], hashes=True)
    if made:
        make(stage, versions, data, seed, final, **options)
    shutil.rmtree(workplace(data, stage.name, versions[stage.name]), ignore_errors=True)
    return made


def make(
    stage: Stage,
    versions: Mapping[str, str],
    data: Path,
    seed: int,
    final: Path,
    function: Callable[[Job], None] | None = None,
    **options: Any,
) -> None:
    """Make an artifact in the folder ``final``, by the stage's function or another in its place."""
    started = datetime.now(UTC)
    facts = {**identity(stage, seed, versions), "version": versions[stage.name]}
    try:
        with draft(stage, final) as out:
            job = Job(stage, versions[stage.name], versions, data, seed, out, **options)
            (function or _function(stage.run))(job)
            out.finish(facts, _circumstances(started))
            publish(out, final)
    except OSError as error:
        # A full disk is often reported without the file's name.
        error.filename = error.filename or str(final)
        raise


def _function(path: str) -> Callable[[Job], None]:
    module, name = path.split(":")
    function: Callable[[Job], None] = getattr(importlib.import_module(module), name)
    return function


def _circumstances(started: datetime) -> dict[str, Any]:
    finished = datetime.now(UTC)
    return {
        "started": started.isoformat(timespec="seconds"),
        "finished": finished.isoformat(timespec="seconds"),
        "seconds": round((finished - started).total_seconds(), 3),
        "python": sys.version.split()[0],
        "libraries": versions_of(LIBRARIES),
        "codecs": _codecs(),
        "commit": _commit(),
    }


def _codecs() -> dict[str, str | None]:
    """Versions of what decodes and encodes pictures, on which their bytes may depend."""
    from PIL import features

    return {name: features.version(name) for name in ("libjpeg_turbo", "zlib_ng", "zlib")}


def _commit() -> str | None:
    here = Path(__file__).parent
    try:
        out = subprocess.run(
            ["git", "-C", here, "describe", "--always", "--dirty", "--abbrev=40"],
            capture_output=True, text=True, timeout=10, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return None
    return out.stdout.strip()
