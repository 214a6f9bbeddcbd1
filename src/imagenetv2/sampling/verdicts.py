"""Verdicts on the classes of a set, as the chain of revisions uses them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = ("round", "wnid", "images", "blacklisted", "reasons", "reviewer")


@dataclass(frozen=True, slots=True)
class Verdict:
    """A row of ``reviews/<rule>/verdicts.parquet``: what was looked at, and what was objected to."""

    round: int
    wnid: str
    images: tuple[str, ...]
    blacklisted: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    reviewer: str = ""


def objections(verdicts: Iterable[Verdict], revision: int) -> set[str]:
    """Images that the review of that revision objected to."""
    return {image for v in verdicts if v.round == revision for image in v.blacklisted}


def from_table(table: pd.DataFrame) -> list[Verdict]:
    """Verdicts in the order in which they were given."""
    ordered = table.sort_values("number")
    rows = zip(*(ordered[column].tolist() for column in COLUMNS), strict=True)
    return [
        Verdict(int(number), wnid, tuple(images), tuple(blacklisted), tuple(reasons), reviewer)
        for number, wnid, images, blacklisted, reasons, reviewer in rows
    ]


def to_table(verdicts: Sequence[Verdict]) -> pd.DataFrame:
    """The rows of ``verdicts.parquet``, numbered from 0."""
    import pandas as pd

    rows = [
        (number, v.round, v.wnid, list(v.images), list(v.blacklisted), list(v.reasons), v.reviewer)
        for number, v in enumerate(verdicts)
    ]
    return pd.DataFrame(rows, columns=["number", *COLUMNS])
