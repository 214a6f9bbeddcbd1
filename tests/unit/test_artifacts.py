"""Artifacts are whole or absent, whenever the process that writes them dies."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pandas as pd
import pytest

from imagenetv2.artifacts import Artifact, draft, is_complete, publish, sweep
from imagenetv2.errors import InputError
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

TABLE = Table(
    "rows.parquet", "Rows.", (Column("id", "string", "key"), Column("n", "int64", "count", "1")), ("id",)
)
STAGE = Stage("some/stage", 1, "nowhere:run", (TABLE, File("note.json", "A note.")))

PARENT = """
    import os, sys, tempfile
    from pathlib import Path
    import pyarrow.parquet as pq
    from imagenetv2 import artifacts
    from tests.unit.test_artifacts import write

    def die_before(step):
        left = step

        def dying(function):
            def call(*args, **kwargs):
                nonlocal left
                left -= 1
                if left == 0:
                    os._exit(9)
                return function(*args, **kwargs)
            return call

        for place, name in (
            (Path, "rename"), (Path, "write_text"), (Path, "mkdir"), (os, "fsync"), (tempfile, "mkdtemp"),
            (pq, "write_table"), (artifacts.shutil, "rmtree"),
        ):
            setattr(place, name, dying(getattr(place, name)))

    for step in range(1, 40):
        child = os.fork()
        if child == 0:
            die_before(step)
            write(Path(sys.argv[1]) / str(step) / "0123456789", 2)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(step, code, flush=True)
        if code != 9:
            break
"""
"""Writes the artifact again and again, each time in a child that dies at the next step of the file system."""


def write(final: Path, n: int) -> None:
    """Write the artifact with ``n`` in it."""
    with draft(STAGE, final) as out:
        out.table("rows", pd.DataFrame({"id": ["b", "a"], "n": [n, n]}))
        out.json("note.json", {"n": n})
        out.finish({"stage": STAGE.name, "version": final.name, "reads": {}}, {"seconds": 0})
        publish(out, final)


def state(final: Path) -> int | None:
    """What the artifact holds; None where it is absent. Fails where it is anything between."""
    if not is_complete(final, final.name, hashes=True):
        assert not (final / "manifest.json").exists()
        return None
    artifact = Artifact(final)
    values = set(artifact.table("rows")["n"]) | {artifact.json("note.json")["n"]}
    assert len(values) == 1
    return int(values.pop())


@pytest.mark.parametrize("old", [None, 1])
def test_a_writer_killed_at_any_step_leaves_the_old_state_or_the_new(tmp_path: Path, old: int | None) -> None:
    root = Path(__file__).parents[2]
    for step in range(1, 40 if old else 0):
        write(tmp_path / str(step) / "0123456789", 1)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PARENT), tmp_path],
        cwd=root, env={**os.environ, "PYTHONPATH": str(root)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    ends = [tuple(map(int, line.split())) for line in done.stdout.splitlines()]
    assert len(ends) > 10
    assert ends[-1][1] == 0, "the writer never came to its end"
    seen = set()
    for step, _ in ends:
        final = tmp_path / str(step) / "0123456789"
        found = state(final)
        assert found in (None, old, 2)
        seen.add(found)
        write(final, 3)
        assert state(final) == 3
        assert [p.name for p in sorted(final.parent.iterdir())] == [final.name], (
            "a dead writer's folder was left"
        )
    assert {old, 2} <= seen


def test_the_folder_of_a_living_writer_is_not_swept(tmp_path: Path) -> None:
    final = tmp_path / "0123456789"
    with draft(STAGE, final) as out:
        sweep(final)
        assert out.folder.exists()
    assert not out.folder.exists()


def test_a_failed_writer_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), draft(STAGE, tmp_path / "v") as out:
        out.json("note.json", 1)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


def test_an_artifact_without_a_declared_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"did not write rows\.parquet"), draft(STAGE, tmp_path / "v") as out:
        out.json("note.json", 1)
        out.finish({}, {})


def test_an_undeclared_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(KeyError, match="declares no file"), draft(STAGE, tmp_path / "v") as out:
        out.path("other.txt")


def test_damage_is_named(tmp_path: Path) -> None:
    final = tmp_path / "v"
    write(final, 1)
    assert Artifact(final).damage() == []
    note = final / "note.json"
    note.write_text(note.read_text().replace("1", "7"))
    assert Artifact(final).damage(hashes=False) == []
    assert "another SHA-256" in Artifact(final).damage()[0]
    note.write_text("longer than before")
    assert "bytes, not" in Artifact(final).damage(hashes=False)[0]
    note.unlink()
    assert "missing" in Artifact(final).damage(hashes=False)[0]


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="run snakemake"):
        _ = Artifact(tmp_path / "absent").manifest
    write(tmp_path / "v", 1)
    with pytest.raises(InputError, match=r"holds no rose\.parquet"):
        Artifact(tmp_path / "v").table("rose")
    (tmp_path / "v" / "manifest.json").write_text("{")
    with pytest.raises(InputError, match="damaged"):
        _ = Artifact(tmp_path / "v").manifest


@pytest.mark.parametrize(
    ("frame", "complaint"),
    [
        ({"id": ["a"]}, r"missing columns \['n'\]"),
        ({"id": ["a"], "n": [1], "x": [1]}, r"undeclared columns \['x'\]"),
        ({"id": ["a", "a"], "n": [1, 2]}, "occurs more than once"),
        ({"id": ["a"], "n": ["one"]}, "column n"),
        ({"id": [1], "n": [1]}, "column id"),
        ({"id": ["a"], "n": [None]}, "1 missing values"),
        ({"id": ["a"], "n": [1.5]}, "column n"),
    ],
)
def test_a_table_against_its_declaration_is_refused(
    tmp_path: Path, frame: dict[str, list[object]], complaint: str
) -> None:
    with pytest.raises(ValueError, match=complaint), draft(STAGE, tmp_path / "v") as out:
        out.table("rows", pd.DataFrame(frame))


@pytest.mark.parametrize("text", ["6e12345678", "0012345678", "1_000", "nan", "", "é|\n"])
def test_ids_stay_strings(tmp_path: Path, text: str) -> None:
    with draft(STAGE, tmp_path / "v") as out:
        out.table("rows", pd.DataFrame({"id": [text], "n": [1]}))
        assert pd.read_parquet(out.folder / "rows.parquet")["id"].tolist() == [text]


def test_rows_and_bytes_do_not_depend_on_the_order_given(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["b", "c", "a"], "n": [1, 2, 3]})
    written = []
    for number, order in enumerate(([0, 1, 2], [2, 1, 0])):
        with draft(STAGE, tmp_path / str(number)) as out:
            out.table("rows", frame.iloc[order])
            written.append((out.folder / "rows.parquet").read_bytes())
    assert written[0] == written[1]


def test_the_manifest_does_not_vary(tmp_path: Path) -> None:
    write(tmp_path / "a" / "v", 1)
    write(tmp_path / "b" / "v", 1)
    texts = [(tmp_path / x / "v" / "manifest.json").read_text() for x in "ab"]
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["files"]["rows.parquet"]["rows"] == 2
