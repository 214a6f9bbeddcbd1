"""Tables, fits and figures."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, model_validator

from imagenetv2.settings import Section, operational

PATHS = {"run": 0, "paper": 0, "timm": 2, "testbed": 2, "csv": 1}
"""How many files each kind of line is read from."""


class Line(Section):
    """A line of new on original accuracy, from which effective robustness is measured."""

    name: str = Field(min_length=1, description="Its name in the results.")
    kind: Literal["run", "paper", "timm", "testbed", "csv"] = Field(
        description="What it is fitted on: run (this run's models, each against the line of the others), paper (stated "
        "by Recht et al. 2019, for MatchedFrequency), or published accuracies: timm (its results for ImageNet and for "
        "the new set), testbed (imagenet-testbed's top-1 accuracies; its standard models) or csv (columns model, "
        "original, new; percent).",
    )
    paths: tuple[Path, ...] = operational(
        (),
        "Files of published accuracies. timm: results-imagenet.csv, then the results on the new set; testbed: "
        "robustness_top1s.csv, then model_types.json; csv: the table. None for the other kinds.",
    )
    set: str = Field(
        "matched_frequency",
        description="New set that the published accuracies are of; this run's line is fitted on each of its new sets.",
    )
    group: str = Field("all", description="Models that this run's line is fitted on: all, or a family.")
    scale: Literal["linear", "probit", "logit"] = Field(
        "linear",
        description="Axes on which it is straight. The paper's is linear; imagenet-testbed's study used logit.",
    )

    @model_validator(mode="after")
    def _files(self) -> Line:
        if len(self.paths) != PATHS[self.kind]:
            raise ValueError(
                f"a line of kind {self.kind} needs {PATHS[self.kind]} paths, not {len(self.paths)}"
            )
        if self.kind == "paper" and (self.scale, self.set) != ("linear", "matched_frequency"):
            raise ValueError("the paper states its line on linear axes and for matched_frequency")
        return self


class Analysis(Section):
    """What is computed from predictions and selection frequencies."""

    level: float = Field(0.95, gt=0, lt=1, description="Level of all intervals.")
    bootstrap: int = Field(
        100_000,
        ge=100,
        description="Bootstrap samples: over models, images or classes for fits, over images for averages of a set.",
    )
    lines: tuple[Line, ...] = Field(
        (Line(name="this run", kind="run"),),
        description="Lines that effective robustness is measured from.",
    )

    @model_validator(mode="after")
    def _names(self) -> Analysis:
        names = [line.name for line in self.lines]
        if twice := sorted({n for n in names if names.count(n) > 1}):
            raise ValueError(f"lines: the name {twice[0]} is given twice")
        return self


def line_tables(settings: Analysis) -> dict[str, Path]:
    """Outside files of published accuracies that lines are fitted on, by configuration field."""
    return {
        f"analysis.lines.{number}.paths.{place}": path
        for number, line in enumerate(settings.lines)
        for place, path in enumerate(line.paths)
    }


class Families(Section):
    """Which group each model belongs to: gathered from the entries of ``models``."""

    names: dict[str, str] = Field(description="Family of each model; where it has none, its kind.")


class Sets(Section):
    """The sets that models are compared on: gathered from what the study is."""

    names: dict[str, str] = Field(description="Displayed name of each set; the original is the first.")


class Report(Section):
    """The page that shows a run."""

    title: str = Field("A new test set, and what models make of it", description="Heading of the report.")
    examples: int = Field(8, ge=1, description="Pictures of a class shown of each set.")
    classes: int = Field(12, ge=1, description="Classes whose pictures are shown; of more, a seeded sample.")
    pairs: int = Field(24, ge=0, description="Near-duplicate pairs shown.")
