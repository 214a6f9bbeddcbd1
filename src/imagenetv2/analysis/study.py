"""What the analysis works on, whether the study was run here or released by others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL, Predictions


@dataclass(frozen=True)
class Study:
    """Predictions of the same models on every set.

    Attributes:
        labels: displayed name of each set; ``original`` is the first.
        sets: predictions by set; the models are the same, in the same order, in each.
        families: family of each model.
        frequencies: by set, images with ``image_id``, ``wnid`` and ``frequency``, those with enough votes; a set
            whose votes nobody knows is absent.
    """

    labels: Mapping[str, str]
    sets: Mapping[str, Predictions]
    families: Mapping[str, str]
    frequencies: Mapping[str, pd.DataFrame]

    @property
    def models(self) -> tuple[str, ...]:
        """Names of the models."""
        return self.sets[ORIGINAL].models

    @property
    def new(self) -> list[str]:
        """The sets apart from the original."""
        return [name for name in self.labels if name != ORIGINAL]

    def right(self, name: str) -> npt.NDArray[np.bool_]:
        """Whether the true class comes first: models × images of that set."""
        return self.sets[name].top(1)

    def groups(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which models belong to each group: all models, and each family of at least three where there are several."""
        family = np.array([self.families[m] for m in self.models])
        groups = {"all": np.ones(len(family), bool)}
        names, counts = np.unique(family, return_counts=True)
        if len(names) > 1:
            groups |= {
                str(n): family == n for n, count in zip(names, counts, strict=True) if count >= SMALLEST_GROUP
            }
        return groups


SMALLEST_GROUP = 3
"""Models that a group needs for a line: two always lie on one."""
