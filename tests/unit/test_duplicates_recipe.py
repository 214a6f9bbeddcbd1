"""What all metrics share of their stages, by the example of a fourth metric."""

from __future__ import annotations

import io
import json
import logging
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pandas as pd
import pytest

from imagenetv2 import job as runner
from imagenetv2.candidates.stages import COPIES
from imagenetv2.duplicates import outlook, stage, stored
from imagenetv2.duplicates.engine import Engine
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.settings import Search
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from tests.unit import toy_metric
from tests.unit.duplicates_inputs import Image, filled, inputs
from tests.unit.duplicates_world import world
from tests.unit.toy_metric import Bright, Brightness, Differences, toy_job

Make = Callable[..., Job]
FILES = ("neighbours.parquet", "unreadable.parquet", "searched.json")


def made(job: Job) -> dict[str, bytes]:
    toy_metric.run(job)
    assert sorted(p.name for p in job.out.folder.iterdir()) == sorted(FILES)
    return {name: (job.out.folder / name).read_bytes() for name in FILES}


def neighbours(job: Job) -> dict[str, list[str]]:
    frame = pd.read_parquet(job.out.folder / "neighbours.parquet")
    return {str(name): rows["neighbour_id"].tolist() for name, rows in frame.groupby("image_id")}


def flat(levels: int) -> Image:
    return np.full((8, 8, 3), levels, np.uint8)


def row_of(levels: dict[str, int]) -> dict[str, dict[str, Any]]:
    """Flat training images, and candidates, whose names begin with c."""
    return inputs(
        [(name, "train", "n1", flat(v)) for name, v in levels.items() if name[0] != "c"],
        [(name, "n1", flat(v)) for name, v in levels.items() if name[0] == "c"],
        {"n1": []},
    )


def test_a_fourth_metric_is_one_file(make_job: Make, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    job = toy_job(
        make_job, Brightness(k=2), Search(), inputs=row_of({"c1": 10, "c2": 14, "t1": 11, "t2": 50})
    )
    made(job)
    frame = pd.read_parquet(job.out.folder / "neighbours.parquet")
    assert frame.values.tolist() == [
        ["c1", 0, "t1", "train", 192.0],
        ["c1", 1, "c2", "candidates", 768.0],
        ["c2", 0, "t1", "train", 576.0],
        ["c2", 1, "c1", "candidates", 768.0],
    ]
    searched = json.loads((job.out.folder / "searched.json").read_text())
    assert searched == {
        "images": 4, "candidates": 2, "unreadable": 0, "pairs": 6, "computed": 4, "skipped": 0.333333,
    }  # fmt: skip
    expected, took = (r.getMessage() for r in caplog.records)
    assert "2 candidates, 4 images, 8 pairs" in expected
    assert "6 pairs, of which 33.33 % were skipped" in took


def test_all_within_a_distance(make_job: Make) -> None:
    levels = {"c1": 10, "c2": 14, "t1": 11, "t2": 50}
    job = toy_job(make_job, Brightness(k=0, within=600), Search(), inputs=row_of(levels))
    made(job)
    assert neighbours(job) == {"c1": ["t1"], "c2": ["t1"]}


def test_a_reference_set_of_one_and_more_neighbours_than_images(make_job: Make) -> None:
    job = toy_job(make_job, Brightness(k=30), Search(), inputs=row_of({"c1": 10, "t1": 12}))
    made(job)
    assert neighbours(job) == {"c1": ["t1"]}


def test_no_candidates(make_job: Make) -> None:
    job = toy_job(make_job, Brightness(), Search(), inputs=row_of({"t1": 12}))
    made(job)
    assert neighbours(job) == {}


def test_equal_distances_are_ordered_by_id_and_cut_at_k(make_job: Make) -> None:
    levels = {"c1": 10, "t4": 12, "t2": 12, "t3": 8, "t5": 8}
    job = toy_job(make_job, Brightness(k=3), Search(), inputs=row_of(levels))
    made(job)
    assert neighbours(job) == {"c1": ["t2", "t3", "t4"]}


def test_a_candidate_with_the_pixels_of_an_original_has_it_as_nearest(make_job: Make) -> None:
    job = toy_job(make_job, Brightness(k=1), Search(), inputs=world())
    made(job)
    assert neighbours(job)["v"] == ["v"]


def test_files_of_one_photograph_are_no_neighbours(make_job: Make) -> None:
    given = row_of({"c1": 10, "c2": 11, "c3": 40, "t1": 80})
    photographs = [("c1", "p1"), ("c2", "p1"), ("c2", "p2"), ("c3", "p3")]
    given["candidates"]["copies.parquet"] = filled(
        COPIES, [{"image_id": image, "photo_id": photo} for image, photo in photographs]
    )
    job = toy_job(make_job, Brightness(k=5), Search(), inputs=given)
    made(job)
    assert neighbours(job) == {"c1": ["c3", "t1"], "c2": ["c3", "t1"], "c3": ["c2", "c1", "t1"]}


def broken(levels: dict[str, int]) -> dict[str, dict[str, Any]]:
    """c3 is not in the archive, t2 is cut off, and t3 is no image."""
    given = row_of(levels)
    for source, lost in (("candidates", "n1/c3.png"), ("reference", "")):
        with zipfile.ZipFile(io.BytesIO(given[source]["images.zip"])) as images:
            files = {name: images.read(name) for name in images.namelist() if name != lost}
        if source == "reference":
            files["n1/t2.png"] = files["n1/t2.png"][:60]
            files["n1/t3.png"] = b"This is a photograph."
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as out:
            for name, data in files.items():
                out.writestr(name, data)
        given[source]["images.zip"] = buffer.getvalue()
    return given


def test_images_that_cannot_be_read_take_no_part_and_are_listed(
    make_job: Make, caplog: pytest.LogCaptureFixture
) -> None:
    levels = {"c1": 10, "c2": 14, "c3": 10, "t1": 30, "t2": 10, "t3": 10}
    job = toy_job(make_job, Brightness(k=30), Search(), inputs=broken(levels))
    made(job)
    assert neighbours(job) == {"c1": ["c2", "t1"], "c2": ["c1", "t1"]}
    listed = pd.read_parquet(job.out.folder / "unreadable.parquet")
    assert listed[["image_id", "origin"]].values.tolist() == [
        ["c3", "candidates"], ["t2", "train"], ["t3", "train"],
    ]  # fmt: skip
    assert "c3.png" in listed["reason"][0]
    searched = json.loads((job.out.folder / "searched.json").read_text())
    assert (searched["images"], searched["candidates"], searched["unreadable"]) == (3, 2, 3)
    warned = [r.getMessage() for r in caplog.records if r.levelno == logging.WARNING]
    assert len(warned) == 3
    assert "n1/t2.png in images.zip of reference cannot be read" in warned[1]


def many() -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(0)
    return row_of({f"{'c' if i % 3 else 't'}{i:03d}": int(rng.integers(0, 256)) for i in range(120)})


class Stopped(BaseException):
    """As when a process is killed."""


def test_a_killed_search_goes_on_where_it_was(make_job: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    settings, how = Brightness(k=4), Search(shard=16)
    whole = made(toy_job(make_job, settings, how, inputs=many()))
    job = toy_job(make_job, settings, how, inputs=many())
    without_pieces(job)
    exact, seen = Differences.exact, []

    def dying(self: Differences, rows: Any, columns: Any, limit: Any) -> Any:
        seen.append(len(rows))
        if len(seen) == 5:
            raise Stopped
        return exact(self, rows, columns, limit)

    monkeypatch.setattr(Differences, "exact", dying)
    with pytest.raises(Stopped):
        toy_metric.run(job)
    # One call is for the limits, then one for each of the eight shards.
    assert len(list(job.work.glob("*pairs-*.npz"))) == 3
    assert made(job) == whole
    assert len(seen) == 5 + 8 - 3


def without_pieces(job: Job) -> None:
    """Without the pieces of the run before."""
    for path in sorted(job.work.glob("*")):
        path.unlink()


def test_a_killed_run_does_not_decode_finished_shards_again(
    make_job: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = made(toy_job(make_job, Brightness(k=4), Search(), inputs=many()))
    monkeypatch.setattr("imagenetv2.duplicates.squashed.IN_MEMORY", 0)
    monkeypatch.setattr("imagenetv2.duplicates.squashed.SHARD", 16)
    job = toy_job(make_job, Brightness(k=4), Search(), inputs=many())
    without_pieces(job)
    reader, seen = stored.Stored.put, []

    def dying(self: stored.Stored, row: int, values: Any) -> None:
        seen.append(row)
        if len(seen) == 40:
            raise Stopped
        reader(self, row, values)

    monkeypatch.setattr(stored.Stored, "put", dying)
    with pytest.raises(Stopped):
        toy_metric.run(job)
    assert made(job) == whole
    assert seen[40:] == list(range(32, 120))


def test_parts_add_up_to_the_whole(make_job: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = Brightness(k=4)
    whole = made(toy_job(make_job, settings, Search(), inputs=many()))
    how = Search(parts=3, shard=50)
    monkeypatch.setattr("imagenetv2.duplicates.budget.LEAST_BLOCK", 1)
    job = toy_job(make_job, settings, how, inputs=many())
    without_pieces(job)
    exact, pairs = Differences.exact, []

    def counting(self: Differences, rows: Any, columns: Any, limit: Any) -> Any:
        pairs.append(len(rows))
        return exact(self, rows, columns, limit)

    monkeypatch.setattr(Differences, "exact", counting)
    stage.run_part(job, Bright(), 0)
    assert pairs == []
    found = []
    for part, cores in ((3, 1), (1, 4), (2, 2)):
        stage.run_part(replace(job, cores=cores), Bright(), part)
        found.append(sum(pairs))
        assert stage.marker(job.work, part, 3).exists()
    assert found[0] < found[1] < found[2]
    assert made(job) == whole
    assert sum(pairs) == found[2]


def test_a_part_that_is_missing_is_done_by_the_search_as_a_whole(make_job: Make) -> None:
    whole = made(toy_job(make_job, Brightness(k=4), Search(), inputs=many()))
    job = toy_job(make_job, Brightness(k=4), Search(parts=2), inputs=many())
    without_pieces(job)
    stage.run_part(job, Bright(), 0)
    stage.run_part(job, Bright(), 2)
    assert made(job) == whole


def test_a_part_before_part_0_is_refused(make_job: Make) -> None:
    job = toy_job(make_job, Brightness(k=4), Search(parts=2), inputs=many())
    stage.run_part(job, Bright(), 0)
    other = toy_job(make_job, Brightness(k=4), Search(parts=3), inputs=many())
    with pytest.raises(InputError, match=r"--part 2: part 0, .*parts of 3; run --part 0 first"):
        stage.run_part(other, Bright(), 2)
    assert not stage.marker(job.work, 2, 3).exists()


def test_a_part_of_what_is_there_whole_leaves_nothing_behind(
    make_job: Make, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    own = toy_job(make_job, Brightness(k=4), Search(), inputs=many())
    versions = {**own.versions, own.stage.name: own.version}
    given = (own.stage, versions, own.data, own.seed)
    assert runner.run(*given)
    assert not own.work.exists()
    plan: Any = SimpleNamespace(
        config=SimpleNamespace(neighbours=SimpleNamespace(search=Search()), seed=own.seed),
        stages={own.stage.name: own.stage},
        versions=versions,
        data=own.data,
        folder=lambda name: own.data / name / versions[name],
    )
    monkeypatch.setattr(outlook, "recipe", lambda metric: pytest.fail("nothing is to be searched"))
    outlook.part(plan, own.stage.name, 1, 1)
    assert "is there whole; nothing to do for part 1" in caplog.text
    # Snakemake waits for the marker, and for the search as a whole after it.
    assert [path.name for path in own.work.iterdir()] == ["part-1.1.done"]
    assert not runner.run(*given)
    assert not own.work.exists()


@pytest.mark.parametrize("damage", ["array", "note"])
def test_a_part_only_reads_what_part_0_prepared(
    make_job: Make, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    monkeypatch.setattr("imagenetv2.duplicates.squashed.IN_MEMORY", 0)
    job = toy_job(make_job, Brightness(k=4), Search(parts=2), inputs=many())
    without_pieces(job)
    stage.run_part(job, Bright(), 0)
    assert not [path.name for path in job.work.glob(".*")]
    array, note = job.work / "squashed-8.npy", job.work / "squashed-8-0.120.json"
    before = (array.stat().st_mtime_ns, array.stat().st_ino)
    stage.run_part(job, Bright(), 1)
    assert (array.stat().st_mtime_ns, array.stat().st_ino) == before
    (array if damage == "array" else note).unlink()
    with pytest.raises(InputError, match=r"squashed-8 is not whole, .* run --part 0 again"):
        stage.run_part(job, Bright(), 2)
    assert array.exists() == (damage == "note")


def test_pieces_of_one_device_are_not_those_of_another(
    make_job: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imagenetv2.duplicates.device.available", lambda: True)
    pieces = []
    for device in ("cpu", "cuda"):
        job = toy_job(make_job, Brightness(k=4), Search(device=device), inputs=many())
        made(job)
        pieces.append(sorted(path.name for path in job.work.glob("*.npz")))
    assert pieces[0] and all(name.startswith("cpu-") for name in pieces[0])
    assert [name for name in pieces[1] if name not in pieces[0]] == [
        name.replace("cpu-", "cuda-", 1) for name in pieces[0]
    ]


def test_a_killed_first_pass_goes_on_after_its_last_shard(
    make_job: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings, how = Brightness(k=4), Search(shard=16)
    whole = made(toy_job(make_job, settings, how, inputs=many()))
    bounds, seen = Differences.bounds, []

    def dying(self: Differences, rows: Any, columns: Any) -> Any:
        seen.append(int(columns[0]))
        if len(seen) == 5:
            raise Stopped
        return bounds(self, rows, columns)

    monkeypatch.setattr(Differences, "bounds", dying)
    for shard, again in ((16, range(64, 120, 16)), (32, range(64, 120, 32)), (48, range(0, 120, 48))):
        job = toy_job(make_job, settings, how, inputs=many())
        without_pieces(job)
        seen.clear()
        with pytest.raises(Stopped):
            toy_metric.run(job)
        seen += [0] * 5  # so that nothing stops it now
        assert made(toy_job(make_job, settings, Search(shard=shard), inputs=many())) == whole
        # Then the second pass, for which some bounds were kept.
        assert seen[10 : 10 + len(again)] == list(again)


def empty(case: str) -> dict[str, dict[str, Any]]:
    if case == "no candidates":
        return row_of({"t1": 12})
    if case == "nothing":
        return row_of({})
    if case == "no originals":
        return row_of({"c1": 12})
    given = row_of({"c3": 10, "t1": 30})
    given["candidates"]["images.zip"] = row_of({"t1": 30})["candidates"]["images.zip"]
    return given


class Refusing:
    """As an engine on a GPU, which can't be made of nothing."""

    def __init__(self, *given: Any, **options: Any) -> None:
        raise AssertionError("no engine is needed")


@pytest.mark.parametrize("case", ["no candidates", "nothing", "no readable candidate", "no originals"])
def test_where_nothing_is_to_be_compared_tables_are_empty(
    make_job: Make, monkeypatch: pytest.MonkeyPatch, case: str
) -> None:
    if case != "no originals":
        monkeypatch.setattr(toy_metric, "Differences", Refusing)
    job = toy_job(make_job, Brightness(), Search(), inputs=empty(case))
    made(job)
    assert neighbours(job) == {}
    searched = json.loads((job.out.folder / "searched.json").read_text())
    assert (searched["pairs"], searched["computed"], searched["skipped"]) == (0, 0, 0)
    assert len(pd.read_parquet(job.out.folder / "unreadable.parquet")) == (case == "no readable candidate")


def test_a_search_without_rows_or_columns_leaves_the_engine_alone() -> None:
    none, some = np.empty(0, np.int64), np.arange(3)
    for rows, columns in ((none, some), (some, none)):
        for k in (0, 2):
            plan = Plan(k, 1.0)
            found, skipped = search(cast(Engine, None), rows, columns, Excluded.of(3, []), plan)
            assert len(found) == skipped.pairs == skipped.computed == 0


@pytest.mark.parametrize("how", [Search(memory=0.25), Search(shard=16), Search(memory=100)])
def test_nothing_depends_on_memory_shards_and_cores(make_job: Make, how: Search) -> None:
    one = made(toy_job(make_job, Brightness(k=4), Search(), inputs=many()))
    job = toy_job(make_job, Brightness(k=4), how, inputs=many(), cores=3)
    without_pieces(job)
    assert made(job) == one


def test_a_gpu_that_is_not_there(make_job: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("imagenetv2.duplicates.device.available", lambda: False)
    job = toy_job(make_job, Brightness(), Search(device="cuda"), inputs=row_of({"c1": 1, "t1": 2}))
    with pytest.raises(InputError, match=r"neighbours.search.device is cuda, and .* set it to cpu or auto"):
        toy_metric.run(job)


def test_too_little_memory_is_said_before_anything_is_read(
    make_job: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("imagenetv2.duplicates.budget.SPARE", 2**30)
    job = toy_job(make_job, Brightness(), Search(memory=0.25), inputs=row_of({"c1": 1, "t1": 2}))
    with pytest.raises(
        InputError, match=r"neighbours.search.memory of 0.25 GB is too little .* at least 1\.\d+ GB"
    ):
        toy_metric.run(job)
    assert not Path(job.work).exists()
