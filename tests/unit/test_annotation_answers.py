"""Answer documents, and the records and tables made from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from imagenetv2.annotation import answers, keys

KEY = b"a key of this test alone"
NS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2005-10-01/QuestionFormAnswers.xsd"
PLACES = {f"{n:032x}": n for n in range(48)}
PAGE = "f" * 32


def document(*pairs: tuple[str, str | None], prefix: str = "") -> str:
    p = f"{prefix}:" if prefix else ""
    name = f"xmlns:{prefix}" if prefix else "xmlns"
    parts = "".join(
        f"<{p}Answer><{p}QuestionIdentifier>{q}</{p}QuestionIdentifier>"
        + ("" if text is None else f"<{p}FreeText>{text}</{p}FreeText>")
        + f"</{p}Answer>"
        for q, text in pairs
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<{p}QuestionFormAnswers {name}="{NS}">{parts}</{p}QuestionFormAnswers>'


def ticks(*pairs: tuple[str, str | None], prefix: str = "") -> list[int]:
    return answers.selected(document(*pairs, prefix=prefix), PLACES, PAGE)


@pytest.mark.parametrize("count", [1, 2, 48])
def test_ticks_are_joined_with_bars_or_come_one_by_one(count: int) -> None:
    tokens = sorted(PLACES, reverse=True)[:count]
    expected = sorted(PLACES[t] for t in tokens)
    assert ticks(("page", PAGE), ("selected", "|".join(tokens))) == expected
    assert ticks(*(("selected", token) for token in tokens)) == expected
    assert ticks(("selected", "|".join(tokens)), prefix="m") == expected


def test_no_tick_is_an_answer_whatever_the_service_writes_for_it() -> None:
    for text in ("", " ", None):
        assert ticks(("selected", text)) == []
    assert ticks(("page", PAGE)) == []
    assert ticks() == []
    assert answers.selected("", PLACES, PAGE) == []


def test_values_are_handed_out_whole() -> None:
    parsed = answers.parse(
        document(("note", "a|b &amp; c &lt;d&gt; Käfer 🐞 &#x1F41E;"), ("note", None), ("x", "1"))
    )
    assert parsed == {"note": ["a|b & c <d> Käfer 🐞 🐞", ""], "x": ["1"]}


@pytest.mark.parametrize(
    ("xml", "message"),
    [
        ("<QuestionFormAnswers><Answer>", "no XML"),
        ("<html/>", "a html, not"),
        (
            "<QuestionFormAnswers><Answer><FreeText>x</FreeText></Answer></QuestionFormAnswers>",
            "something else",
        ),
        ('<!DOCTYPE a [<!ENTITY b "c">]><QuestionFormAnswers/>', "declares entities"),
        (document(("selected", "e" * 32)), "1 images that were not shown"),
        (document(("page", "0" * 32)), "comes from the page"),
    ],
)
def test_what_is_no_answer_to_this_page_is_refused(xml: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        answers.selected(xml, PLACES, PAGE)


def assignment(number: int, worker: str, answer: str, status: str = "Approved") -> dict[str, Any]:
    accepted = datetime(2019, 6, 10, 12, number, tzinfo=UTC)
    return {
        "AssignmentId": f"A{number}", "HITId": "H", "WorkerId": worker, "AssignmentStatus": status,
        "AcceptTime": accepted, "SubmitTime": accepted + timedelta(seconds=41), "Answer": answer,
    }  # fmt: skip


def test_a_record_holds_everything_but_the_workers_id() -> None:
    row = answers.record(
        assignment(1, "WORKERSID", document(("selected", f"{5:032x}"))), "t", PLACES, PAGE, KEY
    )
    assert "WORKERSID" not in str(row)
    assert row["worker"] == keys.worker_hash(KEY, "WORKERSID") and len(row["worker"]) == 16
    assert (row["seconds"], row["selected"], row["problem"], row["status"]) == (41, [5], "", "Approved")
    assert keys.worker_hash(KEY + b"!", "WORKERSID") != row["worker"]


def test_one_row_a_worker_and_task_and_every_other_answer_with_its_problem() -> None:
    good = document(("selected", f"{5:032x}"))
    rows = [
        answers.record(assignment(n, worker, xml), "t", PLACES, PAGE, KEY)
        for n, worker, xml in [(3, "A", good), (1, "A", document()), (2, "B", "<x/>"), (4, "B", good)]
    ]
    table, problems = answers.tables([*rows, rows[0]])
    by_worker = table.set_index("worker")
    assert by_worker.loc[keys.worker_hash(KEY, "A"), "selected"] == []
    assert by_worker.loc[keys.worker_hash(KEY, "B"), "assignment_id"] == "A4"
    assert len(table) == 2
    told = dict(zip(problems["assignment_id"], problems["problem"], strict=True))
    assert set(told) == {"A2", "A3"}
    assert "before, in A1" in told["A3"] and "not a QuestionFormAnswers" in told["A2"]
