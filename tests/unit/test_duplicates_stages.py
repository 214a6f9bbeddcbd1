"""The stages as their commands run them, on tiny artifacts."""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from imagenetv2.annotation.stages import FREQUENCIES
from imagenetv2.candidates.stages import COPIES
from imagenetv2.config import Config
from imagenetv2.duplicates import squashed, stored
from imagenetv2.duplicates.recipe import recipe
from imagenetv2.duplicates.settings import Features, Structure
from imagenetv2.duplicates.stages import PAIR_VERDICTS, UNREADABLE
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from tests.unit.duplicates_inputs import Image, filled, inputs
from tests.unit.duplicates_world import world

CONFIG = {
    "neighbours": {
        "l2": {"k": 3, "side": 16},
        "fc7": {"k": 3, "side": 32},
        "ssim": {"k": 3, "side": 16, "window": 5, "classes": 1},
    },
    "duplicates": {"cutoffs": {"l2": 150_000, "fc7": 0, "ssim": 0}},
}
METRICS = ("l2", "fc7", "ssim")


def neighbours(make_job: Callable[..., Job], metric: str, **options: Any) -> pd.DataFrame:
    job = make_job(f"neighbours/{metric}", config=CONFIG, inputs=world(), **options)
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    assert sorted(p.name for p in job.out.folder.iterdir()) == sorted(f.name for f in job.stage.files)
    return pd.read_parquet(job.out.folder / "neighbours.parquet")


@pytest.mark.parametrize("metric", METRICS)
def test_near_duplicates_come_first(make_job: Callable[..., Job], metric: str) -> None:
    frame = neighbours(make_job, metric)
    first = frame[frame["rank"] == 0].set_index("image_id")
    assert first.loc["b", "neighbour_id"] == "t1"
    assert first.loc["b", "origin"] == "train"
    assert not ((frame["image_id"] == frame["neighbour_id"]) & (frame["origin"] == "candidates")).any()
    ordered = frame.sort_values(["image_id", "distance", "neighbour_id"], ignore_index=True)
    assert frame[["image_id", "neighbour_id"]].equals(ordered[["image_id", "neighbour_id"]])
    assert first.loc["d1", "neighbour_id"] == "d2"
    assert first.loc["d2", "neighbour_id"] == "d1"
    if metric != "ssim":
        assert first.loc["v", ["neighbour_id", "origin", "distance"]].tolist() == ["v", "val", 0.0]
        assert frame.groupby("image_id").size().eq(3).all()


@pytest.mark.parametrize("metric", METRICS)
def test_neighbours_do_not_depend_on_cores_or_on_where_images_lie(
    make_job: Callable[..., Job], metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = neighbours(make_job, metric)
    monkeypatch.setattr(squashed, "IN_MEMORY", 0)
    monkeypatch.setattr(stored, "IN_MEMORY", 0)
    monkeypatch.setattr(squashed, "SHARD", 3)
    monkeypatch.setattr("imagenetv2.duplicates.fc7.stage.SHARD", 64)
    for work in sorted((tmp := make_job(f"neighbours/{metric}", config=CONFIG).work).glob("*")):
        work.unlink()
    assert neighbours(make_job, metric, cores=3).equals(one)
    # Only a large array is in a file, which the mapping tells.
    assert any(tmp.glob("*.npy"))


@pytest.mark.parametrize("metric", METRICS)
def test_what_was_compared_is_counted(make_job: Callable[..., Job], metric: str) -> None:
    job = make_job(f"neighbours/{metric}", config=CONFIG, inputs=world())
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    searched = json.loads((job.out.folder / "searched.json").read_text())
    assert (searched["images"], searched["candidates"], searched["unreadable"]) == (7, 5, 0)
    # Of 5 × 7 pairs, an image's with itself don't count, but for the one that is an original as well.
    assert searched["pairs"] == 31 if metric != "ssim" else searched["pairs"] < 31
    assert searched["computed"] <= searched["pairs"]


@pytest.mark.parametrize("metric", METRICS)
def test_files_of_one_photograph_are_no_neighbours(make_job: Callable[..., Job], metric: str) -> None:
    given = world()
    given["candidates"]["copies.parquet"] = filled(
        COPIES,
        [{"image_id": i, "photo_id": {"d2": "pd1"}.get(i, f"p{i}")} for i in ("a", "b", "d1", "d2", "v")],
    )
    job = make_job(f"neighbours/{metric}", config=CONFIG, inputs=given)
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    frame = pd.read_parquet(job.out.folder / "neighbours.parquet")
    pairs = set(zip(frame["image_id"], frame["neighbour_id"], strict=True))
    assert not {("d1", "d2"), ("d2", "d1")} & pairs
    assert ("b", "t1") in pairs


def constant(levels: int) -> Image:
    return np.full((32, 32, 3), levels, np.uint8)


@pytest.mark.parametrize("metric", METRICS)
def test_constant_images_a_reference_set_of_one_and_more_neighbours_than_images(
    make_job: Callable[..., Job], metric: str
) -> None:
    given = inputs(
        [("t", "train", "n1", constant(128))],
        [("c1", "n1", constant(0)), ("c2", "n1", constant(255)), ("c3", "n1", constant(129))],
        {"n1": []},
    )
    settings = {"l2": {"side": 16}, "fc7": {"side": 32}, "ssim": {"side": 16, "window": 5}}[metric]
    config = {"neighbours": {metric: {"k": 1000, **settings}}, "duplicates": CONFIG["duplicates"]}
    job = make_job(f"neighbours/{metric}", config=config, inputs=given)
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    frame = pd.read_parquet(job.out.folder / "neighbours.parquet")
    assert frame.groupby("image_id").size().to_dict() == {"c1": 3, "c2": 3, "c3": 3}
    if metric != "fc7":
        assert frame.set_index(["image_id", "rank"]).loc[("c3", 0), "neighbour_id"] == "t"
    assert np.isfinite(frame["distance"]).all()
    if metric == "l2":
        assert frame["distance"].min() == 16 * 16 * 3


def test_a_window_larger_than_the_image() -> None:
    """The configuration says so; whoever comes by another way is told by the stage."""
    with pytest.raises(ValidationError, match=r"neighbours\.ssim\.window: 35 is larger than the side of 32"):
        Config.model_validate({"neighbours": {"ssim": {"side": 32, "window": 35}}})
    with pytest.raises(
        InputError, match=r"neighbours\.ssim\.window of 35 .* neighbours\.ssim\.side 32; make"
    ):
        recipe("ssim").check(Structure(side=32, window=35))


def test_features_of_finished_shards_are_not_computed_again(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = importlib.import_module("imagenetv2.duplicates.fc7.stage")
    whole = neighbours(make_job, "fc7")
    monkeypatch.setattr(stage, "SHARD", 2)
    job = make_job("neighbours/fc7", config=CONFIG, inputs=world())
    for path in sorted(job.work.glob("*")):
        path.unlink()
    extract, calls = stage.extract, []

    def dying(*arguments: Any) -> Any:
        for place, values in extract(*arguments):
            calls.append(place.start)
            if len(calls) == 3:
                raise Stopped
            yield place, values

    monkeypatch.setattr(stage, "extract", dying)
    with pytest.raises(Stopped):
        stage.run(job)
    stage.run(job)
    # Seven images in shards of two; the third was not finished.
    assert calls == [0, 2, 4, 4, 6]
    found = pd.read_parquet(job.out.folder / "neighbours.parquet")
    assert found.equals(whole)


class Stopped(BaseException):
    """As when a process is killed."""


def test_resolution_joins_metrics_and_verdicts(make_job: Callable[..., Job]) -> None:
    votes = [("a", "n1", 9), ("b", "n1", 9), ("b", "n2", 2), ("v", "n1", 8), ("d1", "n2", 6), ("d2", "n2", 7)]
    verdicts = [("b", "t1", "duplicate"), ("v", "v", "duplicate"), ("d1", "d2", "duplicate")]
    given = {
        **{
            f"neighbours/{m}": {
                "neighbours.parquet": neighbours(make_job, m),
                "unreadable.parquet": UNREADABLE.empty(),
            }
            for m in METRICS
        },
        "frequencies": {
            "frequencies.parquet": filled(
                FREQUENCIES,
                [
                    {
                        "image_id": i,
                        "wnid": w,
                        "origin": "candidates",
                        "shown": 10,
                        "selected": n,
                        "frequency": n / 10,
                    }
                    for i, w, n in votes
                ],
            )
        },
        "reviews/pairs": {
            "verdicts.parquet": filled(
                PAIR_VERDICTS,
                [
                    {"number": k, "image_id": i, "neighbour_id": n, "verdict": v, "reviewer": "Ann"}
                    for k, (i, n, v) in enumerate(verdicts)
                ],
            )
        },
    }
    job = make_job("duplicates", config=CONFIG, inputs={**world(), **given})
    importlib.import_module("imagenetv2.duplicates.resolution").run(job)
    pairs = pd.read_parquet(job.out.folder / "pairs.parquet")
    assert set(zip(pairs["image_id"], pairs["neighbour_id"], pairs["verdict"], strict=True)) == {
        ("b", "t1", "duplicate"),
        ("d1", "d2", "duplicate"),
        ("v", "v", "duplicate"),
    }
    assert all("l2" in found for found in pairs["found_by"])
    fates = pd.read_parquet(job.out.folder / "fates.parquet").set_index(["image_id", "wnid"])["fate"]
    assert fates.to_dict() == {
        ("a", "n1"): "free",
        ("b", "n1"): "dropped",
        ("b", "n2"): "dropped",
        ("d1", "n2"): "dropped",
        ("d2", "n2"): "kept",
        ("v", "n1"): "dropped",
    }


def test_paper_preprocessing_is_for_vgg16_only() -> None:
    with pytest.raises(
        ValidationError, match="preprocessing paper is for vgg16; efficientnet_lite0 takes standard"
    ):
        Features(preprocessing="paper")
    assert Features(network="vgg16", preprocessing="paper", side=224).side == 224
