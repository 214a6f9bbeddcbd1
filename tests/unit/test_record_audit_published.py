"""The audit of the released record: numbers that were counted apart from it, from its JSON files."""

from __future__ import annotations

import pandas as pd
import pytest

from imagenetv2.artifacts import Artifact
from imagenetv2.record.audit.finding import INCONSISTENT, SOUND, Finding
from imagenetv2.record.audit.pictures import pictures
from imagenetv2.record.audit.released import Released, read
from imagenetv2.record.part_tables import EARLIER, FAULTS, IMAGES, MODELS
from imagenetv2.record.source import Source
from tests.unit.audit_inputs import found

pytestmark = pytest.mark.packs
VALIDATION = "data/datasets/imagenet-validation-original.json"

HEADLINES = {
    "uploads": 2472,
    "posted-before-taken": 1492,
    "taken": 0,
    "windows": 389,
    "order": 87,
    "several-classes": 260,
    "sizes": 6355,
    "ids-of-photographs": 0,
    "composition": 8,
    "controls": 0,
    "asked-class": 0,
    "excluded-shown": 10219,
    "refused-tasks": 4,
    "task-dates": 8,
    "positions": 0,
    "submitted-twice": 148,
    "shown-twice": 22058,
    "blinding": 2461,
    "chain": 82,
    "thresholds": 3,
    "invalid": 2,
    "final-review": 0,
    "first-review": 694,
    "shape": 0,
    "excluded-images": 1,
    "copies-in-a-set": 7,
    "copies-of-originals": 2,
    "exempted": 0,
    "annotated": 0,
    "arrangements": 695,
    "answers": 2461,
    "pool": 19778,
}


@pytest.fixture(scope="module")
def released(published_record: Source, published_parts: dict[str, Artifact]) -> Released:
    """The released record without predictions, which take most of the time."""
    listed = published_record.json(VALIDATION)["image_filenames"]
    images = pd.DataFrame(listed, columns=["image_id", "wnid"]).assign(set="original", row=0, class_index=0)
    stubs = {
        "images": images[[c.name for c in IMAGES.columns]],
        "models": MODELS.empty(),
        "earlier": EARLIER.empty(),
    }

    def frame(part: str, name: str) -> pd.DataFrame:
        if part == "predictions":
            return stubs.get(name, FAULTS.empty())
        return published_parts[part].table(name)

    return read(frame, [*published_parts, "predictions"])


@pytest.fixture(scope="module")
def findings(released: Released) -> dict[str, Finding]:
    return found(released)


def test_headline_numbers(findings: dict[str, Finding]) -> None:
    assert {slug: findings[slug].count for slug in HEADLINES} == HEADLINES
    for slug, number in HEADLINES.items():
        assert number or findings[slug].kind == SOUND
    assert findings["copies-in-a-set"].kind == INCONSISTENT


def test_uploads_by_side_and_set(findings: dict[str, Finding]) -> None:
    assert "1,460 before it and 1,012 after it" in findings["uploads"].measured
    rows = {row[0]: row[2:5] for row in findings["uploads"].summaries[1].rows}
    assert rows == {
        "MatchedFrequency": ("435", "34", "22"),
        "Threshold0.7": ("447", "41", "15"),
        "TopImages": ("454", "39", "19"),
    }


def test_blinding_is_broken_in_every_task_but_not_by_meeting_images_again(
    findings: dict[str, Finding],
) -> None:
    assert findings["blinding"].summaries[0].rows == (
        ("Marked", "16,487", "0"),
        ("Not marked", "0", "101,457"),
    )
    assert findings["same-token"].kind == SOUND
    assert findings["token-lengths"].kind == SOUND


def test_final_sets_against_exclusions_and_near_duplicates(findings: dict[str, Finding]) -> None:
    assert findings["overlap"].measured.startswith(
        "The three sets have 20,683 different images (as the paper says)"
    )
    proof = findings["excluded-images"].evidence
    assert proof["file"].tolist() == ["data/datasets/imagenetv2-b-33.json"]
    assert proof["id"].tolist() == ["2c7af50194e611dd6a445bc20004417b4ea3b865"]
    originals = findings["copies-of-originals"].evidence
    assert len(originals) == 3
    assert originals["detail"].str.contains(r"\(val\)").all()


def test_revisions(findings: dict[str, Finding]) -> None:
    rows = {row[0]: row[1:] for row in findings["changes"].summaries[0].rows}
    assert rows["b-0 → b-1"] == ("8,699", "1,292", "987", "295", "10", "1,259", "696")
    assert rows["b-32 → b-33"] == ("9,995", "5", "3", "2", "0", "5", "3")
    assert len(rows) == 7


def test_pictures_are_drawn_with_the_page_s_colours(released: Released) -> None:
    drawn = pictures(released)
    assert set(drawn) == {"uploads", "positions", "blinding", "changes"}
    for picture in drawn.values():
        assert "var(--set-2)" in picture.svg or "var(--bar)" in picture.svg
        assert picture.caption.endswith(".")
