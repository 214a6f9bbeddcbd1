"""An evaluation as a whole: measured, judged and written."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd
from altair.utils import schemapi

from imagenetv2.analysis.figures import renderer
from imagenetv2.analysis.figures.figure import Figure, for_paper
from imagenetv2.analysis.figures.style import FONT, on_paper
from imagenetv2.atomically import write_bytes
from imagenetv2.duplicates.folders import Folder
from imagenetv2.duplicates.labelled import cutoffs, figure, labels, page, wording
from imagenetv2.duplicates.labelled.cutoffs import Measured
from imagenetv2.duplicates.labelled.measured import Resources, measure, pictures
from imagenetv2.duplicates.nearest.options import Wanted
from imagenetv2.images import Pixels

UNSAID = {"k", "within", "enabled", "weights", "classes", "everything"}
"""Settings that do not matter for the distance of a pair, and where a file lies."""


@dataclass(frozen=True)
class Evaluation:
    """What was measured, and with what."""

    measured: Measured
    wanted: Sequence[Wanted]
    precision: float
    pictures: Folder
    unreadable: Mapping[str, str]

    @cached_property
    def given(self) -> dict[str, float]:
        """The cut-off of each metric; not a number where none is known."""
        return {one.metric: math.nan if one.cutoff is None else one.cutoff for one in self.wanted}

    @cached_property
    def summary(self) -> pd.DataFrame:
        """See ``cutoffs.summary``."""
        return cutoffs.summary(self.measured, self.given, self.precision)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """See ``cutoffs.kinds``."""
        return cutoffs.kinds(self.measured, self.given, self.precision)

    @cached_property
    def figure(self) -> Figure:
        """Precision and recall at every cut-off, over pairs with an original where these are known."""
        curves = self.measured.curves(next(iter(self.measured.pairs().values())))
        with schemapi.debug_mode(False):
            return figure.figure(curves, cutoffs.choices(curves, self.given, self.precision))

    def settings(self) -> dict[str, dict[str, Any]]:
        """Settings of each metric on which distances depend."""
        return {
            one.metric: {k: v for k, v in one.section.model_dump(mode="json").items() if k not in UNSAID}
            for one in self.wanted
        }

    def write(self, folder: Path) -> list[Path]:
        """All files; returns their paths, the page first."""
        folder.mkdir(parents=True, exist_ok=True)
        specification = on_paper(json.dumps(for_paper(self.figure, FONT)))
        contents = {
            "cutoffs.html": self.page().encode(),
            "cutoffs.csv": _csv(self.summary),
            "kinds.csv": _csv(self.kinds),
            "pairs.csv": _csv(cutoffs.pairs(self.measured)),
            "cutoffs.json": self.json().encode(),
            "cutoffs.md": wording.in_markdown(*self._tables()).encode(),
            **renderer.chart(self.figure.name, specification),
        }
        for name, content in contents.items():
            write_bytes(folder / name, content)
        return [folder / name for name in contents]

    def printed(self) -> str:
        """Both tables, for a terminal."""
        return wording.printed(*self._tables())

    def _tables(self) -> tuple[pd.DataFrame, pd.DataFrame, float]:
        return self.summary, self.kinds, self.precision

    def page(self) -> str:
        """The page as HTML."""
        library = renderer.library()[renderer.LIBRARY].decode()
        said = "; ".join(
            f"{metric}: "
            + ", ".join(f"{name} {value}" for name, value in values.items() if value is not None)
            for metric, values in self.settings().items()
        )
        looks = figure.shown(self.measured.distances)
        return page.page(
            "What near-duplicate metrics find", self.measured, self.summary, self.kinds, self.given, self.precision,
            looks, self.figure, self._picture, self.unreadable, f"Settings: {said}.", library,
        )  # fmt: skip

    def _picture(self, name: str) -> Pixels:
        return self.pictures.pixels(self.pictures.names.index(name))

    def json(self) -> str:
        """Settings, cut-offs and both tables."""
        labelled = self.measured.labelled
        return (
            json.dumps(
                {
                    "images": len(labelled.names),
                    "pairs": len(labelled.row),
                    "duplicates": int(labelled.duplicate.sum()),
                    "unreadable": dict(self.unreadable),
                    "settings": self.settings(),
                    "cutoffs": {k: None if math.isnan(v) else v for k, v in self.given.items()},
                    "precision": self.precision,
                    "summary": _rows(self.summary),
                    "kinds": _rows(self.kinds),
                },
                indent=1,
                ensure_ascii=False,
            )
            + "\n"
        )


def evaluate(
    source: Path, folder: Path, wanted: Sequence[Wanted], resources: Resources, precision: float
) -> Evaluation:
    """Measure a labelled set: a table and the folder of its images.

    Raises InputError where the table is wrong, or what can be read has no near-duplicates or nothing else.
    """
    labelled = labels.read(source, folder)
    images = pictures(labelled, folder)
    measured, unreadable = measure(labelled, images, wanted, resources)
    measured.labelled.refuse_one_sided(source)
    return Evaluation(measured, wanted, precision, images, unreadable)


def _csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.10g").encode()


def _rows(frame: pd.DataFrame) -> Any:
    rows = [
        {k: None if isinstance(v, float) and not math.isfinite(v) else v for k, v in row.items()}
        for row in frame.to_dict("records")
    ]
    return json.loads(json.dumps(rows))
