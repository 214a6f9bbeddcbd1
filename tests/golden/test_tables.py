"""Tables of stages that only count and draw, as they were when they were last looked at.

After an intended change of output: raise the stage's algorithm version, look at what differs, and set the digest here.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.job import Job

ROOT = Path(__file__).parents[2]
WNIDS = ("n03063599", "n03950228")
DIGESTS = {
    "classes@1 classes": "a4d1a234f5a30d8b",
    "frequencies@1 frequencies": "8000af4035de319c",
    "frequencies@1 workers": "40e34fab404ce3ed",
    "datasets/matched_frequency@2 images": "7bcb668c4e35d0a2",
    "datasets/threshold@2 images": "43a1108cfa4af4e6",
    "datasets/top_images@2 images": "c6e022cfecb5b341",
}


@pytest.fixture(autouse=True)
def checkout(monkeypatch: pytest.MonkeyPatch) -> None:
    """The class table is named relative to the checkout."""
    monkeypatch.chdir(ROOT)


def run(
    make_job: Callable[..., Job], name: str, inputs: dict[str, dict[str, object]], config: object = None
) -> Path:
    """Run a stage; returns the folder of its draft."""
    job = make_job(name, inputs=inputs, config=config)
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    return job.out.folder


def check(folder: Path, name: str, *tables: str) -> None:
    """Compare the text of tables with the digests."""
    algorithm = stages(Config())[name].algorithm
    for table in tables:
        text = pd.read_parquet(folder / f"{table}.parquet").map(str).to_csv(index=False)
        key = f"{name}@{algorithm} {table}"
        assert hashlib.sha256(text.encode()).hexdigest()[:16] == DIGESTS.get(key), key


def rows(wnid: str, origin: str, count: int) -> pd.DataFrame:
    """Frequencies by arithmetic: every tenth of a vote occurs."""
    frame = pd.DataFrame({"image_id": [f"{wnid[-3:]}{origin[0]}{n:012d}" for n in range(count)]})
    frame = frame.assign(wnid=wnid, origin=origin, negative=False, shown=10)
    frame["selected"] = [(n * 7 + len(origin)) % 11 for n in range(count)]
    return frame.assign(frequency=frame["selected"] / 10, low=0.0, high=1.0)


def test_classes(make_job: Callable[..., Job]) -> None:
    check(run(make_job, "classes", {}), "classes", "classes")


def test_frequencies(make_job: Callable[..., Job]) -> None:
    roles = ["positive", "negative", *["candidate"] * 6]
    tasks = pd.DataFrame(
        [
            (f"{w}-{t}", p, w, f"{w[-2:]}{t if r == 'candidate' else 0}{p:013d}", "reference" if p < 2 else "candidates", r, f"{w}{t}{p}")
            for w in WNIDS
            for t in range(2)
            for p, r in enumerate(roles)
        ],
        columns=["task_id", "position", "wnid", "image_id", "origin", "role", "token"],
    )  # fmt: skip
    answers = pd.DataFrame(
        [
            (
                task,
                f"{w:016x}",
                "H",
                f"A{task}{w}",
                "Approved",
                60 + w,
                [p for p in range(8) if (p * w + len(task)) % 3],
            )
            for task in sorted(set(tasks["task_id"]))
            for w in range(10)
        ],
        columns=["task_id", "worker", "hit_id", "assignment_id", "status", "seconds", "selected"],
    )
    inputs = {"hits": {"tasks.parquet": tasks}, "assignments": {"assignments.parquet": answers}}
    check(run(make_job, "frequencies", inputs), "frequencies", "frequencies", "workers")


@pytest.mark.parametrize("rule", ["matched_frequency", "threshold", "top_images"])
def test_datasets(make_job: Callable[..., Job], rule: str) -> None:
    known = stages(Config())
    config = {"sampling": {"eligibility": {"per_class": 10}}}
    candidates = pd.concat([rows(w, "candidates", 66) for w in WNIDS])
    pool = candidates[["image_id", "wnid"]].assign(
        class_index=[WNIDS.index(w) for w in candidates["wnid"]], photo_id=candidates["image_id"], query="q", rung=0,
        owner_id="o", license="4", uploaded=1_350_000_000, file="f", source_sha256="s", source_format="JPEG",
        exif_orientation=1, width=80, height=80, spread=30.0,
    )  # fmt: skip
    fates = candidates[["image_id", "wnid"]].assign(
        component="", fate="free", reason="", place=0, flags=[[] for _ in range(len(candidates))]
    )
    fates.loc[::9, "fate"] = "dropped"
    inputs: dict[str, dict[str, object]] = {
        "classes": {
            "classes.parquet": pd.DataFrame(
                [(i, w, [f"c{i}"], "d", [], [], [WNIDS[1 - i]]) for i, w in enumerate(WNIDS)],
                columns=[c.name for c in known["classes"].table("classes").columns],
            )
        },
        "candidates": {"candidates.parquet": pool},
        "frequencies": {
            "frequencies.parquet": pd.concat([candidates, *(rows(w, "reference", 44) for w in WNIDS)])
        },
        "duplicates": {"fates.parquet": fates},
        f"reviews/{rule}": {"verdicts.parquet": known[f"reviews/{rule}"].table("verdicts").empty()},
    }
    check(run(make_job, f"datasets/{rule}", inputs, config), f"datasets/{rule}", "images")
