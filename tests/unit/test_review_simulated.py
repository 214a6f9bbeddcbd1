"""The simulated reviewer: known scenes and faults, and looking where nothing is known."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from imagenetv2.benchmark.stages import CLASSES, REFERENCE
from imagenetv2.candidates.stages import CANDIDATES
from imagenetv2.duplicates.settings import Cutoffs
from imagenetv2.duplicates.stages import NEIGHBOURS
from imagenetv2.review.looking import SAME, agreement, contrast
from imagenetv2.review.simulated import judge_pairs, review_rule, run_pairs, run_rule
from imagenetv2.sampling.plan import Plan
from imagenetv2.sampling.pool import Candidate, Pool
from imagenetv2.sampling.revisions import replay, reviewed, waiting
from imagenetv2.sampling.settings import Eligibility, TopImages
from imagenetv2.sampling.verdicts import from_table
from imagenetv2.world.stages import PHOTOS, TRUTH

from .small_review import archive, photograph, rows


def changed(pixels: Any) -> Any:
    """Brighter, flatter, one pixel to the side, and through JPEG."""
    moved = np.roll(pixels, 1, axis=1) * 0.7 + 60
    buffer = io.BytesIO()
    Image.fromarray(moved.astype(np.uint8)).save(buffer, "JPEG", quality=60)
    return np.asarray(Image.open(buffer))


def test_an_edited_copy_is_recognised_and_another_picture_is_not() -> None:
    for seed in range(20):
        here, there = contrast(photograph(seed)), contrast(photograph(seed + 100))
        assert agreement(here, contrast(changed(photograph(seed)))) > 0.8
        assert agreement(here, there) < 0.5
        assert agreement(here, here) == pytest.approx(1.0)
    flat = np.full((10, 30, 3), 200, np.uint8)
    assert agreement(contrast(flat), contrast(flat)) == 0.0


# Pairs of a CIFAR-10 test and a training photograph, judged by eye.
COPIES = """
dog/0074 dog/1063  automobile/0547 automobile/0537  airplane/0505 airplane/0571  deer/0722 deer/1912
airplane/0929 airplane/1721  cat/0552 cat/1644  frog/0972 frog/1736  horse/0415 horse/1579  deer/0844 deer/0242
dog/0367 dog/0566  airplane/0830 airplane/0827  frog/0171 frog/0549  airplane/0324 airplane/0542
automobile/0547 automobile/0186  airplane/0119 airplane/1058  dog/0427 dog/0556  automobile/0043 automobile/2159
airplane/0763 airplane/0956  automobile/0415 automobile/0520  cat/0091 cat/2257  deer/0415 deer/1325
deer/0822 deer/2473  cat/0391 cat/0648  automobile/0318 automobile/1438
"""
LOOKALIKES = """
airplane/0039 automobile/2172  airplane/0402 frog/1658  airplane/0640 ship/1665  automobile/0297 airplane/0548
deer/0513 ship/0132  frog/0637 frog/0414  ship/0003 ship/0993  ship/0095 ship/0967  ship/0333 ship/0993
ship/0395 ship/0516  ship/0399 ship/0054  ship/0399 ship/1347  ship/0445 airplane/2179  ship/0445 ship/1879
ship/0728 ship/1347  ship/0728 ship/0132  ship/0730 ship/1328  ship/0823 ship/1665  ship/0823 ship/0054
ship/0874 ship/1665  ship/0874 ship/1347  truck/0406 ship/1347
"""


@pytest.mark.packs
def test_copies_and_lookalikes_among_real_photographs(packs: Path) -> None:
    wanted = {
        side: {f"./{name}.jpg" for name in (COPIES + LOOKALIKES).split()[start::2]}
        for start, side in enumerate(("test", "train"))
    }
    looks: dict[tuple[str, str], Any] = {}
    for side, names in wanted.items():
        with tarfile.open(packs / "cifar10h" / f"{side}.tar") as tar:
            for member in tar:
                if member.name in names:
                    data = tar.extractfile(member)
                    assert data is not None
                    pixels = np.asarray(Image.open(data).convert("RGB"))
                    looks[side, member.name[2:-4]] = contrast(pixels)
    for text, same in ((COPIES, True), (LOOKALIKES, False)):
        names = text.split()
        for test, train in zip(names[::2], names[1::2], strict=True):
            score = agreement(looks["test", test], looks["train", train])
            assert (score >= SAME) is same, (test, train, score)


def test_scenes_decide_where_both_are_known() -> None:
    pairs = pd.DataFrame({"image_id": ["b", "a", "a"], "neighbour_id": ["z", "y", "x"]})
    scenes = {"a": {"s1", "s2"}, "x": {"s2"}, "y": {"s3"}, "b": {"s1"}}
    pictures = {"b": photograph(1), "z": changed(photograph(1))}
    found = judge_pairs(pairs, scenes, pictures.__getitem__)
    assert found[["image_id", "neighbour_id", "verdict"]].to_numpy().tolist() == [
        ["a", "x", "duplicate"],
        ["a", "y", "different"],
        ["b", "z", "duplicate"],
    ]
    assert found["number"].tolist() == [0, 1, 2]
    assert set(found["reviewer"]) == {"simulated"}
    assert set(found["time"]) == {""}


def chain_plan(images: int = 12) -> Plan:
    candidates = tuple(Candidate(f"i{k:02d}", 10, 10, "free") for k in range(images))
    return Plan("top_images", {"n1": Pool("n1", candidates, ())}, Eligibility(per_class=3), TopImages(), 0)


def test_rounds_go_on_until_nobody_objects() -> None:
    plan, faults = chain_plan(), {(f"i{k:02d}", "n1"): "blurred" for k in (11, 9, 8)}
    verdicts = review_rule(plan, faults, lambda *_: False, 30)
    assert [v.blacklisted for v in verdicts] == [("i09", "i11"), ("i08",), ()]
    assert verdicts[0].reasons == ("blurred", "blurred")
    last = replay(plan, verdicts)[-1]
    assert last.classes["n1"].ids == ("i06", "i07", "i10")
    assert reviewed(last, verdicts) == {"n1"}


def test_a_fault_of_another_class_and_an_overlooked_one_stay() -> None:
    faults = {("i11", "n2"): "drawing", ("i10", "n1"): "blurred"}
    verdicts = review_rule(chain_plan(), faults, lambda number, image, wnid: image == "i10", 30)
    assert [v.blacklisted for v in verdicts] == [()]


def test_rounds_are_limited_and_the_set_stays_open() -> None:
    plan, faults = chain_plan(), {(f"i{k:02d}", "n1"): "blurred" for k in range(12)}
    verdicts = review_rule(plan, faults, lambda *_: False, 2)
    assert len(verdicts) == 2
    assert waiting(replay(plan, verdicts)[-1], verdicts) == ["n1"]


def world_inputs() -> dict[str, dict[str, Any]]:
    """Three candidates of one class; p1 is a copy of a training image, p2 is a drawing."""
    ids = ("i1", "i2", "i3")
    return {
        "world": {
            "photos.parquet": rows(PHOTOS, *({"photo_id": f"p{i}", "file": f"{i}.jpg"} for i in ids)),
            "truth.parquet": rows(
                TRUTH,
                {"file": "i1.jpg", "wnid": "n1", "scene": "s1"},
                {"file": "o1.jpg", "wnid": "n1", "scene": "s1"},
                {"file": "i2.jpg", "wnid": "n1", "fault": "drawing"},
                {"file": "i3.jpg", "wnid": "n2", "fault": "not representative"},
            ),
        },
        "classes": {"classes.parquet": rows(CLASSES, {"wnid": "n1"})},
        "candidates": {
            "candidates.parquet": rows(
                CANDIDATES,
                *({"image_id": i, "wnid": "n1", "photo_id": f"p{i}", "file": f"n1/{i}.png"} for i in ids),
            ),
            "images.zip": archive({f"n1/{i}.png": photograph(k) for k, i in enumerate(ids)}),
        },
        "reference": {
            "reference.parquet": rows(
                REFERENCE,
                *(
                    {"image_id": f"r{k}", "split": "train", "wnid": "n1", "file": f"n1/r{k}.png", "source_file": f"o{k}.jpg"}
                    for k in (1, 2)
                ),
            ),
            "images.zip": archive({"n1/r1.png": photograph(50), "n1/r2.png": changed(photograph(2))}),
        },
        "frequencies": {
            "frequencies.parquet": pd.DataFrame(
                {
                    "image_id": ids, "wnid": "n1", "origin": "candidates", "negative": False, "shown": 10,
                    "selected": 9, "frequency": 0.9, "low": 0.0, "high": 1.0,
                }
            )
        },
        "duplicates": {
            "fates.parquet": pd.DataFrame(
                {"image_id": ids, "wnid": "n1", "component": "", "fate": "free", "reason": "", "place": 0, "flags": [[]] * len(ids)}
            )
        },
    }  # fmt: skip


def test_stage_for_pairs(make_job: Callable[..., Any]) -> None:
    near = [("i1", "r1"), ("i3", "r2"), ("i2", "r1")]
    given = world_inputs()
    for metric in ("l2", "fc7", "ssim"):
        given[f"neighbours/{metric}"] = {
            "neighbours.parquet": rows(
                NEIGHBOURS, *({"image_id": a, "neighbour_id": b, "origin": "train"} for a, b in near)
            )
        }
    job = make_job("reviews/pairs", inputs=given)
    assert job.settings(Cutoffs).ssim > 0
    run_pairs(job)
    found = pd.read_parquet(job.out.folder / "verdicts.parquet")
    assert found[["image_id", "neighbour_id", "verdict"]].to_numpy().tolist() == [
        ["i1", "r1", "duplicate"],
        ["i2", "r1", "different"],
        ["i3", "r2", "duplicate"],
    ]
    assert found["note"][0] == "same scene" and found["note"][2].startswith("the pictures agree to 0.")


def test_stage_for_a_rule(make_job: Callable[..., Any]) -> None:
    config = {"sampling": {"eligibility": {"per_class": 2}}, "review": {"simulated": {"oversight": 0.0}}}
    for rule in ("threshold", "top_images"):
        job = make_job(f"reviews/{rule}", config=config, inputs=world_inputs())
        run_rule(job)
        verdicts = from_table(pd.read_parquet(job.out.folder / "verdicts.parquet"))
        assert verdicts[-1].images == ("i1", "i3") and verdicts[-1].blacklisted == ()
        assert {i for v in verdicts for i in v.blacklisted} <= {"i2"}
