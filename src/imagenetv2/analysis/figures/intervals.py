"""Rows of names with a point and its interval each: influence on the line, and effective robustness."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import SIGNED, dashed, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, PAPER, Series

STEP = 16
"""Pixels of a row."""


def height(rows: int) -> int:
    """Pixels that so many rows need."""
    return STEP * max(rows, 3)


def rows(
    frame: pd.DataFrame, one: Series, title: str, at: float, tips: Mapping[str, str], *, signed: bool
) -> alt.LayerChart:
    """One row a name, in the order of ``frame``, and a dashed line.

    Args:
        frame: ``name``, ``value``, ``low`` and ``high`` (missing where there is no interval), and the columns of
            ``tips``.
        one: the set, whose colour, shape and name the panel takes.
        title: of the horizontal axis.
        at: where the dashed line stands.
        tips: what is said over a point: columns and their titles.
        signed: whether numbers on the axis carry their sign.
    """
    chart = alt.Chart(values(frame))
    x = alt.X(
        "value:Q",
        title=title,
        scale=alt.Scale(zero=False, padding=10),
        axis=alt.Axis(tickCount=4, labelExpr=SIGNED) if signed else alt.Axis(tickCount=4),
    )
    y = alt.Y(
        "name:N",
        scale=alt.Scale(domain=frame["name"].tolist()),
        title=None,
        axis=alt.Axis(
            domain=False,
            ticks=False,
            labelColor=INK,
            labelFontSize=10,
            labelLimit=150,
            labelOverlap=False,
            grid=True,
        ),
    )
    layers = [dashed("x", at)]
    if frame["low"].notna().any():
        bars = chart.mark_rule(color=one.colour, strokeWidth=2, strokeOpacity=0.45)
        layers.append(bars.encode(x=alt.X("low:Q"), x2=alt.X2("high"), y=y))
    dots = chart.mark_point(
        filled=True, fill=one.colour, stroke=PAPER, strokeWidth=0.6, shape=one.shape, size=50, opacity=1
    )
    layers.append(dots.encode(x=x, y=y, tooltip=tooltips({"name": "name", **tips})))
    return layered(*layers, title=one.label)
