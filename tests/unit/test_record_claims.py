"""Claims: what a printed number allows, the verdict, and that every claim can be judged."""

from __future__ import annotations

import io
import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from imagenetv2.intervals import clopper_pearson
from imagenetv2.record.claims import lines, sets
from imagenetv2.record.claims.claim import (
    CORRECTED,
    DIFFERS,
    SAME,
    UNKNOWN,
    VERDICTS,
    Claim,
    Missing,
    agrees,
    judge,
    number,
    shown,
    table,
    tolerance,
)
from imagenetv2.record.claims.facts import Facts
from imagenetv2.record.claims.released import uncorrected
from imagenetv2.record.claims.stage import CLAIMS, listed
from imagenetv2.record.result_tables import CLAIMS as TABLE
from tests.unit.claims_facts import NEW, OLD, facts, predictions, study

KINDS = sorted(CLAIMS)


@pytest.mark.parametrize(
    ("printed", "value", "allowed"),
    [
        ("−20.2%", -20.2, 0.05),
        ("-20.2", -20.2, 0.05),
        ("20,683", 20683, 0.5),
        ("+1.8%", 1.8, 0.05),
        ("±1%", 1, 0.5),
        ("0.12%", 0.12, 0.005),
        ("1.10", 1.1, 0.005),
        ("about 4%", 4, 0.5),
        ("0, by “11% – 14%”", 0, 0.5),
        ("better", None, None),
    ],
)
def test_what_a_printed_number_says(printed: str, value: float | None, allowed: float | None) -> None:
    assert number(printed) == value
    assert tolerance(printed) == pytest.approx(allowed)


@pytest.mark.parametrize(
    ("printed", "value", "fits"),
    [
        ("72.2", 72.15, True),
        ("72.2", 72.25, True),
        ("72.2", 72.251, False),
        ("72.2", 72.149, False),
        ("−20.2%", -20.263, False),
        ("20,683", 20684, False),
        ("better", "better", True),
        ("better", "no better", False),
        ("2012-07-11", "2012-07-11", True),
        ("2012-07-11", "2012-07-12", False),
        ("10", "9 to 10", False),
    ],
)
def test_agreement(printed: str, value: float | str, fits: bool) -> None:
    assert agrees(printed, value) is fits


@pytest.mark.parametrize(
    ("printed", "value", "text"),
    [
        ("72.2", 72.19, "72.19"),
        ("−11.8%", -11.827, "−11.83"),
        ("+2.1%", 2.082, "+2.08"),
        ("+2.1%", -2.082, "−2.08"),
        ("20,683", 20683.0, "20,683"),
        ("14%", 13.6, "13.6"),
        ("11.0", 11.0, "11.00"),
        ("better", "better", "better"),
    ],
)
def test_computed_values_are_shown_with_one_digit_more(printed: str, value: float | str, text: str) -> None:
    assert shown(printed, value) == text


def _top(facts: Facts) -> float:
    return facts.one("a", "matched_frequency")


def test_verdicts() -> None:
    good, bad = study(), study(matched_frequency={**NEW, "a": 20})
    claim = Claim("x", "Table", "accuracy", "70", _top, "a note")
    assert judge(claim, good, good).verdict == SAME
    assert judge(claim, bad, good).verdict == DIFFERS
    corrected = judge(claim, good, bad)
    assert corrected.verdict == CORRECTED
    assert corrected.note == "As released 10; corrected: a. a note"
    assert corrected.value == pytest.approx(70)


def test_what_cannot_be_computed_is_not_derivable_and_says_why() -> None:
    unknown = judge(Claim("x", "s", "t", "0.73", None, "no votes"), study(), study())
    assert (unknown.verdict, unknown.note, unknown.computed, unknown.value) == (UNKNOWN, "no votes", "", None)
    absent = judge(Claim("x", "s", "t", "1", lambda f: f.one("nobody", "original")), study(), study())
    assert absent.verdict == UNKNOWN and "nobody" in absent.note
    with pytest.raises(ValueError, match="no reason"):
        Claim("x", "s", "t", "1", None)


def test_a_claim_that_only_the_corrected_record_answers_is_the_same() -> None:
    claim = Claim("x", "s", "t", "70", lambda f: f.one("a", "matched_frequency"))
    assert judge(claim, study(), facts({"original": OLD})).verdict == SAME


@pytest.mark.parametrize("kind", KINDS)
def test_claims_are_named_once_and_the_unknown_say_why(kind: str) -> None:
    claims = listed(kind)
    names = [c.id for c in claims]
    assert len(names) == len(set(names))
    assert all(c.compute is not None or c.note for c in claims)
    assert all(c.printed == c.printed.strip() and "|" not in c.printed for c in claims)


@pytest.mark.parametrize("kind", KINDS)
def test_every_claim_is_judged_on_any_record_and_the_table_is_as_declared(kind: str) -> None:
    small = study(v4=NEW, v6=NEW)
    judged = table(judge(c, small, small) for c in listed(kind))
    TABLE.to_arrow(judged)
    assert set(judged["verdict"]) <= set(VERDICTS)
    assert judged.loc[judged["verdict"] == UNKNOWN, "note"].ne("").all()
    assert (judged["computed"] == "").equals(judged["verdict"] == UNKNOWN)


def test_places_and_moves_are_by_accuracy_then_name() -> None:
    some = facts({"original": {"a": 9, "b": 9, "c": 8}, "new": {"a": 7, "b": 8, "c": 9}})
    assert [some.place(m, "original") for m in "abc"] == [1, 2, 3]
    assert [some.place(m, "new") for m in "abc"] == [3, 2, 1]
    assert some.moves("new").tolist() == [2, 0, 2]


def test_lines_are_those_of_scipy() -> None:
    some = study()
    x, y = some.accuracy("original"), some.accuracy("matched_frequency")
    found, expected = some.line("matched_frequency"), stats.linregress(x, y)
    assert (found.slope, found.offset) == pytest.approx((expected.slope, expected.intercept))
    assert found.r2 == pytest.approx(expected.rvalue**2)
    probit = some.line("matched_frequency", scale="probit")
    expected = stats.linregress(stats.norm.ppf(x / 100), stats.norm.ppf(y / 100))
    assert probit.slope == pytest.approx(expected.slope)
    with pytest.raises(Missing, match="fewer than three"):
        some.line("matched_frequency", ["a", "b"])


def test_tables_of_accuracies() -> None:
    by_id = {c.id: c for c in listed("imagenetv2")}
    some = study()
    assert by_id["networks/smallest-loss"].compute(some) == pytest.approx(10)
    assert by_id["networks/largest-loss"].compute(some) == pytest.approx(12)
    assert by_id["fisher/largest-loss"].compute(some) == pytest.approx(10)
    assert by_id["abstract/below"].compute(some) == 1
    assert by_id["rules/matched_frequency/top1"].compute(some) == pytest.approx(-(20 + 22 + 24 + 20) / 8)
    width = max(np.diff(clopper_pearson(k, 200), axis=0)[0] for k in NEW.values())
    assert by_id["interval/half-width"].compute(some) == pytest.approx(50 * width)
    assert by_id["best/model"].compute(some) == "a"


def test_the_note_on_bootstraps_names_the_nearest() -> None:
    rows = [
        ("matched_frequency", "linear", group, over, low, high)
        for group, over, low, high in (
            ("Networks", "models", 1.078, 1.188),
            ("Networks", "images", 1.02, 1.15),
            ("all", "models", 0.9, 1.1),
        )
    ]
    names = ["set", "scale", "group", "over", "slope_low", "slope_high"]
    some = facts(
        {"original": OLD, "matched_frequency": NEW},
        {"fv_1": "Fisher vectors"},
        {("analysis", "fits"): pd.DataFrame(rows, columns=names)},
    )
    claim = next(c for c in lines.claims() if c.id == "lines/slope-low")
    judged = judge(claim, some, some)
    assert judged.verdict == DIFFERS and judged.value == 1.078
    assert "nearest to that over models, of the 3 networks" in judged.note
    assert "outward is [1.07, 1.19]" in judged.note
    assert "over classes" not in judged.note


def _collection() -> dict[tuple[str, str], pd.DataFrame]:
    """Lists of three sets with two classes of two images, threshold and top sharing one of them."""
    rules = {"matched_frequency": "abcd", "threshold": "aefg", "top_images": "ehij"}
    settings = {
        "selection_frequency_threshold": 0.7,
        "wnid_thresholds": {"n1": 0.5},
        "histogram_bins": [0.2, 0.4, 0.6, 0.8],
        "min_num_annotations_candidates": 10,
    }
    head = ["name", "set", "revision", "final", "images", "settings"]
    listed_ = [(f"{s}-{r}", s, r, r == 5, 4, json.dumps(settings)) for s in rules for r in (3, 5)]
    listed_.append(("imagenet-annotatedval-0", "original", -1, False, 40, "{}"))
    rows = [(s, 5, i, f"n{k % 2}", True) for s, ids in rules.items() for k, i in enumerate(ids)]
    reviewed = [(s, 5, w, True, False) for s in rules for w in ("n0", "n1")]
    return {
        ("record/datasets", "lists"): pd.DataFrame(listed_, columns=head),
        ("record/datasets", "revisions"): pd.DataFrame(rows, columns=["set", "revision", "image_id", "wnid", "final"]),
        ("record/classes", "classes"): pd.DataFrame({"wnid": ["n0", "n1"]}),
        ("record/reviews", "classes"): pd.DataFrame(reviewed, columns=["set", "revision", "wnid", "reviewed", "problematic"]),
    }  # fmt: skip


def test_sets_revisions_and_reviews() -> None:
    some = facts({"original": OLD}, tables=_collection())
    by_id = {c.id: c for c in sets.claims()}
    found = {
        name: by_id[name].compute(some)
        for name in (
            "sets/distinct",
            "sets/per-class",
            "sets/classes",
            "review/revisions",
            "rules/validation",
        )
    }
    assert found == {
        "sets/distinct": 10,
        "sets/per-class": 2,
        "sets/classes": 2,
        "review/revisions": 5,
        "rules/validation": 20,
    }
    assert by_id["review/objections"].compute(some) == 0
    threshold = judge(by_id["rules/threshold"], some, some)
    assert (threshold.verdict, threshold.note) == (SAME, "The list states lower ones for 1 classes: n1 0.5.")
    assert judge(by_id["rules/bins"], some, some).verdict == SAME


def test_uneven_classes_and_unreviewed_revisions_are_told() -> None:
    tables = _collection()
    tables["record/datasets", "revisions"].loc[0, "wnid"] = "n1"
    tables["record/reviews", "classes"].loc[0, "reviewed"] = False
    some = facts({"original": OLD}, tables=tables)
    by_id = {c.id: c for c in sets.claims()}
    assert judge(by_id["sets/per-class"], some, some).computed == "1 to 3"
    assert judge(by_id["review/objections"], some, some).verdict == UNKNOWN


def test_the_released_files_replace_what_was_corrected() -> None:
    sound = predictions({"a": 100, "b": 80})
    order = np.random.default_rng(0).permutation(200)
    images = sound.images.assign(set="new", row=0)
    images.loc[order, "row"] = np.arange(200)
    classes = images.sort_values("row")["class_index"].to_numpy()
    values = np.full((200, 5), 99)
    values[:, 4] = classes
    values[0, 4] = 98
    buffer = io.BytesIO()
    np.save(buffer, values)
    models = pd.DataFrame(
        [("new", "a", "a.npy", True, "columns reversed"), ("new", "b", "b.npy", True, "")],
        columns=["set", "model", "source_file", "usable", "action"],
    )
    found = uncorrected({"new": sound}, models, images, {"a.npy": buffer.getvalue()}.__getitem__)["new"]
    assert (found.ranks[1] == sound.ranks[1]).all()
    expected = np.full(200, 4)
    expected[order[0]] = 5
    assert (found.ranks[0] == expected).all()
    broken = uncorrected({"new": sound}, models, images, {"a.npy": b"no array"}.__getitem__)["new"]
    assert (broken.ranks == sound.ranks).all()


def test_half_widths_of_the_text_are_clopper_pearson() -> None:
    by_id = {c.id: c for c in listed("cifar10.1")}
    low, high = stats.binomtest(1800, 2000).proportion_ci(method="exact")
    assert by_id["intervals/low"].compute(study()) == pytest.approx(100 * low)
    assert by_id["intervals/high"].compute(study()) == pytest.approx(100 * high)
    assert math.isclose(number(by_id["intervals/low"].printed) or 0, 88.6)
