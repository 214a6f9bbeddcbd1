"""Values that no record should hold, each with the fault that names it: nothing of the kind may end in a traceback."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from imagenetv2.record.claims.claim import Missing
from imagenetv2.record.claims.facts import MATCHED, THRESHOLD
from imagenetv2.record.claims.sets import claims
from imagenetv2.record.lists import class_thresholds, identified
from imagenetv2.record.reader import number, whole, without_halves
from tests.unit import record_example as example
from tests.unit.claims_facts import facts
from tests.unit.record_example import HITS, LOOKED, SEARCH, WNIDS, image, listed

ADDITIONAL = "data/metadata/additional_pos_val_images_for_20_per_wnid.json"
NEGATIVES = "data/metadata/negative_val_wnids_for_mturk.json"
HUGE = 10**30
Edit = Callable[[example.Files], object]


def controls(parts: Any) -> Edit:
    return lambda f: f.update({ADDITIONAL: {WNIDS[0]: parts}})


ODD: dict[str, tuple[str, Edit, str, str, str]] = {
    "width": ("search", lambda f: f[SEARCH][0].update(width=HUGE), SEARCH, "record 0: width", "number malformed"),
    "width as float": (
        "search", lambda f: f[SEARCH][0].update(width=1e300), SEARCH, "record 0: width", "number malformed",
    ),
    "limit": (
        "search", lambda f: f[SEARCH][0].update(max_images="9" * 30), SEARCH, "record 0: max_images", "number malformed",
    ),
    "digits": (
        "search", lambda f: f[SEARCH][0].update(height="1" * 5000), SEARCH, "record 0: height", "number malformed",
    ),
    "half a character": (
        "search", lambda f: f[SEARCH][0].update(search_key="\ud800"), SEARCH, "file", "text not Unicode",
    ),
    "half a character in an id": (
        "search", lambda f: f[SEARCH][0].update(id_search_engine="8\udc00"), SEARCH, "file", "text not Unicode",
    ),
    "target": (
        "datasets", lambda f: f[listed("a", 1)].update(target_size=HUGE), listed("a", 1), "imagenetv2-a-1", "number malformed",
    ),
    "revision": (
        "datasets", lambda f: f.update({listed("a", HUGE): f[listed("a", 0)]}), listed("a", HUGE), f"imagenetv2-a-{HUGE}",
        "list of no known set",
    ),
    "thresholds": (
        "datasets", lambda f: f[listed("a", 1)].update(wnid_thresholds=[1]), listed("a", 1), "imagenetv2-a-1",
        "value of another type",
    ),
    "a threshold": (
        "datasets", lambda f: f[listed("a", 1)].update(wnid_thresholds={WNIDS[0]: "x"}), listed("a", 1), "imagenetv2-a-1",
        "number malformed",
    ),
    "cut-off": (
        "duplicates", lambda f: f[LOOKED][image(1, 1)]["fc7"].update(threshold=10**400), LOOKED, f"{image(1, 1)} fc7",
        "number malformed",
    ),
    "first year": (
        "hits", lambda f: [t.update(time="0001-01-01 00:00:00+00:00") for t in f[HITS]], HITS, "time",
        "date not that of the file's name",
    ),
    "last year": (
        "hits", lambda f: [t.update(time="9999-12-31 23:59:59+00:00") for t in f[HITS]], HITS, "time",
        "date not that of the file's name",
    ),
    "controls as number": ("hits", controls({"pos_control": 5}), ADDITIONAL, WNIDS[0], "value of another type"),
    "controls as lists": ("hits", controls({"neg_control": [[1]]}), ADDITIONAL, WNIDS[0], "value of another type"),
    "negatives": ("classes", lambda f: f.update({NEGATIVES: {WNIDS[0]: [WNIDS[1]]}}), NEGATIVES, WNIDS[0], "class unknown"),
}  # fmt: skip


@pytest.mark.parametrize("name", ODD)
def test_odd_values_are_found_named_and_survived(tmp_path: Path, name: str) -> None:
    part, edit, file, subject, kind = ODD[name]
    files = example.files()
    edit(files)
    found = example.made(example.write(tmp_path / "record", files), part, tmp_path / "data").table("faults")
    rows = found[(found["file"] == file) & (found["subject"] == subject) & (found["fault"] == kind)]
    assert len(rows) == 1, found.to_dict("records")


@pytest.mark.parametrize(
    ("taken", "uploaded", "kinds"),
    [
        ("0001-01-01 00:00:00", "2012-08-02 10:00:00", set()),
        ("9999-12-31 23:59:59", "2012-08-02 10:00:00", {"uploaded before it was taken"}),
        ("0001-01-01 00:00:00+14:00", "0001-01-01 00:00:00", {"uploaded before Flickr opened"}),
    ],
)
def test_the_first_and_last_day_of_the_calendar_are_dates(
    tmp_path: Path, taken: str, uploaded: str, kinds: set[str]
) -> None:
    files = example.files()
    files[SEARCH][0].update(date_taken=taken, date_upload_search_engine=uploaded)
    artifact = example.made(example.write(tmp_path / "record", files), "search", tmp_path / "data")
    assert set(artifact.table("faults")["fault"]) == kinds
    assert artifact.table("records")["taken"][0] == taken


def test_odd_values_of_numbers_are_missing(tmp_path: Path) -> None:
    files = example.files()
    files[SEARCH][0].update(width=HUGE, height=2**63 - 1)
    files[listed("a", 1)].update(target_size=1e300)
    record = example.write(tmp_path / "record", files)
    records = example.made(record, "search", tmp_path / "data").table("records")
    assert pd.isna(records["width"][0]) and records["height"][0] == 2**63 - 1
    lists = example.made(record, "datasets", tmp_path / "data").table("lists").set_index("name")
    assert pd.isna(lists.loc["imagenetv2-a-1", "target"]) and lists.loc["imagenetv2-a-0", "target"] == 6


def test_whole_numbers_fit_into_64_bits() -> None:
    assert [whole(v) for v in (2**63 - 1, -(2**63), str(2**63 - 1), 2.0**62)] == [
        2**63 - 1,
        -(2**63),
        2**63 - 1,
        2**62,
    ]
    odd = (2**63, -(2**63) - 1, str(2**63), 2.0**63, 1e300, float("inf"), float("nan"), "1" * 5000)
    assert [whole(v) for v in odd] == [None] * len(odd)


def test_numbers_are_finite() -> None:
    assert [number(v) for v in (1, 0.5, "0.25", " 2 ")] == [1.0, 0.5, 0.25, 2.0]
    odd = (True, None, "low", "inf", float("nan"), 10**400, [1], {})
    assert [number(v) for v in odd] == [None] * len(odd)


def test_halves_of_surrogate_pairs_are_replaced_wherever_they_stand() -> None:
    value = json.loads('{"a\\ud800": ["\\udc00x", {"b": 1}], "c": "\\ud83d\\ude00"}')
    assert without_halves(value) == ({"a\ufffd": ["\ufffdx", {"b": 1}], "c": "😀"}, 2)
    assert without_halves(["ok", None, 1.5]) == (["ok", None, 1.5], 0)


def test_revisions_are_numbers_that_a_study_can_reach() -> None:
    assert identified("imagenetv2-a-9999") == ("threshold", 9999)
    assert identified("imagenetv2-a-10000") is None


def test_thresholds_are_those_that_are_numbers() -> None:
    stated = {"n2": 0.5, "n1": "0.6", "n3": "x", "n4": [1], "n5": True}
    assert class_thresholds({"wnid_thresholds": stated}) == {"n1": 0.6, "n2": 0.5}
    assert class_thresholds({"wnid_thresholds": [0.5]}) == class_thresholds({}) == {}


def test_claims_about_odd_settings_are_not_derivable() -> None:
    columns = ["name", "set", "revision", "final", "images", "settings"]
    odd = json.dumps({"selection_frequency_threshold": [0.7], "wnid_thresholds": [1], "histogram_bins": 5})
    rows = [(s, s, 0, True, 1, odd) for s in (MATCHED, THRESHOLD)]
    tables = {("record/datasets", "lists"): pd.DataFrame(rows, columns=columns)}
    some = facts({"original": {"a": 1}}, tables=tables)
    by_id = {c.id: c for c in claims()}
    for name in ("rules/threshold", "rules/bins", "rules/workers"):
        compute = by_id[name].compute
        assert compute is not None
        with pytest.raises(Missing, match="does not state"):
            compute(some)
    note = by_id["rules/threshold"].note
    assert callable(note) and note(some) == ""
