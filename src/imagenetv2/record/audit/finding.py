"""A finding: what was measured in a record and how, what it means and what it doesn't, and what proves it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

DEPARTS = "departs from the paper"
INCONSISTENT = "parts of the record disagree"
LIMIT = "limits what can be concluded"
NOTED = "worth knowing"
MISSING = "not in the record"
SOUND = "no problem found"
KINDS = {
    DEPARTS: "The record shows something else than the paper describes.",
    INCONSISTENT: "Two parts of the record cannot both be right, or a file contradicts itself.",
    LIMIT: "Nothing is wrong, but a reader who does not know it may conclude too much.",
    NOTED: "Neither wrong nor limiting; the paper does not mention it.",
    MISSING: "The record refers to it, and it is not there; what depends on it cannot be checked.",
    SOUND: "A check that could have failed and did not.",
}
"""Kinds of finding, and what each says."""

EVIDENCE = ("file", "id", "detail")


@dataclass(frozen=True)
class Summary:
    """A small table on the page: texts, the first column to the left, the others to the right."""

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        slug: its name in tables and addresses.
        kind: one of ``KINDS``.
        title: one line.
        count: how many things it is about: rows, images or tasks, as ``measured`` says.
        measured: one or two sentences with the numbers.
        how: from which files and by which rule.
        implies: what follows.
        does_not_imply: what does not follow, though a reader might think so.
        evidence: columns ``file``, ``id`` and ``detail``, strings; every file and id that the count is made of.
        summaries: small tables.
    """

    slug: str
    kind: str
    title: str
    count: int
    measured: str
    how: str
    implies: str
    does_not_imply: str
    evidence: pd.DataFrame
    summaries: tuple[Summary, ...] = field(default=())

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"{self.slug}: {self.kind!r} is no kind of finding")
        if tuple(self.evidence.columns) != EVIDENCE:
            raise ValueError(f"{self.slug}: evidence has the columns {list(self.evidence.columns)}")


def evidence(file: Iterable[str], id: Iterable[str], detail: Iterable[str]) -> pd.DataFrame:
    """A frame of evidence from three columns of the same length, in a total order, without repeats."""
    columns = dict(zip(EVIDENCE, (list(file), list(id), list(detail)), strict=True))
    frame = pd.DataFrame(columns, dtype="str").drop_duplicates()
    return frame.sort_values(list(EVIDENCE), ignore_index=True)


def proved(found: Iterable[tuple[str, str, str]]) -> pd.DataFrame:
    """The same from rows of file, id and detail."""
    listed = list(found)
    return evidence((f for f, _, _ in listed), (i for _, i, _ in listed), (d for _, _, d in listed))


def nothing() -> pd.DataFrame:
    """Evidence of a check that found nothing."""
    return evidence((), (), ())


def each(frame: pd.DataFrame) -> Iterator[Any]:
    """Rows as named tuples, whose fields no type can name."""
    return frame.itertuples()


def listed(names: Sequence[str], most: int = 6) -> str:
    """A, B and C; long lists are cut."""
    shown = list(names[:most])
    if len(names) > most:
        return f"{', '.join(shown)} and {len(names) - most} more"
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)
