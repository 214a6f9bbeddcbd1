"""A run as planned: the configuration, its stages, their versions, and where everything lies."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from imagenetv2 import versions
from imagenetv2.artifacts import MANIFEST, RUN
from imagenetv2.atomically import write_bytes
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.graph import stages as all_stages
from imagenetv2.job import folder
from imagenetv2.loading import DEFAULT, load, require_outside, validate
from imagenetv2.stages import Stage


@dataclass(frozen=True)
class Plan:
    """Everything that is known before anything runs."""

    config: Config
    stages: Mapping[str, Stage]
    versions: Mapping[str, str]
    data: Path

    @classmethod
    def of(cls, config: Config, data: Path = Path("data")) -> Plan:
        """Plan a run. Raises InputError where outside files are missing."""
        stages = all_stages(config)
        require_outside(stages.values())
        return cls(config, stages, versions.plan(stages, config.seed), data)

    @classmethod
    def load(cls, files: Sequence[Path], data: Path = Path("data")) -> Plan:
        """Plan a run from configuration files."""
        return cls.of(load(files), data)

    @classmethod
    def merged(cls, values: Mapping[str, Any], files: Sequence[Path], data: Path) -> tuple[Plan, Path]:
        """Plan a run from merged values, which are first written to ``data/config/<digest>.yaml``."""
        path = write_merged(values, data)
        return cls.of(validate(values, files), data), path

    def folder(self, stage: str) -> Path:
        """Where the artifact of a stage lies."""
        return folder(self.data, stage, self.versions[stage])

    def manifest(self, stage: str) -> str:
        """Path of its manifest, which stands for the artifact."""
        return str(self.folder(stage) / MANIFEST)

    def files(self, stage: str) -> list[str]:
        """Paths of all files of its artifact."""
        names = (MANIFEST, RUN, *(f.name for f in self.stages[stage].files))
        return [str(self.folder(stage) / name) for name in names]

    def inputs(self, *stages: str) -> list[str]:
        """Manifests of what one or several stages read, sorted."""
        return sorted({self.manifest(name) for stage in stages for name in self.stages[stage].reads})

    def family(self, prefix: str) -> list[str]:
        """Names of the stages below a prefix, such as ``neighbours``."""
        return [name for name in self.stages if name.startswith(f"{prefix}/")]


def in_order(files: Sequence[str | Path]) -> list[Path]:
    """Configuration files as Snakemake names them, the defaults first, relative to the working directory."""
    here = Path.cwd()
    found = [p.relative_to(here) if (p := here / file).is_relative_to(here) else p for file in files]
    return sorted(found, key=lambda file: file != DEFAULT)


def write_merged(values: Mapping[str, Any], data: Path) -> Path:
    """Write the merged configuration where errors can point to it, named by its content."""
    text = yaml.safe_dump(dict(values), sort_keys=True, allow_unicode=True)
    path = data / "config" / f"{hashlib.sha256(text.encode()).hexdigest()[:10]}.yaml"
    try:
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            write_bytes(path, text.encode())
    except OSError as error:
        raise InputError(
            f"{path} cannot be written ({error.strerror}); make {data} a folder that you may write to."
        ) from error
    return path
