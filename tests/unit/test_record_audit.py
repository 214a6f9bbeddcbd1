"""The audit: a clean record has no findings, and every planted fault is found with the ids that prove it."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from imagenetv2.record.audit.arrangements import by_chance, expected
from imagenetv2.record.audit.finding import (
    DEPARTS,
    INCONSISTENT,
    LIMIT,
    MISSING,
    NOTED,
    SOUND,
    Finding,
    nothing,
)
from imagenetv2.record.audit.pictures import pictures
from imagenetv2.record.audit.released import Released
from imagenetv2.record.faults import Fault, table
from tests.unit.audit_inputs import (
    WNIDS,
    at,
    changed,
    found,
    image,
    one,
    original,
    photo,
    plus,
    record,
    shuffled,
    small_paper,
)

__all__ = ["small_paper"]
pytestmark = pytest.mark.usefixtures("small_paper")
ALWAYS = {"blinding": LIMIT, "overlap": NOTED}
"""What the small record shares with the real one: names of validation images begin alike, sets may overlap."""


def test_a_clean_record_has_no_problem() -> None:
    kinds = {slug: f.kind for slug, f in found(record()).items()}
    assert {slug: kind for slug, kind in kinds.items() if kind != SOUND} == ALWAYS
    assert len(kinds) >= 40


def test_findings_do_not_depend_on_the_order_of_rows() -> None:
    base = record()
    base = changed(base, search=at(base.search, 0, uploaded="2011-01-01 00:00:00"))
    plain, other = found(base), found(shuffled(base, 1))
    for slug, finding in plain.items():
        assert finding.measured == other[slug].measured
        pd.testing.assert_frame_equal(finding.evidence, other[slug].evidence)


Change = Callable[[Released], Released]


def _search(row: int, **values: object) -> Change:
    return lambda r: changed(r, search=at(r.search, row, **values))


def _again(**values: object) -> Change:
    return lambda r: changed(r, search=plus(r.search, {"position": 99, **values}))


def _final(old: str, new: str) -> Change:
    return lambda r: changed(r, revisions=r.revisions.replace({"image_id": {old: new}}))


def _pair(a: str, b: str, origin: str = "candidates") -> Change:
    return lambda r: changed(r, pairs=plus(r.pairs, {"image_id": a, "neighbour_id": b, "origin": origin}))


def _list(row: int, **values: object) -> Change:
    return lambda r: changed(r, lists=at(r.lists, row, **values))


def _submission(row: int, **values: object) -> Change:
    return lambda r: changed(r, submissions=at(r.submissions, row, **values))


def _task(row: int, **values: object) -> Change:
    return lambda r: changed(r, tasks=at(r.tasks, row, **values))


def _copied_task(r: Released) -> Released:
    extra = r.tasks.loc[r.tasks["task_id"] == "task-1"].assign(task_id="copy")
    return changed(
        r,
        tasks=pd.concat([r.tasks, extra], ignore_index=True),
        submissions=plus(
            r.submissions, {"task_id": "copy", "source_file": "data/mturk/b.json", "wnid": WNIDS[1]}
        ),
    )


def _objection(r: Released) -> Released:
    return changed(
        r, reviewed=plus(r.reviewed, {"set": "matched_frequency", "revision": 7, "problematic": True})
    )


def _earlier(r: Released) -> Released:
    row = {"set": "threshold", "revision": 3, "model": "net", "images": 8, "right": 4, "right5": 6}
    return changed(r, earlier=pd.DataFrame([row]))


def _shared_places(*numbers: int) -> Change:
    """Controls of some tasks at the places of the first one's."""

    def change(r: Released) -> Released:
        tasks = r.tasks.copy()
        for k in numbers:
            own = tasks["task_id"] == f"task-{k}"
            tasks.loc[own, "position"] = (tasks.loc[own, "position"] - 2 * k) % 8
        return changed(r, tasks=tasks)

    return change


def _faults(part: str, fault: str, subject: str) -> Change:
    made = table([Fault("data/x.json", subject, fault, "wrong")]).assign(part=part)
    return lambda r: changed(r, faults=made)


PLANTED = {
    "uploads": (_search(3, uploaded="2015-01-01 00:00:00"), DEPARTS, 1, image(3)),
    "posted-before-taken": (_search(3, uploaded="2012-08-01 00:00:00"), LIMIT, 1, image(3)),
    "taken": (_search(3, taken="2011-01-01 00:00:00"), DEPARTS, 1, image(3)),
    "windows": (_search(3, uploaded_from=None, taken_from=None), DEPARTS, 1, WNIDS[1]),
    "limits": (_search(3, most=800), NOTED, 1, WNIDS[1]),
    "order": (_search(3, uploaded="2012-12-01 00:00:00"), NOTED, 1, WNIDS[1]),
    "several-classes": (
        _again(photo_id=photo(0), image_id=image(0), wnid=WNIDS[3]), LIMIT, 1, image(0),
    ),
    "class-not-searched": (_search(0, wnid=WNIDS[3]), MISSING, 1, image(0)),
    "repeats": (_again(photo_id=photo(0), image_id=image(0), wnid=WNIDS[0]), NOTED, 1, image(0)),
    "sizes": (_search(3, width=pd.NA), LIMIT, 1, image(3)),
    "ids-of-photographs": (_search(3, photo_id="1"), INCONSISTENT, 1, image(3)),
    "damaged-ids": (
        lambda r: changed(r, blacklist=plus(r.blacklist, {"image_id": "12researcher34"})), INCONSISTENT, 1,
        "12researcher34",
    ),
    "composition": (_submission(1, positive=0, candidates=7), NOTED, 1, "task-1"),
    "controls": (_task(0, image_id=original(3, 4)), INCONSISTENT, 1, "task-0"),
    "asked-class": (
        lambda r: changed(r, tasks=r.tasks.assign(wnid=r.tasks["wnid"].where(r.tasks["image_id"] != image(2), WNIDS[0]))),
        INCONSISTENT, 1, image(2),
    ),
    "excluded-shown": (
        lambda r: changed(r, blacklist=plus(r.blacklist, {"image_id": image(5)})), NOTED, 1, image(5),
    ),
    "refused-tasks": (_submission(2, blacklisted="images missing"), NOTED, 1, "task-2"),
    "task-dates": (_submission(2, time="2018-10-02 10:00:00"), INCONSISTENT, 1, "task-2"),
    "arrangements": (_shared_places(1, 2, 3), LIMIT, 4, "task-1"),
    "submitted-twice": (_copied_task, NOTED, 2, "copy"),
    "shown-twice": (_copied_task, LIMIT, 6, image(2)),
    "chain": (_list(1, starting_from="list-threshold-8", revision=9), MISSING, 9, "list-threshold-8"),
    "thresholds": (
        _list(1, settings='{"wnid_thresholds": {"n00000002": 0.5, "n00000003": 0.7}}'), DEPARTS, 1, WNIDS[2],
    ),
    "invalid": (_list(2, valid=False), INCONSISTENT, 1, "list-top_images-0"),
    "evaluated-early": (_earlier, NOTED, 1, None),
    "final-review": (
        lambda r: changed(r, reviewed=at(r.reviewed, 1, problematic=True)), INCONSISTENT, 1, WNIDS[1],
    ),
    "first-review": (_objection, NOTED, 1, WNIDS[3]),
    "neighbour-reviews": (
        lambda r: changed(r, looked_at=r.looked_at.loc[r.looked_at["image_id"] != image(4)]), LIMIT, 1, None,
    ),
    "shape": (_final(image(0), image(1)), INCONSISTENT, 2, image(1)),
    "overlap": (_final(image(8), image(0)), INCONSISTENT, 1, None),
    "excluded-images": (
        lambda r: changed(r, blacklist=plus(r.blacklist, {"image_id": image(5)})), INCONSISTENT, 1, image(5),
    ),
    "copies-in-a-set": (_pair(image(4), image(0)), INCONSISTENT, 1, image(4)),
    "copies-of-originals": (_pair(image(4), original(0, 0), "val"), INCONSISTENT, 1, image(4)),
    "exempted": (
        lambda r: _pair(image(4), image(901))(changed(r, exempted=plus(r.exempted, {"image_id": image(4)}))), NOTED, 1,
        image(4),
    ),
    "annotated": (
        lambda r: changed(r, originals=at(r.originals, 0, image_id=original(3, 4))), INCONSISTENT, 1, original(3, 4),
    ),
    "models": (lambda r: changed(r, models=r.models.iloc[1:]), MISSING, 1, "net"),
    "prediction-faults": (_faults("predictions", "float", "net"), INCONSISTENT, 1, "net"),
    "other-faults": (_faults("search", "number as text", "field"), NOTED, 1, "field"),
    "answers": (
        lambda r: changed(r, files=r.files.loc[~r.files["file"].str.contains("assignments")]), MISSING, 4, "task-3",
    ),
    "pool": (lambda r: changed(r, search=r.search.iloc[1:]), MISSING, 1, image(0)),
    "files": (
        lambda r: changed(r, files=r.files.loc[~r.files["file"].str.endswith("threshold-0_review.json")]), MISSING, 1,
        "list-threshold-0_review.json",
    ),
}  # fmt: skip


@pytest.mark.parametrize("slug", PLANTED)
def test_a_planted_fault_is_found_and_proved(slug: str) -> None:
    change, kind, count, proof = PLANTED[slug]
    finding = one(change(record()), slug)
    assert (finding.kind, finding.count) == (kind, count)
    assert len(finding.evidence)
    assert proof is None or proof in set(finding.evidence["id"])
    assert finding.evidence["file"].ne("").all()


def test_every_check_is_tested_with_a_planted_fault() -> None:
    elsewhere = {"blinding", "same-token", "token-lengths", "positions", "changes"}
    assert set(found(record())) - set(PLANTED) == elsewhere


def test_an_arrangement_that_repeats_by_chance_has_no_cause() -> None:
    """Four tasks have six pairs, of which each agrees with one in 28."""
    finding = one(_shared_places(1)(record()), "arrangements")
    assert (finding.kind, finding.count) == (NOTED, 2)
    assert "0.21 pairs on average" in finding.measured and "probability 0.19" in finding.measured
    assert "seed" not in finding.implies


def test_repeats_between_files_are_told_from_those_in_one() -> None:
    base = _shared_places(1, 2, 3)(record())
    finding = one(base, "arrangements")
    assert "3 of the repeats lie in one file, 0 between files" in finding.measured
    assert "seed" not in finding.implies
    files = [f"data/mturk/{k}.json" for k in range(4)]
    finding = one(changed(base, submissions=base.submissions.assign(source_file=files)), "arrangements")
    assert "0 of the repeats lie in one file, 3 between files" in finding.measured
    assert "default seed" in finding.implies


def test_pairs_by_chance_are_those_of_a_simulation() -> None:
    rng = np.random.default_rng(0)
    shapes = [(8, 2)] * 40 + [(6, 1)] * 10 + [(8, 3)] * 20
    pairs = []
    for _ in range(2000):
        keys = Counter((tuple(sorted(rng.permutation(n)[:k])), n) for n, k in shapes)
        pairs.append(sum(n * (n - 1) // 2 for n in keys.values()))
    mean = expected([((0,) * k, n) for n, k in shapes])
    assert mean == pytest.approx(np.mean(pairs), abs=4 * np.std(pairs) / 2000**0.5)
    assert by_chance(0, mean) == 1
    assert by_chance(3, 1.5) == pytest.approx(1 - np.exp(-1.5) * (1 + 1.5 + 1.5**2 / 2))


def test_validation_images_that_workers_saw_are_as_many_of_each_class() -> None:
    base = record()
    fewer = one(changed(base, originals=base.originals.iloc[1:]), "annotated")
    assert fewer.kind == INCONSISTENT
    assert fewer.evidence["detail"].tolist() == ["1 entries repeat an image or name no class", "2 images"]
    assert "2 to 3 of each class" in fewer.measured
    lists = base.lists.loc[base.lists["set"] != "original"]
    without = found(changed(base, lists=lists, originals=base.originals.iloc[:0]))
    assert "annotated" not in without


def test_exempted_images_without_a_near_duplicate_owe_nothing_to_it() -> None:
    base = record()
    finding = one(changed(base, exempted=plus(base.exempted, {"image_id": image(4)})), "exempted")
    assert finding.kind == SOUND
    assert "2 images are listed" in finding.measured and "1 of them with a near-duplicate" in finding.measured


@pytest.mark.parametrize(
    ("settings", "count"),
    [
        ('{"wnid_thresholds": ["n00000002"]}', 0),
        ('{"wnid_thresholds": {"n00000001": "x", "n00000002": 0.5}}', 1),
    ],
)
def test_odd_thresholds_and_classes_without_synonyms_are_survived(settings: str, count: int) -> None:
    base = record()
    base = changed(base, classes=base.classes.assign(lemmas=[[] for _ in range(4)]))
    finding = one(_list(1, settings=settings)(base), "thresholds")
    assert finding.count == count
    assert (WNIDS[2] in finding.measured) == bool(count)


def test_thresholds_are_those_of_the_set_that_has_one() -> None:
    assert record().lists["set"].tolist()[0] != "threshold"
    base = _list(0, settings='{"wnid_thresholds": {"n00000002": 0.5}}')(record())
    assert one(base, "thresholds").kind == SOUND


@pytest.mark.parametrize("moment", ["0001-01-01 00:00:00", "9999-12-31 23:59:59"])
def test_dates_at_the_ends_of_the_calendar_are_survived(moment: str) -> None:
    days = {"taken_from": "0001-01-01", "taken_to": "9999-12-31", "uploaded_to": "9999-12-31"}
    base = _search(3, taken=moment, uploaded=moment, **days)(_submission(1, time=moment)(record()))
    findings = found(base)
    assert findings["task-dates"].count == 1
    assert findings["taken"].count == 0


def test_near_duplicates_are_joined_over_images_outside_the_sets() -> None:
    base = _pair(image(4), image(950))(_pair(image(950), image(0))(record()))
    finding = one(base, "copies-in-a-set")
    assert set(finding.evidence["id"]) == {image(0), image(4)}
    assert finding.evidence["detail"].str.contains("by way of others").all()


def test_near_duplicates_in_different_sets_are_no_finding() -> None:
    assert one(_pair(image(0), image(8))(record()), "copies-in-a-set").kind == SOUND


def test_controls_always_at_one_place_are_noticed() -> None:
    base = record()
    many = []
    for n in range(30):
        task = base.tasks.loc[base.tasks["task_id"] == "task-0"]
        many.append(task.assign(task_id=f"more-{n}"))
    finding = one(changed(base, tasks=pd.concat([base.tasks, *many], ignore_index=True)), "positions")
    assert finding.kind == DEPARTS
    assert "60" not in finding.title


def test_what_left_between_revisions_is_explained() -> None:
    base = record()
    old = base.revisions.loc[base.revisions["set"] == "threshold"].assign(revision=0, final=False)
    old = old.replace({"image_id": {image(8): image(960), image(9): image(900), image(10): image(901)}})
    revisions = base.revisions.copy()
    revisions.loc[revisions["set"] == "threshold", "revision"] = 1
    lists = plus(
        base.lists.loc[base.lists["set"] != "threshold"],
        {"name": "list-threshold-0", "set": "threshold", "revision": 0, "final": False},
        {
            "name": "list-threshold-1",
            "set": "threshold",
            "revision": 1,
            "final": True,
            "starting_from": "list-threshold-0",
        },
    )
    finding = one(changed(base, revisions=pd.concat([revisions, old]), lists=lists), "changes")
    assert (finding.kind, finding.count) == (NOTED, 3)
    assert finding.evidence["id"].tolist() == [image(960)]
    assert finding.summaries[0].rows[0][1:7] == ("5", "3", "1", "1", "1", "3")


def test_a_record_without_searches_and_tasks_is_survived() -> None:
    base = record()
    slugs = found(
        changed(
            base,
            search=base.search.iloc[:0],
            tasks=base.tasks.iloc[:0],
            submissions=base.submissions.iloc[:0],
        )
    )
    assert "uploads" not in slugs and "composition" not in slugs
    assert slugs["pool"].count == 24


def test_findings_must_be_of_a_known_kind() -> None:
    with pytest.raises(ValueError, match="no kind"):
        Finding("a", "scandal", "", 0, "", "", "", "", nothing())
    with pytest.raises(ValueError, match="columns"):
        Finding("a", SOUND, "", 0, "", "", "", "", pd.DataFrame({"id": []}))


@pytest.mark.parametrize("name", [f.name for f in dataclasses.fields(Released)])
def test_an_empty_table_is_survived(name: str) -> None:
    base = record()
    findings = found(changed(base, **{name: getattr(base, name).iloc[:0]}))
    assert all(f.measured and "nan" not in f.measured for f in findings.values())
    assert set(pictures(changed(base, **{name: getattr(base, name).iloc[:0]}))) <= set(findings)
