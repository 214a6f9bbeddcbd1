"""What the analysis found, as figures and sections of the report take it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import pandas as pd

from imagenetv2.analysis import wording
from imagenetv2.analysis.class_changes import class_changes
from imagenetv2.analysis.figures.style import Series, series
from imagenetv2.analysis.settings import Analysis, Sets
from imagenetv2.job import Job

ALL = "all"
"""The group of all models."""
OVER = ("models", "both", "images", "classes")
"""Bootstraps of a line, the one to draw first."""


@dataclass(frozen=True)
class Findings:
    """Tables of the analysis (see ``results.py`` and ``stages.py``).

    Attributes:
        labels: displayed name of each set; ``original`` is the first.
        level: of all intervals.
        lines_in_order: names of the lines that effective robustness is measured from.
        rules, bins: None where nobody knows the votes.
        metrics: the table of the stage ``metrics``; None where nobody knows the probabilities.
        class_changes: see ``class_changes.py``, with the ``name`` of each class; None where ``metrics`` is.
    """

    labels: Mapping[str, str]
    level: float
    lines_in_order: tuple[str, ...]
    accuracies: pd.DataFrame
    by_class: pd.DataFrame
    groups: pd.DataFrame
    fits: pd.DataFrame
    bands: pd.DataFrame
    influence: pd.DataFrame
    order: pd.DataFrame
    difficulty: pd.DataFrame
    sampling_error: pd.DataFrame
    paired: pd.DataFrame
    robustness: pd.DataFrame
    lines: pd.DataFrame
    simulation: pd.DataFrame
    rules: pd.DataFrame | None = None
    bins: pd.DataFrame | None = None
    metrics: pd.DataFrame | None = None
    class_changes: pd.DataFrame | None = None

    @property
    def new(self) -> dict[str, str]:
        """Displayed names of the sets apart from the original."""
        return {name: label for name, label in self.labels.items() if name != "original"}

    @cached_property
    def sets(self) -> dict[str, Series]:
        """How each set is shown."""
        return series(self.labels)

    @property
    def averages(self) -> pd.DataFrame:
        """Averages over all models, one row a set, in the order of the sets."""
        every = self.groups[self.groups["group"] == ALL].set_index("set")
        return every.loc[list(self.labels)].reset_index()

    @property
    def main_fits(self) -> pd.DataFrame:
        """Fits over all models: one row a set and scale, with the interval to draw."""
        fits = first_of(self.fits)
        return fits[fits["group"] == ALL]

    @property
    def groups_drawn(self) -> list[str]:
        """Groups whose lines are drawn: all models, and their largest family where that is another line."""
        families = self.accuracies.drop_duplicates("model")["family"].value_counts()
        fitted = set(self.fits["group"])
        largest = [str(f) for f in families.sort_index().sort_values(ascending=False, kind="stable").index]
        return [g for g in (ALL, *largest[:1]) if g in fitted]

    @property
    def main_line(self) -> str | None:
        """The line that effective robustness is drawn from; None where there is none."""
        known = set(self.robustness["line"])
        return next((line for line in self.lines_in_order if line in known), None)


def first_of(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows whose bootstrap comes first in ``OVER``, for each set, scale and group."""
    place = frame["over"].map({over: i for i, over in enumerate(OVER)})
    best = place.groupby([frame[key] for key in ("set", "scale", "group")]).transform("min")
    return frame[place == best]


def read(job: Job) -> Findings:
    """The findings that a stage's ``analysis`` holds."""
    artifact, settings = job.read("analysis"), job.settings(Analysis)
    names = [
        "accuracies", "by_class", "groups", "fits", "bands", "influence", "order", "difficulty", "sampling_error",
        "paired", "robustness", "lines", "simulation",
    ]  # fmt: skip
    names += [n for n in ("rules", "bins") if f"{n}.parquet" in artifact.manifest["files"]]
    tables = {name: artifact.table(name) for name in names}
    if "metrics" in job.stage.reads:
        measured = job.read("metrics")
        names_of = wording.distinct_names(job.read("classes").table("classes"))
        changes = class_changes(measured.table("per_class"), settings.level)
        tables["metrics"] = measured.table("metrics")
        tables["class_changes"] = changes.assign(name=changes["wnid"].map(names_of))
    # A record may lack a set altogether.
    present = set(tables["accuracies"]["set"])
    return Findings(
        labels={name: label for name, label in job.settings(Sets).names.items() if name in present},
        level=settings.level,
        lines_in_order=tuple(line.name for line in settings.lines),
        **tables,
    )
