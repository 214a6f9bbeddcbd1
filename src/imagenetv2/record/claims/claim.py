"""A printed number, and what the record makes of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

    from imagenetv2.record.claims.facts import Facts

SAME, CORRECTED, DIFFERS, UNKNOWN = "same", "same after correction", "differs", "not derivable"
VERDICTS = (SAME, CORRECTED, DIFFERS, UNKNOWN)
NUMBER = re.compile(r"[−-]?\d[\d,]*(?:\.\d+)?")
SLACK = 1e-9
"""Differences below this come from floating-point numbers, not from the record."""

Value = float | str


class Missing(Exception):
    """The record, or what was read of it, lacks what a number is computed from; the message says what."""


@dataclass(frozen=True)
class Claim:
    """One number or word that a paper prints.

    Attributes:
        id: unique within a kind of record, such as ``lines/slope``.
        section: where it is printed.
        text: what it is the number of, in our words.
        printed: as printed; the first number in it counts, its last digit gives the tolerance.
        compute: the same from the record; None where the record cannot say. Raises Missing where it could have.
        note: what a reader needs to know, or a function that measures it; required where there is no ``compute``.
    """

    id: str
    section: str
    text: str
    printed: str
    compute: Callable[[Facts], Value] | None
    note: str | Callable[[Facts], str] = ""

    def __post_init__(self) -> None:
        if self.compute is None and not self.note:
            raise ValueError(f"{self.id}: not derivable, but no reason is given")


def number(printed: str) -> float | None:
    """The first number in a printed text: "−20.2" is -20.2, "20,683" is 20683; None where there is none."""
    found = NUMBER.search(printed)
    return float(found[0].replace(",", "").replace("−", "-")) if found else None


def tolerance(printed: str) -> float | None:
    """Half a unit of the last digit of the first number in a printed text; None where there is none.

    A number rounded to that digit is at most so far from what was rounded.
    """
    found = NUMBER.search(printed)
    return 0.5 * 10.0 ** -decimals(found[0]) if found else None


def decimals(text: str) -> int:
    """Digits after the decimal point of a number."""
    return len(text.partition(".")[2])


def agrees(printed: str, value: Value) -> bool:
    """Whether a computed value can have been printed so: within the tolerance, ends included, or the same words."""
    expected, allowed = number(printed), tolerance(printed)
    if isinstance(value, str) or expected is None or allowed is None:
        return str(value) == printed
    return abs(value - expected) <= allowed + SLACK


def shown(printed: str, value: Value) -> str:
    """A computed value with one digit more than printed; whole numbers without, words as they are."""
    if isinstance(value, str):
        return value
    found = NUMBER.search(printed)
    whole = float(value).is_integer()
    digits = 0 if whole and found and decimals(found[0]) == 0 else decimals(found[0] if found else "") + 1
    text = f"{value:,.{digits}f}".replace("-", "−")
    return f"+{text}" if printed.lstrip().startswith("+") and value > 0 else text


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict: ``value`` is None where nothing was computed or it is a word."""

    claim: Claim
    computed: str
    value: float | None
    verdict: str
    note: str


def judge(claim: Claim, facts: Facts, before: Facts) -> Judged:
    """The verdict on a claim.

    Args:
        claim: what is printed.
        facts: the record after its faults are corrected.
        before: the record as released.
    """
    if claim.compute is None:
        return Judged(claim, "", None, UNKNOWN, _note(claim, facts))
    try:
        value = claim.compute(facts)
    except Missing as missing:
        return Judged(claim, "", None, UNKNOWN, str(missing))
    released = _before(claim, before)
    note = _note(claim, facts)
    verdict = SAME if agrees(claim.printed, value) else DIFFERS
    if verdict == SAME and released is not None and not agrees(claim.printed, released):
        verdict = CORRECTED
        models = ", ".join(facts.unlike(before))
        note = f"As released {shown(claim.printed, released)}; corrected: {models}. {note}".strip()
    return Judged(
        claim,
        shown(claim.printed, value),
        None if isinstance(value, str) else float(value),
        verdict,
        note,
    )


def table(judged: Iterable[Judged]) -> pd.DataFrame:
    """The declared table of claims (``record.result_tables.CLAIMS``)."""
    import pandas as pd

    rows = [
        (
            order, j.claim.id, j.claim.section, j.claim.text, j.claim.printed, j.computed, j.value,
            number(j.claim.printed), tolerance(j.claim.printed), j.verdict, j.note,
        )
        for order, j in enumerate(judged)
    ]  # fmt: skip
    names = ["number", "id", "section", "claim", "printed", "computed", "value", "printed_value", "tolerance", "verdict", "note"]  # fmt: skip
    return pd.DataFrame(rows, columns=names)


def _before(claim: Claim, before: Facts) -> Value | None:
    assert claim.compute is not None
    try:
        return claim.compute(before)
    except Missing:
        return None


def _note(claim: Claim, facts: Facts) -> str:
    if isinstance(claim.note, str):
        return claim.note
    try:
        return claim.note(facts)
    except Missing as missing:
        return str(missing)
