"""Faults found in a record: what is wrong where, what was done about it, and why that is right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

CORRECTED, LEFT_OUT, REPORTED = "corrected", "left out", "reported"
ACTIONS = (CORRECTED, LEFT_OUT, REPORTED)


@dataclass(frozen=True, order=True)
class Fault:
    """One fault.

    Attributes:
        file: file of the record, relative to its folder.
        subject: what is at fault: a model, an image, a class, a field.
        fault: kind of fault, a few words, the same for all of a kind.
        detail: what was found, with the numbers that show it.
        action: corrected, left out or reported.
        evidence: why the action is right; empty for what is only reported.

    Raises ValueError for an unknown action, and for a change of what is released that gives no evidence.
    """

    file: str
    subject: str
    fault: str
    detail: str
    action: str = REPORTED
    evidence: str = ""

    def __post_init__(self) -> None:
        if self.action not in ACTIONS:
            raise ValueError(f"{self.action!r} is none of {', '.join(ACTIONS)}")
        if self.action != REPORTED and not self.evidence:
            raise ValueError(f"{self.fault} of {self.subject}: {self.action} without evidence")


def table(faults: Iterable[Fault]) -> pd.DataFrame:
    """The declared table of faults (``record.part_tables.FAULTS``): sorted by file, kind and subject, numbered from 0."""
    import pandas as pd

    ordered = sorted(set(faults), key=lambda f: (f.file, f.fault, f.subject, f.detail, f.action, f.evidence))
    names = [field.name for field in fields(Fault)]
    frame = pd.DataFrame([astuple(f) for f in ordered], columns=names, dtype="str")
    frame.insert(0, "number", range(len(frame)))
    return frame.astype({"number": "int64"})
