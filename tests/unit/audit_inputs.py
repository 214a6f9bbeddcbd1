"""A small record in which all parts agree, to plant faults in: four classes, two images a class in each set."""

from __future__ import annotations

import dataclasses
import hashlib
from functools import cache
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd
import pytest

from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import Finding
from imagenetv2.record.audit.released import NEW, Released
from imagenetv2.record.audit.stage import TOPICS, audit
from imagenetv2.record.faults import table

WNIDS = tuple(f"n0000000{k}" for k in range(4))
FILE = "data/search_results/2018-09-01.json"
TASKS_FILE = "data/mturk/hit_data_live/hits_submitted_2018-09-02.json"
SEEN = "imagenet-annotatedval-0"
PER_CLASS = 2


@pytest.fixture
def small_paper(monkeypatch: pytest.MonkeyPatch) -> None:
    """The paper's numbers, as they would be for the small record."""
    for name, value in {
        "CLASSES": 4,
        "PER_CLASS": PER_CLASS,
        "SEEN": 3,
        "DISTINCT": 24,
        "TASK": 8,
        "CONTROLS": 1,
    }.items():
        monkeypatch.setattr(paper, name, value)


def image(number: int) -> str:
    """The study's id of the photograph of that number."""
    return hashlib.sha1(f"{photo(number)}flickr".encode()).hexdigest()


def photo(number: int) -> str:
    return str(8_000_000_000 + 1000 * number)


def original(k: int, n: int) -> str:
    return f"ILSVRC2012_val_{10 * k + n:08d}.JPEG"


def record() -> Released:
    """The clean record."""
    drawn = [
        (name, WNIDS[k], k, image(n))
        for n, (name, k) in enumerate((name, k) for name in NEW for k in range(4) for _ in range(PER_CLASS))
    ]
    return Released(
        classes=pd.DataFrame(
            {
                "class_index": range(4), "wnid": WNIDS, "lemmas": [[f"thing {k}"] for k in range(4)],
                "definition": "", "wikipedia": [[]] * 4,
                "neighbours": [[WNIDS[(k + 1) % 4], WNIDS[(k + 2) % 4]] for k in range(4)],
            }
        ),
        search=_search(drawn),
        candidates=pd.DataFrame(
            [(i, w, k, None, ["search"]) for _, w, k, i in drawn],
            columns=["image_id", "wnid", "class_index", "photo_id", "known_from"],
        ),
        blacklist=pd.DataFrame({"image_id": [image(900)], "reason": ["unclear"]}),
        tasks=_tasks(drawn),
        submissions=pd.DataFrame(
            [(f"task-{k}", f"HIT{k}", WNIDS[k], TASKS_FILE, "2018-09-02 10:00:00", 8, 6, 1, 1, True, "") for k in range(4)],
            columns=[
                "task_id", "hit_id", "wnid", "source_file", "time", "images", "candidates", "positive", "negative",
                "submitted", "blacklisted",
            ],
        ),
        pairs=pd.DataFrame(
            [[*sorted([image(901), image(902)]), "candidates"]], columns=["image_id", "neighbour_id", "origin"]
        ),
        exempted=pd.DataFrame({"image_id": [image(901)]}),
        looked_at=pd.DataFrame(
            [(i, metric, "2018-10-01 00:00:00", 3, None) for *_, i in drawn for metric in ("l2", "fc7", "ssim")],
            columns=["image_id", "metric", "date", "references", "cutoff"],
        ),
        reviewed=pd.DataFrame(
            [(name, 0, w, True, False) for name in NEW for w in WNIDS],
            columns=["set", "revision", "wnid", "reviewed", "problematic"],
        ),
        lists=pd.DataFrame(
            [(f"list-{name}-0", name, 0, True, 8, 8, True, "2018-12-13_09:00:00_UTC", "", "{}") for name in NEW]
            + [(SEEN, "original", -1, False, 12, None, True, "2018-12-01_09:00:00_UTC", "", "{}")],
            columns=[
                "name", "set", "revision", "final", "images", "target", "valid", "time", "starting_from", "settings",
            ],
        ),
        revisions=pd.DataFrame(
            [(name, 0, i, w, k, True) for name, w, k, i in drawn],
            columns=["set", "revision", "image_id", "wnid", "class_index", "final"],
        ),
        originals=pd.DataFrame(
            [(SEEN, original(k, n), WNIDS[k]) for k in range(4) for n in range(3)], columns=["name", "image_id", "wnid"]
        ),
        images=pd.DataFrame(
            [("original", 5 * k + n, original(k, n), WNIDS[k], k) for k in range(4) for n in range(5)],
            columns=["set", "row", "image_id", "wnid", "class_index"],
        ),
        models=pd.DataFrame(
            [(s, "net", "", f"data/predictions/{s}/net.npy", True, 0, "") for s in ("original", *NEW)],
            columns=["set", "model", "family", "source_file", "usable", "row", "action"],
        ),
        earlier=pd.DataFrame(columns=["set", "revision", "model", "images", "right", "right5"]),
        files=_files(),
        faults=table([]).assign(part=pd.Series(dtype="str")),
    )  # fmt: skip


def _search(drawn: list[tuple[str, str, int, str]]) -> pd.DataFrame:
    rows = []
    for n, (_, wnid, _, image_id) in enumerate(drawn):
        rows.append(
            {
                "source_file": FILE, "position": n, "wnid": wnid, "photo_id": photo(n), "image_id": image_id,
                "query": "thing", "taken": "2013-01-01 12:00:00", "uploaded": f"2013-01-02 12:00:{n:02d}",
                "width": 800, "height": 600, "url": "", "size_key": "url_o", "taken_from": "2012-07-11",
                "taken_to": "2013-07-11", "uploaded_from": "2012-07-11", "uploaded_to": "2013-07-11",
                "order": "date-posted-asc", "most": 100,
            }
        )  # fmt: skip
    return pd.DataFrame(rows).astype({"width": "Int64", "height": "Int64", "most": "Int64"})


def _tasks(drawn: list[tuple[str, str, int, str]]) -> pd.DataFrame:
    """A task a class with all its candidates; the controls' places differ from task to task."""
    rows = []
    for k in range(4):
        names = [(i, "candidates", "candidate") for _, _, own, i in drawn if own == k]
        names.insert(2 * k, (original(k, 0), "reference", "positive"))
        names.insert(2 * k + 1, (original((k + 1) % 4, 1), "reference", "negative"))
        rows += [(f"task-{k}", p, WNIDS[k], i, origin, role) for p, (i, origin, role) in enumerate(names)]
    return pd.DataFrame(rows, columns=["task_id", "position", "wnid", "image_id", "origin", "role"])


def _files() -> pd.DataFrame:
    names = [
        FILE, TASKS_FILE, "data/mturk/assignments.json", "images.tar", "nearest_neighbor_results.pickle",
        *(f"data/datasets/list-{name}-0.json" for name in NEW),
        *(f"data/dataset_reviews/list-{name}-0_review.json" for name in NEW),
    ]  # fmt: skip
    return pd.DataFrame({"file": names, "bytes": 1, "sha256": "0" * 64, "read_by": ""})


def changed(base: Released, **tables: pd.DataFrame) -> Released:
    """The record with other tables."""
    return dataclasses.replace(base, **tables)


def at(frame: pd.DataFrame, row: int, **values: Any) -> pd.DataFrame:
    """A copy of a table with other values in one row."""
    frame = frame.copy()
    for name, value in values.items():
        frame.loc[frame.index[row], name] = value
    return frame


def plus(frame: pd.DataFrame, *rows: dict[str, Any]) -> pd.DataFrame:
    """A copy of a table with further rows, each the last one with other values."""
    added = [frame.tail(1).assign(**values) for values in rows]
    return pd.concat([frame, *added], ignore_index=True)


def found(base: Released) -> dict[str, Finding]:
    """All findings by slug."""
    every = [f for topic in audit(base).values() for f in topic]
    assert len({f.slug for f in every}) == len(every)
    return {f.slug: f for f in every}


@cache
def _modules() -> dict[str, ModuleType]:
    base = record()
    modules = [m for _, of_topic in TOPICS.values() for m in of_topic]
    return {f.slug: m for m in modules for f in m.findings(base)}


def one(base: Released, slug: str) -> Finding:
    """A finding, without the others' time."""
    return next(f for f in _modules()[slug].findings(base) if f.slug == slug)


def shuffled(base: Released, seed: int) -> Released:
    """The record with the rows of every table in another order."""
    rng = np.random.default_rng(seed)
    tables = {f.name: getattr(base, f.name) for f in dataclasses.fields(base)}
    return Released(**{n: t.sample(frac=1, random_state=rng) for n, t in tables.items()})
