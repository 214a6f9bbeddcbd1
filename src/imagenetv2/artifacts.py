"""Versioned artifacts: written as a whole or not at all, and read with their declaration checked.

An artifact is the folder ``data/<stage>/<version>/``. ``manifest.json`` in it holds what must be the same on
every machine (settings, versions read, digests of files); ``run.json`` holds what may differ (times, commit,
library versions). A folder without ``manifest.json`` is not an artifact.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.errors import InputError
from imagenetv2.stages import Stage
from imagenetv2.tables import Table
from imagenetv2.versions import digest_file

if TYPE_CHECKING:
    import pandas as pd

MANIFEST = "manifest.json"
RUN = "run.json"


@dataclass(frozen=True)
class Artifact:
    """A complete artifact, for reading."""

    folder: Path

    @cached_property
    def manifest(self) -> dict[str, Any]:
        """The parsed ``manifest.json``. Raises InputError where the artifact is absent or unreadable."""
        path = self.folder / MANIFEST
        try:
            manifest: dict[str, Any] = json.loads(path.read_text("utf-8"))
        except FileNotFoundError as error:
            raise InputError(
                f"{self.folder} is not there or not complete; run snakemake to make it."
            ) from error
        except ValueError as error:
            raise InputError(f"{path} is damaged ({error}); delete the folder and run snakemake.") from error
        return manifest

    @property
    def version(self) -> str:
        """Ten hex digits."""
        return str(self.manifest["version"])

    def path(self, name: str) -> Path:
        """The path of one of its files. Raises InputError where the manifest does not name it."""
        if name not in self.manifest["files"]:
            raise InputError(f"{self.folder} holds no {name}; it holds {', '.join(self.manifest['files'])}.")
        return self.folder / name

    def table(self, name: str) -> pd.DataFrame:
        """A table of it by file name (``.parquet`` may be left out), sorted by its key."""
        import pandas as pd

        path = self.path(name if name.endswith(".parquet") else f"{name}.parquet")
        try:
            return pd.read_parquet(path)
        except (OSError, ValueError) as error:
            raise InputError(f"{path} cannot be read ({error}); delete it and run snakemake.") from error

    def json(self, name: str) -> Any:
        """A JSON file of it."""
        return json.loads(self.path(name).read_text("utf-8"))

    def damage(self, *, hashes: bool = True) -> list[str]:
        """What is wrong with its files, one line each; sizes only where ``hashes`` is false."""
        found = []
        for name, facts in self.manifest["files"].items():
            path = self.folder / name
            if not path.is_file():
                found.append(f"{path} is missing")
            elif path.stat().st_size != facts["bytes"]:
                found.append(f"{path} has {path.stat().st_size} bytes, not {facts['bytes']}")
            elif hashes and digest_file(path) != facts["sha256"]:
                found.append(f"{path} has another SHA-256 than its manifest says")
        return found


class Draft:
    """An artifact being written, in a hidden folder beside its final place."""

    def __init__(self, stage: Stage, folder: Path) -> None:
        self.stage, self.folder = stage, folder
        self._rows: dict[str, int] = {}

    def path(self, name: str) -> Path:
        """Where to write a declared file. Raises KeyError for a name that the stage does not declare."""
        if name not in {f.name for f in self.stage.files}:
            raise KeyError(f"stage {self.stage.name} declares no file {name}")
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        return path

    def table(self, name: str, frame: pd.DataFrame) -> None:
        """Write a declared table; the frame is checked and sorted (see ``Table.to_arrow``)."""
        import pyarrow.parquet as pq

        declared = self.stage.table(name)
        pq.write_table(declared.to_arrow(frame), self.path(declared.name), compression="zstd")
        self._rows[declared.name] = len(frame)

    def json(self, name: str, value: Any) -> None:
        """Write a declared JSON file with sorted keys."""
        self.text(
            name, json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"
        )

    def text(self, name: str, value: str) -> None:
        """Write a declared text file as UTF-8."""
        self.path(name).write_text(value, "utf-8", newline="\n")

    def finish(self, manifest: Mapping[str, Any], run: Mapping[str, Any]) -> None:
        """Write run.json and manifest.json; raises ValueError where a declared file was not written."""
        files = {}
        for file in sorted(self.stage.files, key=lambda f: f.name):
            path = self.folder / file.name
            if not path.is_file():
                raise ValueError(f"stage {self.stage.name} did not write {file.name}")
            files[file.name] = {"sha256": digest_file(path), "bytes": path.stat().st_size}
            if isinstance(file, Table):
                files[file.name]["rows"] = self._rows[file.name]
        for name, value in ((RUN, run), (MANIFEST, {**manifest, "files": files})):
            text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
            (self.folder / name).write_text(text + "\n", "utf-8")


@contextmanager
def draft(stage: Stage, final: Path) -> Iterator[Draft]:
    """Write an artifact in a hidden folder; ``publish`` moves it to ``final``. Leaves nothing on failure."""
    final.parent.mkdir(parents=True, exist_ok=True)
    sweep(final)
    folder = Path(tempfile.mkdtemp(prefix=f".{final.name}-{os.getpid()}-", dir=final.parent))
    try:
        yield Draft(stage, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def publish(written: Draft, final: Path) -> None:
    """Make a finished draft the artifact at ``final``, in one rename, after its bytes are on the disk."""
    for path in sorted(written.folder.rglob("*")):
        if path.is_file():
            with path.open("rb+") as file:
                os.fsync(file.fileno())
    written.folder.chmod(0o755)
    old = None
    if final.exists():
        # Unfinished or damaged: moved aside first, since a folder can't be renamed over a full one.
        old = Path(tempfile.mkdtemp(prefix=f".{final.name}-{os.getpid()}-", dir=final.parent))
        final.rename(old / "old")
    try:
        written.folder.rename(final)
    except OSError:
        if old is not None:
            (old / "old").rename(final)
        raise
    if old is not None:
        shutil.rmtree(old, ignore_errors=True)


def sweep(final: Path) -> None:
    """Delete hidden folders that a killed writer of ``final`` left; those of living processes stay.

    What a writer had moved aside is moved back where nothing new took its place.
    """
    for path in sorted(final.parent.glob(f".{final.name}-*")):
        pid = path.name.split("-")[1]
        if pid.isdigit() and Path(f"/proc/{pid}").exists():
            continue
        if (path / "old").is_dir() and not final.exists():
            (path / "old").rename(final)
        shutil.rmtree(path, ignore_errors=True)


def is_complete(folder: Path, version: str, *, hashes: bool = False) -> bool:
    """Whether ``folder`` holds that version whole."""
    try:
        artifact = Artifact(folder)
        whole = artifact.version == version and not artifact.damage(hashes=hashes)
        return whole and (folder / RUN).is_file()
    except (InputError, KeyError):
        return False
