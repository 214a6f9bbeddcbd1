"""From Mechanical Turk's answers to rows: parsing, checking, and a record that holds no worker's id."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree

import pandas as pd

from imagenetv2.annotation.keys import fingerprint, worker_hash

ASSIGNMENT_COLUMNS = ("task_id", "worker", "hit_id", "assignment_id", "status", "seconds", "selected")
PROBLEM_COLUMNS = ("assignment_id", "task_id", "worker", "problem")


def parse(xml: str) -> dict[str, list[str]]:
    """Values of a QuestionFormAnswers document by question, in order; an absent or empty FreeText is "".

    Raises ValueError where ``xml`` is no such document. Values are handed out whole: splitting them is for who knows
    the question.
    """
    if not xml.strip():
        return {}
    if re.search(r"<!(DOCTYPE|ENTITY)", xml):
        raise ValueError("the answer declares entities")
    try:
        root = ElementTree.fromstring(xml)
    except ElementTree.ParseError as error:
        raise ValueError(f"the answer is no XML: {error}") from error
    if _local(root.tag) != "QuestionFormAnswers":
        raise ValueError(f"the answer is a {_local(root.tag)}, not a QuestionFormAnswers")
    found: dict[str, list[str]] = {}
    for answer in root:
        parts = {_local(part.tag): part.text or "" for part in answer}
        if _local(answer.tag) != "Answer" or "QuestionIdentifier" not in parts:
            raise ValueError("the answer holds something else than answers")
        found.setdefault(parts["QuestionIdentifier"].strip(), []).append(parts.get("FreeText", ""))
    return found


def _local(tag: str) -> str:
    return tag.rsplit("}", 1)[-1]


def selected(xml: str, places: Mapping[str, int], page: str) -> list[int]:
    """Positions ticked in an answer, ascending.

    Args:
        xml: the answer as Mechanical Turk stored it: boxes of one name are joined with ``|`` in one FreeText, or come
            as one answer each.
        places: position of every token on the task's page.
        page: the opaque name of that page, without its suffix.

    Raises:
        ValueError: the document is broken, comes from another page, or names tokens that are not on this one.
    """
    values = parse(xml)
    named = [value for value in values.get("page", []) if value != page]
    if named:
        raise ValueError(f"the answer comes from the page {named[0][:40]!r}")
    tokens = {token.strip() for value in values.get("selected", []) for token in value.split("|")} - {""}
    unknown = sorted(tokens - places.keys())
    if unknown:
        raise ValueError(
            f"the answer names {len(unknown)} images that were not shown, such as {unknown[0][:40]!r}"
        )
    return sorted(places[token] for token in tokens)


def record(
    assignment: Mapping[str, Any], task_id: str, places: Mapping[str, int], page: str, key: bytes
) -> dict[str, Any]:
    """One answer as it is kept: the worker as a keyed hash, the ticks as positions, and what is wrong with it."""
    ticks: list[int] = []
    problem = ""
    try:
        ticks = selected(assignment.get("Answer") or "", places, page)
    except ValueError as error:
        problem = str(error)
    took = assignment["SubmitTime"] - assignment["AcceptTime"]
    return {
        "task": task_id,
        "hit_id": assignment["HITId"],
        "assignment_id": assignment["AssignmentId"],
        "worker": worker_hash(key, assignment["WorkerId"]),
        "key": fingerprint(key),
        "status": assignment["AssignmentStatus"],
        "submitted": int(assignment["SubmitTime"].timestamp()),
        "seconds": max(0, round(took.total_seconds())),
        "selected": ticks,
        "problem": problem,
    }


def tables(records: Iterable[Mapping[str, Any]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Tables of assignments and of problems. Of two answers of a worker to one task the earlier counts."""
    good: list[Sequence[Any]] = []
    bad: list[Sequence[Any]] = []
    first: dict[tuple[str, str], str] = {}
    latest = {r["assignment_id"]: r for r in records}
    for row in sorted(latest.values(), key=lambda r: (r["submitted"], r["assignment_id"])):
        who = (row["task"], row["worker"])
        problem = row["problem"]
        if not problem and who in first:
            problem = f"the worker had answered this task before, in {first[who]}"
        if problem:
            bad.append((row["assignment_id"], *who, problem))
            continue
        first[who] = row["assignment_id"]
        facts = [row[name] for name in ("hit_id", "assignment_id", "status", "seconds", "selected")]
        good.append((*who, *facts))
    return (
        pd.DataFrame(good, columns=list(ASSIGNMENT_COLUMNS)),
        pd.DataFrame(bad, columns=list(PROBLEM_COLUMNS)),
    )
