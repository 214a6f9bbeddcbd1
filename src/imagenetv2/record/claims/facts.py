"""What claims are computed from: accuracies of the record, and its other tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL, Predictions
from imagenetv2.analysis.lines.least_squares import Line, fit
from imagenetv2.analysis.ranks import places
from imagenetv2.analysis.scales import forward
from imagenetv2.record.claims.claim import Missing

Floats = npt.NDArray[np.float64]
MATCHED, THRESHOLD, TOP = "matched_frequency", "threshold", "top_images"
NEW = (MATCHED, THRESHOLD, TOP)


@dataclass(frozen=True)
class Facts:
    """A record: predictions of the same models, in the same order, on every set.

    Attributes:
        sets: predictions by set; ``original`` is one of them.
        families: family of each model.
        named: families that are not the networks.
        table: a table of another stage, such as ``("record/datasets", "lists")``. Raises Missing where there is none.
        absent: sets without predictions, and why.
    """

    sets: Mapping[str, Predictions]
    families: Mapping[str, str]
    named: frozenset[str]
    table: Callable[[str, str], pd.DataFrame]
    absent: Mapping[str, str] = field(default_factory=dict)

    @property
    def models(self) -> tuple[str, ...]:
        """All models."""
        return self.sets[ORIGINAL].models

    @cached_property
    def networks(self) -> tuple[str, ...]:
        """Models of no named family."""
        return tuple(m for m in self.models if self.families[m] not in self.named)

    def unlike(self, other: Facts) -> tuple[str, ...]:
        """Models whose predictions are others there, on any set."""
        return tuple(
            m
            for i, m in enumerate(self.models)
            if any((p.ranks[i] != other.sets[name].ranks[i]).any() for name, p in self.sets.items())
        )

    def family(self, name: str) -> tuple[str, ...]:
        """Models of that family. Raises Missing where there is none."""
        found = tuple(m for m in self.models if self.families[m] == name)
        if not found:
            raise Missing(f"No model of the family {name} has usable predictions.")
        return found

    @cached_property
    def _accuracies(self) -> dict[tuple[str, int], pd.Series]:
        return {
            (name, k): pd.Series(100 * p.top(k).mean(axis=1), index=pd.Index(p.models))
            for name, p in self.sets.items()
            for k in (1, 5)
        }

    def _without(self, name: str) -> Missing:
        why = f" ({self.absent[name]})" if name in self.absent else ""
        return Missing(f"There are no predictions on {name}{why}.")

    def accuracy(self, name: str, models: Sequence[str] | None = None, k: int = 1) -> Floats:
        """Accuracy in percent among the first ``k`` on a set, of some models or all. Raises Missing."""
        if (name, k) not in self._accuracies:
            raise self._without(name)
        known = self._accuracies[name, k]
        wanted = list(self.models if models is None else models)
        if absent := [m for m in wanted if m not in known.index]:
            raise Missing(f"{absent[0]} has no usable predictions.")
        out: Floats = known[wanted].to_numpy(np.float64)
        return out

    def one(self, model: str, name: str, k: int = 1) -> float:
        """Accuracy of one model."""
        return float(self.accuracy(name, [model], k)[0])

    def change(self, name: str, models: Sequence[str] | None = None, k: int = 1) -> Floats:
        """Accuracy on a new set less that on the original, percentage points."""
        return self.accuracy(name, models, k) - self.accuracy(ORIGINAL, models, k)

    def right(self, model: str, name: str) -> int:
        """How many images of a set a model has right."""
        return round(self.one(model, name) * self.images(name) / 100)

    def images(self, name: str) -> int:
        """Images of a set. Raises Missing."""
        return int(self.on(name).ranks.shape[1])

    def on(self, name: str) -> Predictions:
        """Predictions on a set. Raises Missing."""
        if name not in self.sets:
            raise self._without(name)
        return self.sets[name]

    def place(self, model: str, name: str) -> int:
        """Place of a model among all on a set, 1 is best, ties by name. Raises Missing."""
        self.one(model, name)
        return int(places(self.accuracy(name), self.models)[self.models.index(model)])

    def moves(self, name: str) -> npt.NDArray[np.int64]:
        """By how many places each model moved from the original to a set."""
        old, new = places(self.accuracy(ORIGINAL), self.models), places(self.accuracy(name), self.models)
        out: npt.NDArray[np.int64] = np.abs(old - new)
        return out

    def line(self, name: str, models: Sequence[str] | None = None, k: int = 1, scale: str = "linear") -> Line:
        """The line of new on original accuracy; in percent on the linear scale. Raises Missing."""
        return fitted(*self.axes(name, models, k, scale))

    def axes(
        self, name: str, models: Sequence[str] | None = None, k: int = 1, scale: str = "linear"
    ) -> tuple[Floats, Floats]:
        """Original and new accuracies on that scale. Raises Missing with fewer than three models."""
        x, y = self.accuracy(ORIGINAL, models, k), self.accuracy(name, models, k)
        if x.size < 3:
            raise Missing("There are fewer than three models.")
        return forward(x / 100, self.images(ORIGINAL), scale), forward(y / 100, self.images(name), scale)


def fitted(x: Floats, y: Floats) -> Line:
    """The least squares line of ``y`` on ``x``. Raises Missing where all ``x`` are equal."""
    found = fit(x, y)
    if found is None:
        raise Missing("All models have the same original accuracy.")
    return found
