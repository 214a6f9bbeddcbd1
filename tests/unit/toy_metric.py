"""A fourth metric, in one file: the difference of the brightness of two images."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from imagenetv2.artifacts import Draft
from imagenetv2.duplicates import stage
from imagenetv2.duplicates.engine import Engine, Indices, Values
from imagenetv2.duplicates.recipe import Recipe
from imagenetv2.duplicates.settings import Metric, Search
from imagenetv2.duplicates.stages import NEIGHBOURS, SEARCHED, UNREADABLE
from imagenetv2.job import Job
from imagenetv2.stages import Stage


class Brightness(Metric):
    """The settings of the metric."""

    side: int = Field(8, ge=1)


class Differences:
    """|Σ x − Σ y|, with bounds that are true and not tight."""

    def __init__(self, pixels: npt.NDArray[np.uint8]) -> None:
        self._sums = pixels.reshape(len(pixels), -1).sum(1, dtype=np.int64).astype(np.float64)

    def bounds(
        self, rows: Indices, columns: Indices
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        """Nine tenths of the distance, and the distance itself to two digits."""
        distance = np.abs(self._sums[rows][:, None] - self._sums[columns])
        return 0.9 * distance, np.rint(distance / 100) * 100

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        """The distance."""
        distance: Values = np.abs(self._sums[rows] - self._sums[columns])
        return distance


class Bright(Recipe[Brightness]):
    """Compares all candidates with all images."""

    metric = "brightness"
    section = Brightness

    def engine(self, values: npt.NDArray[Any], settings: Brightness, device: str, room: int = 0) -> Engine:
        """On the CPU only."""
        return Differences(values)


def run(job: Job) -> None:
    """The function of the stage."""
    stage.run(job, Bright())


def toy_job(make_job: Callable[..., Job], settings: Brightness, how: Search, **options: Any) -> Job:
    """A job of the metric's stage on the inputs of the others."""
    job = make_job("neighbours/l2", **options)
    own = Stage(
        "neighbours/brightness",
        algorithm=1,
        run="tests.unit.toy_metric:run",
        files=(NEIGHBOURS, UNREADABLE, SEARCHED),
        settings={"neighbours.brightness": settings, "neighbours.search": how},
        reads=("classes", "reference", "candidates"),
    )
    return replace(job, stage=own, out=Draft(own, job.out.folder))
