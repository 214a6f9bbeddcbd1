"""Fixtures for all tests: the data packs, and a stage ready to run on tables made in a test."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import settings

from imagenetv2.artifacts import draft, publish
from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.job import Endpoints, Job, folder
from imagenetv2.versions import digest_file

ROOT = Path(__file__).parent.parent
FAKE_VERSION = "0123456789"

# The same examples in every run, so that a change is judged by what it changed; to look for new counterexamples:
# pytest tests/property --hypothesis-profile explore
settings.register_profile("same", derandomize=True)
settings.register_profile("explore", settings.get_profile("default"), derandomize=False)
settings.load_profile("same")


@pytest.fixture(scope="session")
def packs() -> Path:
    """The folder of the data packs; the test is skipped where it is missing."""
    path = Path(os.environ.get("IMAGENETV2_PACKS", ROOT / "../shared/packs"))
    if not path.is_dir():
        pytest.skip(f"no data packs at {path}; set IMAGENETV2_PACKS")
    return path.resolve()


@pytest.fixture
def make_job(tmp_path: Path) -> Iterator[Callable[..., Job]]:
    """A function that writes given input artifacts and returns a Job of a stage, as its command would.

    ``make_job("frequencies", config={...}, inputs={"hits": {"tasks.parquet": frame}}, seed=…, endpoints=…)``.
    Values of ``inputs``: a DataFrame is checked against the declared table; bytes, str and Path are written as they
    are; anything else as JSON. Inputs may be a part of what the stage reads, and a part of an artifact's files.
    """
    with ExitStack() as stack:

        def make(
            name: str,
            *,
            config: Mapping[str, Any] | Config | None = None,
            inputs: Mapping[str, Mapping[str, Any]] | None = None,
            seed: int | None = None,
            endpoints: Endpoints | None = None,
            cores: int = 1,
        ) -> Job:
            settings = config if isinstance(config, Config) else Config.model_validate(dict(config or {}))
            known = stages(settings)
            data = tmp_path / "data"
            for source, files in (inputs or {}).items():
                write_artifact(data, known[source], files)
            versions = dict.fromkeys(known, FAKE_VERSION)
            stage = known[name]
            out = stack.enter_context(draft(stage, folder(data, name, FAKE_VERSION)))
            return Job(
                stage,
                FAKE_VERSION,
                versions,
                data,
                settings.seed if seed is None else seed,
                out,
                endpoints or Endpoints(),
                cores,
            )

        yield make


def write_artifact(data: Path, stage: Any, files: Mapping[str, Any]) -> Path:
    """Write some files of a stage's artifact with a manifest that names just them."""
    final = folder(data, stage.name, FAKE_VERSION)
    with draft(stage, final) as out:
        for name, value in files.items():
            if isinstance(value, pd.DataFrame):
                out.table(name, value)
            elif isinstance(value, bytes):
                out.path(name).write_bytes(value)
            elif isinstance(value, Path):
                shutil.copyfile(value, out.path(name))
            elif isinstance(value, str):
                out.text(name, value)
            else:
                out.json(name, value)
        written = sorted(f for f in out.folder.rglob("*") if f.is_file())
        facts = {
            f.relative_to(out.folder).as_posix(): {"sha256": digest_file(f), "bytes": f.stat().st_size}
            for f in written
        }
        manifest = {"stage": stage.name, "version": FAKE_VERSION, "files": facts}
        (out.folder / "manifest.json").write_text(json.dumps(manifest), "utf-8")
        publish(out, final)
    return final
