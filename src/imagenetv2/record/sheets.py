"""One model's predictions on one list of images, with what was found and done on the way."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault

Ints = npt.NDArray[np.int64]
Raw = npt.NDArray[np.int32]
"""Values of a file before they are known to be classes."""
Top5 = npt.NDArray[np.int16]
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]
COLUMNS = 5
NO_CLASS = -1
"""Stands in an array where no class is known."""


@dataclass(frozen=True)
class Sheet:
    """Predictions of one model on one list.

    Attributes:
        listing: name of the list that the predictions are for.
        model: name of the model, as the file has it until names are aligned.
        file: file of the record.
        top5: class indices, images × 5, best first; -1 where no class is known; None where it cannot be used.
        faults: what was found in it so far.
        home: the list that the file's place in the record stands for; empty where that is ``listing``.
    """

    listing: str
    model: str
    file: str
    top5: Top5 | None = None
    faults: tuple[Fault, ...] = ()
    home: str = ""

    def fault(
        self, kind: str, detail: str, action: str = REPORTED, evidence: str = "", **changes: Any
    ) -> Sheet:
        """The same sheet with one more fault and other changed attributes."""
        found = Fault(self.file, self.model, kind, detail, action, evidence)
        return replace(self, faults=(*self.faults, found), **changes)

    def corrected(self, kind: str, detail: str, evidence: str, **changes: Any) -> Sheet:
        """The same sheet after a correction."""
        return self.fault(kind, detail, CORRECTED, evidence, **changes)

    def left_out(self, kind: str, detail: str, evidence: str) -> Sheet:
        """The same sheet without its predictions, back at its place."""
        return self.fault(
            kind, detail, LEFT_OUT, evidence, top5=None, listing=self.home or self.listing, home=""
        )

    @property
    def usable(self) -> bool:
        """Whether it has predictions."""
        return self.top5 is not None

    @property
    def values(self) -> Top5:
        """Its predictions. Raises ValueError where it has none."""
        if self.top5 is None:
            raise ValueError(f"{self.file} has no usable predictions")
        return self.top5

    @property
    def action(self) -> str:
        """What was done about it, in words; empty where nothing was found."""
        if not self.usable:
            return "; ".join(f"{f.fault}: {f.detail}" for f in self.faults if f.action == LEFT_OUT)
        return "; ".join(f"{f.fault}: {f.action}" for f in self.faults)


def usable(sheets: Iterable[Sheet], listing: str) -> list[Sheet]:
    """Those of a list that have predictions, sorted by model and file."""
    found = [s for s in sheets if s.listing == listing and s.usable]
    return sorted(found, key=lambda s: (s.model, s.file))


def stack(sheets: Iterable[Sheet]) -> Top5:
    """Predictions of sheets of one list: models × images × 5."""
    return np.stack([s.values for s in sheets])


def first(sheets: Iterable[Sheet]) -> Top5:
    """Their first column: models × images, each model's values next to each other in memory."""
    return np.stack([np.ascontiguousarray(s.values[:, 0]) for s in sheets])
