"""A model that fails costs the others nothing, though Snakemake deletes what a failed job has written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.unit.evaluation_world import World

ROOT = Path(__file__).parents[2]
SNAKEFILE = """
import json
FILES = json.loads(config["files"])
rule all:
    input: FILES
rule evaluate:
    output: [update(path) for path in FILES]
    params: python=config["python"], options=config["options"]
    shell: "{params.python} -m tests.unit.evaluation_world data {params.options} > said.txt 2>&1"
"""


def test_a_failing_model_costs_the_others_nothing(tmp_path: Path) -> None:
    world = World(tmp_path / "data")
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    first, *others = (world.folder(stage) / "predictions.parquet" for stage in world.predictions)

    def snakemake(*options: str) -> tuple[int, str]:
        given = {
            "files": json.dumps([str(path.relative_to(tmp_path)) for path in (first, *others)]),
            "python": sys.executable,
            "options": " ".join(options),
        }
        (tmp_path / "config.json").write_text(json.dumps(given))
        run = subprocess.run(
            [Path(sys.executable).parent / "snakemake", "--cores", "1", "--nolock", "--configfile", "config.json"],
            cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False,
        )  # fmt: skip
        said = (tmp_path / "said.txt").read_text()
        assert "Traceback" not in said, run.stderr
        return run.returncode, said

    world.run(world.predictions[:1])
    before = (first.parent / "run.json").read_text()
    code, said = snakemake("broken")
    assert code != 0
    assert "Nothing of predictions/original is written before larger can be" in said
    assert (first.parent / "run.json").read_text() == before
    assert not any(path.exists() for path in others)
    # What fourier said is kept: only for larger are the 18 images decoded again.
    assert snakemake() == (0, "18 images were decoded.\n")
    assert all(path.exists() for path in (first, *others))
    assert (first.parent / "run.json").read_text() == before
