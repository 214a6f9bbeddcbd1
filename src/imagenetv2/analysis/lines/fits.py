"""The tables of lines and of their bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.lines.least_squares import Line, fit
from imagenetv2.analysis.lines.points import Points, observed
from imagenetv2.analysis.lines.resampling import Lines, model_weights, resampled_lines
from imagenetv2.analysis.resamples import Resamples
from imagenetv2.analysis.results import BANDS, FITS
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.scales import percent
from imagenetv2.analysis.study import SMALLEST_GROUP, Study
from imagenetv2.pooling import threaded

Floats = npt.NDArray[np.float64]
Members = npt.NDArray[np.bool_]
GRID = 61
"""Points of a band, evenly spaced on the axis from the worst original accuracy to the best."""
OVER_MODELS = ("models", "both")


@dataclass(frozen=True)
class Fitted:
    """A line with what its rows are made of: ``what`` is the key, ``x`` original accuracies on the axis."""

    what: Row
    x: Floats
    line: Line
    resampled: Lines


def tables(
    study: Study, images: Resamples, classes: Resamples, level: float, seed: int, cores: int = 1
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Lines with intervals, and bands (``results.FITS`` and ``results.BANDS``).

    Lines are of top-1 accuracy. Intervals are percentiles of the bootstrap samples (Efron 1979) in which a line is
    defined. The same samples of models, images and classes serve all sets and scales. A group whose models do not
    differ on the original has no line and no row; a line through two models has no interval over models, since it
    always is the same.

    Args:
        study: predictions on all sets.
        images, classes: accuracies on bootstrap samples; of models as many samples are drawn as of images.
        level: of the intervals.
        seed: of the run.
        cores: threads; the result does not depend on them.
    """
    groups = study.groups()
    weights = model_weights(groups, len(images.top1[ORIGINAL]), seed)
    kinds = {
        "models": (weights, None),
        "images": (None, images),
        "classes": (None, classes),
        "both": (weights, images),
    }
    rows: list[Row] = []
    bands: list[Row] = []
    for scale, points in observed(study).items():
        for over, (models, accuracies) in kinds.items():
            lines = resampled_lines(points, groups, scale, models, accuracies, cores)
            found = list(_fitted(points, groups, {"scale": scale, "over": over}, lines))
            rows.extend(threaded(lambda fitted: _row(fitted, level), found, cores))
            if over in OVER_MODELS:
                for band in threaded(lambda fitted: _band(fitted, level), found, cores):
                    bands.extend(band)
    return frame(rows, FITS), frame(bands, BANDS)


def _fitted(
    points: Points, groups: Mapping[str, Members], kind: Row, lines: Mapping[tuple[str, str], Lines]
) -> Iterator[Fitted]:
    for (name, group), resampled in lines.items():
        x, y = points[ORIGINAL][groups[group]], points[name][groups[group]]
        line = fit(x, y)
        if line is not None:
            always_same = kind["over"] in OVER_MODELS and x.size < SMALLEST_GROUP
            known = Lines.none() if always_same else resampled
            yield Fitted({"set": name, "group": group, **kind}, x, line, known)


def _row(fitted: Fitted, level: float) -> Row:
    line, resampled = fitted.line, fitted.resampled
    some = resampled.slopes.size > 0
    slope = interval(resampled.slopes, level) if some else (None, None)
    offset = interval(resampled.offsets, level) if some else (None, None)
    return fitted.what | {
        "models": fitted.x.size,
        "slope": line.slope,
        "slope_low": slope[0],
        "slope_high": slope[1],
        "offset": line.offset,
        "offset_low": offset[0],
        "offset_high": offset[1],
        "r2": line.r2,
        "residual": line.residual,
        "resamples": resampled.slopes.size,
    }


def _band(fitted: Fitted, level: float) -> list[Row]:
    """Percentiles at each point; transformed back they are percentiles still, since the way back is increasing."""
    if fitted.resampled.slopes.size == 0:
        return []
    scale = str(fitted.what["scale"])
    grid = np.linspace(fitted.x.min(), fitted.x.max(), GRID)
    ends = np.array([interval(fitted.resampled.slopes * at + fitted.resampled.offsets, level) for at in grid])
    columns = {
        "original": percent(grid, scale),
        "line": percent(fitted.line.slope * grid + fitted.line.offset, scale),
        "low": percent(ends[:, 0], scale),
        "high": percent(ends[:, 1], scale),
    }
    return [
        fitted.what | {"point": i} | {column: float(values[i]) for column, values in columns.items()}
        for i in range(GRID)
    ]
