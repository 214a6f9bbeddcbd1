"""The stages as their commands run them, on tiny artifacts."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from imagenetv2.annotation.stages import FREQUENCIES
from imagenetv2.duplicates import squashed
from imagenetv2.duplicates.settings import Features
from imagenetv2.duplicates.stages import PAIR_VERDICTS
from imagenetv2.job import Job
from tests.unit.duplicates_inputs import Image, filled, inputs

CONFIG = {
    "neighbours": {
        "l2": {"k": 3, "side": 16},
        "fc7": {"k": 3, "side": 32},
        "ssim": {"k": 3, "side": 16, "window": 5, "classes": 1},
    },
    "duplicates": {"cutoffs": {"l2": 150_000, "fc7": 0, "ssim": 0}},
}
METRICS = ("l2", "fc7", "ssim")


def blotches(number: int, width: int = 40) -> Image:
    rng = np.random.default_rng(number)
    return np.kron(rng.integers(0, 256, (5, width // 8, 3)), np.ones((8, 8, 1))).astype(np.uint8)


def world() -> dict[str, dict[str, Any]]:
    """b is brighter than the training image t1; c has the pixels of the validation image v; d is d2's copy."""
    one = blotches(1)
    brighter = np.clip(one.astype(int) + 12, 0, 255).astype(np.uint8)
    slightly = np.clip(blotches(5).astype(int) + 3, 0, 255).astype(np.uint8)
    return inputs(
        [("t1", "train", "n1", one), ("t2", "train", "n2", blotches(2)), ("v", "val", "n1", blotches(3, 48))],
        [
            ("a", "n1", blotches(4)),
            ("b", "n1", brighter),
            ("b", "n2", brighter),
            ("v", "n1", blotches(3, 48)),
            ("d1", "n2", blotches(5)),
            ("d2", "n2", slightly),
        ],
        {"n1": ["n2"], "n2": ["n1"]},
    )


def neighbours(make_job: Callable[..., Job], metric: str, **options: Any) -> pd.DataFrame:
    job = make_job(f"neighbours/{metric}", config=CONFIG, inputs=world(), **options)
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    frame = pd.read_parquet(job.out.folder / "neighbours.parquet")
    assert [p.name for p in job.out.folder.iterdir()] == ["neighbours.parquet"]
    return frame


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
def test_neighbours_do_not_depend_on_cores_or_on_where_pixels_lie(
    make_job: Callable[..., Job], metric: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = neighbours(make_job, metric)
    monkeypatch.setattr(squashed, "IN_MEMORY", 0)
    monkeypatch.setattr(squashed, "AT_ONCE", 2)
    assert neighbours(make_job, metric, cores=3).equals(one)


def test_resolution_joins_metrics_and_verdicts(make_job: Callable[..., Job]) -> None:
    votes = [("a", "n1", 9), ("b", "n1", 9), ("b", "n2", 2), ("v", "n1", 8), ("d1", "n2", 6), ("d2", "n2", 7)]
    verdicts = [("b", "t1", "duplicate"), ("v", "v", "duplicate"), ("d1", "d2", "duplicate")]
    given = {
        **{f"neighbours/{m}": {"neighbours.parquet": neighbours(make_job, m)} for m in METRICS},
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
