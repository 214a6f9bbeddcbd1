"""What a line owes to one model, in closed form, or to one family, by leaving it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.lines.least_squares import fit
from imagenetv2.analysis.lines.points import observed
from imagenetv2.analysis.results import INFLUENCE
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.study import Study

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Influence:
    """Of each point on a least squares line, float64, shape (points,) each; not a number where undefined.

    Attributes:
        leverage: diagonal of the hat matrix.
        cook: Cook's distance (1977).
        slope, offset: of the line without the point.
    """

    leverage: Floats
    cook: Floats
    slope: Floats
    offset: Floats


def influence(x: Floats, y: Floats) -> Influence | None:
    """Closed forms of Belsley, Kuh and Welsch (1980, section 2.1) for a line; None where all x are equal.

    Without a point whose x alone differs from the others there is no line; without residuals, or with no more than
    two points, there is no Cook's distance.
    """
    line = fit(x, y)
    if line is None:
        return None
    n, dx = x.size, x - x.mean()
    spread = float((dx * dx).sum())
    residuals = y - y.mean() - line.slope * dx
    leverage = 1 / n + dx * dx / spread
    # The point alone differs where the others have one value; by rounding its leverage may miss 1.
    alone = np.array([np.ptp(np.delete(x, i)) == 0 for i in range(n)])
    rest = np.where(alone, np.nan, 1 - leverage)
    slope = line.slope - dx * residuals / (spread * rest)
    offset = y.mean() - residuals / (n * rest) - slope * x.mean()
    variance = float((residuals * residuals).sum()) / (n - 2) if n > 2 else 0.0
    cook = residuals**2 * leverage / (2 * variance * rest**2) if variance > 0 else np.full(n, np.nan)
    return Influence(leverage, cook, slope, offset)


def table(study: Study) -> pd.DataFrame:
    """Influence of each model, and of each family where there are several (``results.INFLUENCE``)."""
    rows: list[Row] = []
    for scale, axes in observed(study).items():
        for name in study.new:
            what: Row = {"set": name, "scale": scale}
            rows.extend(what | row for row in _of_models(study, axes[ORIGINAL], axes[name]))
            rows.extend(what | row for row in _of_families(study, axes[ORIGINAL], axes[name]))
    return frame(rows, INFLUENCE)


def _of_models(study: Study, x: Floats, y: Floats) -> Iterator[Row]:
    found = influence(x, y)
    if found is None:
        return
    for i, model in enumerate(study.models):
        yield {
            "without": "model",
            "left_out": model,
            "leverage": found.leverage[i],
            "cook": found.cook[i],
            "slope": found.slope[i],
            "offset": found.offset[i],
        }


def _of_families(study: Study, x: Floats, y: Floats) -> Iterator[Row]:
    family = np.array([study.families[m] for m in study.models])
    names = np.unique(family)
    if names.size == 1:
        return
    for name in names:
        kept = family != name
        line = fit(x[kept], y[kept])
        yield {
            "without": "family",
            "left_out": str(name),
            "leverage": None,
            "cook": None,
            "slope": None if line is None else line.slope,
            "offset": None if line is None else line.offset,
        }
