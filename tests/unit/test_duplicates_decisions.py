"""The stage ``duplicates``: neighbours, verdicts and votes in, pairs and fates out."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pandas as pd
import pytest

from imagenetv2.annotation.stages import FREQUENCIES
from imagenetv2.benchmark.stages import REFERENCE
from imagenetv2.candidates.stages import CANDIDATES, COPIES
from imagenetv2.duplicates.resolution import run
from imagenetv2.duplicates.stages import NEIGHBOURS, PAIR_VERDICTS, UNREADABLE
from imagenetv2.errors import InputError
from imagenetv2.job import Job

from .small_review import rows

CONFIG = {
    "neighbours": {"l2": {"k": 2}, "fc7": {"k": 5}, "ssim": {"enabled": False}},
    "duplicates": {"cutoffs": {"l2": 100.0, "fc7": 10.0}},
}
WHEN = "2025-03-01T07:30:00Z"


def world() -> dict[str, dict[str, Any]]:
    """a and b are duplicates; c is near the training image t and nobody said so; d could not be read; e is flat."""
    images = [("a", "n1", 9), ("a", "n2", 8), ("b", "n1", 10), ("c", "n1", 7), ("d", "n1", 7), ("e", "n2", 7)]
    pool = [
        {"image_id": i, "wnid": w, "spread": 3.0 if i == "e" else 40.0, "photo_id": f"p{i}"}
        for i, w, _ in images
    ]
    votes = [
        {"image_id": i, "wnid": w, "origin": "candidates", "shown": 10, "selected": n, "frequency": n / 10}
        for i, w, n in images
    ]
    l2 = [("a", "b", "candidates", 50.0), ("a", "t", "train", 90.0), ("b", "a", "candidates", 50.0)]
    l2 += [("c", "t", "train", 100.0), ("c", "a", "candidates", 101.0), ("e", "t", "train", 1e6)]
    fc7 = [("a", "b", "candidates", 50.0), ("a", "t", "train", 1.0), ("c", "t", "train", 11.0)]
    verdicts = [("a", "b", "duplicate"), ("t", "a", "duplicate"), ("a", "t", "different")]
    return {
        "reference": {"reference.parquet": rows(REFERENCE, {"image_id": "t", "split": "train", "spread": 30.0})},
        "candidates": {
            "candidates.parquet": rows(CANDIDATES, *pool),
            "copies.parquet": rows(COPIES, *({"image_id": i, "photo_id": f"p{i}"} for i in "abcde")),
        },
        "frequencies": {"frequencies.parquet": rows(FREQUENCIES, *votes)},
        "reviews/pairs": {
            "verdicts.parquet": rows(
                PAIR_VERDICTS,
                *(
                    {"number": k, "image_id": i, "neighbour_id": n, "verdict": v, "reviewer": "Ann", "time": WHEN, "note": f"{k}"}
                    for k, (i, n, v) in enumerate(verdicts)
                ),
            )
        },
        **{
            f"neighbours/{metric}": {
                "neighbours.parquet": listed(given),
                "unreadable.parquet": unreadable,
                "searched.json": {},
            }
            for metric, given, unreadable in (
                ("l2", l2, rows(UNREADABLE, {"image_id": "d", "origin": "candidates", "reason": "truncated"})),
                ("fc7", fc7, rows(UNREADABLE, {"image_id": "t9", "origin": "train", "reason": "no image"})),
            )
        },
    }  # fmt: skip


def listed(given: list[tuple[str, str, str, float]]) -> pd.DataFrame:
    frame = pd.DataFrame(given, columns=["image_id", "neighbour_id", "origin", "distance"])
    frame["rank"] = frame.groupby("image_id").cumcount()
    return frame[[column.name for column in NEIGHBOURS.columns]]


def decided(
    make_job: Callable[..., Job], config: dict[str, Any] | None = None
) -> tuple[pd.DataFrame, pd.DataFrame]:
    job = make_job("duplicates", config=config or CONFIG, inputs=world())
    run(job)
    return tuple(pd.read_parquet(job.out.folder / f"{name}.parquet") for name in ("pairs", "fates"))  # type: ignore[return-value]


def test_pairs_carry_distances_verdicts_and_flags(make_job: Callable[..., Job]) -> None:
    pairs, _ = decided(make_job)
    found = pairs.set_index(["image_id", "neighbour_id"])
    assert found["verdict"].to_dict() == {
        ("a", "b"): "duplicate",
        ("a", "t"): "different",
        ("c", "t"): "unreviewed",
    }
    assert found["found_by"].map(list).to_dict() == {
        ("a", "b"): ["l2"],
        ("a", "t"): ["l2", "fc7"],
        ("c", "t"): ["l2"],
    }
    assert found.loc[("a", "t"), ["reviewer", "time", "note"]].tolist() == ["Ann", WHEN, "2"]
    assert found.loc[("c", "t"), ["reviewer", "time", "note"]].tolist() == ["", "", ""]
    assert found["flags"].map(list).to_dict() == {("a", "b"): ["disagree"], ("a", "t"): [], ("c", "t"): []}
    assert pairs["ssim"].isna().all()


def test_fates(make_job: Callable[..., Job], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "imagenetv2"):
        _, fates = decided(make_job)
    found = fates.set_index(["image_id", "wnid"])
    assert found[["component", "fate", "place"]].to_dict("index") == {
        ("a", "n1"): {"component": "a", "fate": "dropped", "place": 2},
        ("a", "n2"): {"component": "a", "fate": "kept", "place": 0},
        ("b", "n1"): {"component": "a", "fate": "dropped", "place": 1},
        ("c", "n1"): {"component": "", "fate": "unreviewed", "place": 0},
        ("d", "n1"): {"component": "", "fate": "unreviewed", "place": 0},
        ("e", "n2"): {"component": "", "fate": "free", "place": 0},
    }
    assert found.loc[("d", "n1"), "reason"] == "image d could not be compared under l2 (truncated)"
    assert found["flags"].map(list).to_dict() == {
        ("a", "n1"): ["truncated"], ("a", "n2"): ["truncated"], ("b", "n1"): [], ("c", "n1"): [], ("d", "n1"): [],
        ("e", "n2"): ["flat"],
    }  # fmt: skip
    (warning,) = caplog.messages
    assert warning == (
        "l2: of 1 candidates all neighbours kept are at or below the cut-off of 100, so there may be more; set "
        "neighbours.l2.within to the cut-off, or raise neighbours.l2.k"
    )


def test_an_override_of_the_configuration(make_job: Callable[..., Job]) -> None:
    _, fates = decided(make_job, {**CONFIG, "duplicates": {**CONFIG["duplicates"], "override": {"a": "b"}}})
    assert fates.set_index(["image_id", "wnid"])["place"][["a", "b"]].tolist() == [2, 1, 0]
    with pytest.raises(InputError, match=r"duplicates\.override\.a: c is not in one component with a"):
        decided(make_job, {**CONFIG, "duplicates": {**CONFIG["duplicates"], "override": {"a": "c"}}})
