"""Properties of the local servers: searches, pages of lists, forms and answers."""

from __future__ import annotations

import html
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from imagenetv2.world.servers.flickr import record
from imagenetv2.world.servers.hit import RefusedError
from imagenetv2.world.servers.marketplace import Marketplace
from imagenetv2.world.servers.page import read
from imagenetv2.world.servers.photographs import Photograph
from imagenetv2.world.servers.questions import ANSWERS, answers
from imagenetv2.world.servers.search import matching, ordered

RELAXED = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
WORDS = ("cat", "dog", "big", "red")


@st.composite
def photographs(draw: st.DrawFn) -> list[Photograph]:
    return [
        Photograph(
            str(1000 + n), f"{n}@N00", "00ab", " ".join(draw(st.lists(st.sampled_from(WORDS), max_size=3))),
            tuple(draw(st.lists(st.sampled_from(WORDS), max_size=2))), draw(st.sampled_from("0145")),
            f"2013-01-{draw(st.integers(1, 9)):02d} 10:00:00", 0, False, draw(st.integers(0, 9)), 90, 80, "f.jpg",
            "ok",
        )
        for n in range(draw(st.integers(0, 12)))
    ]  # fmt: skip


@RELAXED
@given(
    photographs(),
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=3),
    st.integers(0, 9),
    st.integers(0, 9),
    st.sampled_from(["", "0", "1,4"]),
)
def test_a_search_finds_what_a_plain_scan_finds(
    pool: list[Photograph], words: list[str], first: int, last: int, license: str
) -> None:
    arguments = {
        "text": " ".join(words).upper(),
        "min_upload_date": str(first),
        "max_upload_date": str(last),
        "max_taken_date": "2013-01-05 10:00:00",
        "license": license,
    }
    expected = [
        p
        for p in pool
        if all(w in p.title.split() or w in p.tags for w in words)
        and first <= p.uploaded <= last
        and p.taken <= "2013-01-05 10:00:00"
        and (not license or p.license in license.split(","))
    ]
    found = matching(pool, arguments)
    assert found == expected
    ascending = ordered(found, "date-posted-asc")
    assert [(p.uploaded, p.photo_id) for p in ascending] == sorted((p.uploaded, p.photo_id) for p in expected)
    assert ordered(found, "") == ascending[::-1]
    assert ordered(found[::-1], "interestingness-asc") == ordered(found, "interestingness-asc")


@RELAXED
@given(
    st.integers(1, 4000),
    st.integers(1, 4000),
    st.sampled_from(["sq", "t", "s", "n", "z", "c", "l", "h", "k"]),
)
def test_a_size_exists_where_the_original_is_larger(width: int, height: int, size: str) -> None:
    photo = Photograph("1", "o", "s", "", (), "0", "", 0, False, 0, width, height, "f.png", "ok")
    limit = {"sq": 75, "t": 100, "s": 240, "n": 320, "z": 640, "c": 800, "l": 1024, "h": 1600, "k": 2048}[
        size
    ]
    got = record(photo, [f"url_{size}", "url_o"])
    assert (f"url_{size}" in got) == (max(width, height) > limit)
    assert (got["width_o"], got["height_o"]) == (width, height)
    assert got["url_o"].endswith("/1_s_o.png")
    if f"url_{size}" in got:
        assert max(got[f"width_{size}"], got[f"height_{size}"]) == limit


@settings(RELAXED, max_examples=15)
@given(st.integers(0, 23), st.integers(1, 9), st.sets(st.sampled_from(["Submitted", "Approved"]), min_size=1))
def test_pages_hold_every_answer_once(count: int, size: int, statuses: set[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        market = Marketplace(Path(folder) / "m.sqlite", seed=1)
        hit = market.create(
            {"LifetimeInSeconds": 99, "AssignmentDurationInSeconds": 60, "MaxAssignments": 23}
        )
        given_answers: dict[str, str] = {}
        for number in range(count):
            assignment = market.accept(hit.hit_id, f"A{number}")
            market.submit(assignment, "x")
            if number % 3 == 0:
                market.approve(assignment, None, override=False)
            given_answers[assignment] = "Approved" if number % 3 == 0 else "Submitted"
        listed: list[Any] = []
        place = (0, "")
        while page := market.assignments(hit.hit_id, sorted(statuses), place, size):
            assert len(page) <= size
            listed += page
            place = (page[-1]["submitted"], page[-1]["assignment_id"])
        now = market.hit(hit.hit_id)
        market.close()
    ids = [row["assignment_id"] for row in listed]
    assert sorted(ids) == sorted(a for a, status in given_answers.items() if status in statuses)
    assert now.available + now.submitted + now.reviewed == 23
    assert now.status == ("Reviewable" if count == 23 else "Assignable")


def test_what_nobody_is_at_work_on_cannot_be_submitted() -> None:
    with tempfile.TemporaryDirectory() as folder:
        market = Marketplace(Path(folder) / "m.sqlite", seed=1)
        with pytest.raises(RefusedError, match="Nobody is at work"):
            market.submit("3X", "x")
        market.close()


TEXT = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Cn")), max_size=12)
NAMES = st.text(st.sampled_from("abcdefgh"), min_size=1, max_size=5)


@RELAXED
@given(st.lists(st.tuples(NAMES, TEXT), max_size=6))
def test_answers_survive_xml(fields: list[tuple[str, str]]) -> None:
    expected: dict[str, list[str]] = {}
    for name, value in fields:
        expected.setdefault(name, []).append(value)
    root = ElementTree.fromstring(answers([("assignmentId", "A"), *fields]))
    got = {
        a.findtext(f"{{{ANSWERS}}}QuestionIdentifier"): a.findtext(f"{{{ANSWERS}}}FreeText") or ""
        for a in root
    }
    assert got == {name: "|".join(values) for name, values in expected.items()}


@RELAXED
@given(st.text(max_size=20))
def test_any_text_makes_well_formed_answers(value: str) -> None:
    ElementTree.fromstring(answers([("name", value)]))


@RELAXED
@given(st.lists(TEXT, min_size=1, max_size=6, unique=True), st.data(), TEXT)
def test_a_form_sends_what_is_ticked(values: list[str], data: st.DataObject, hidden: str) -> None:
    cells = "".join(
        f'<label><input type=checkbox name="selected" value="{html.escape(v)}"><img src="{n}.jpg"></label>'
        for n, v in enumerate(values)
    )
    page = read(
        f'<FORM METHOD=POST data-wnid=n1><input type="hidden" name="assignmentId" value="no">'
        f'<input type="hidden" name="h" value="{html.escape(hidden)}">{cells}<input type=submit></FORM>'
    )
    assert [(b.value, b.source) for b in page.boxes] == [(v, f"{n}.jpg") for n, v in enumerate(values)]
    ticked = data.draw(st.sets(st.sampled_from(values)))
    assert page.fields("A1", ticked) == [
        ("assignmentId", "A1"),
        ("h", hidden),
        *(("selected", v) for v in values if v in ticked),
    ]
