"""The scan as a figure: how far each rule is off, against the number of annotators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, dashed, tooltips, values
from imagenetv2.analysis.figures.style import INK, PAPER, Series, series
from imagenetv2.simulation.simulation import ANNOTATORS, label

TICKS = (5, 10, 20, 50, 100, 200, 400)
MEASURES = {
    "bias": ("true selection frequency: new less original", 1.0, "+.2f"),
    "expected_change": ("change of accuracy, points", 100.0, "+.0f"),
}
NEAR = 0.045
"""Labels at the ends of lines keep this share of the axis between them."""


def scan_figure(frame: pd.DataFrame) -> Figure:
    """Two panels a quality of the pool: bias of the true selection frequency, and of the accuracy.

    ``frame`` is what ``scan`` returns.
    """
    named = frame.assign(
        label=[label(rule, limit) for rule, limit in zip(frame["rule"], frame["threshold"], strict=True)]
    )
    names = dict.fromkeys(named["label"])
    shown = series({"original": "", **{name: name for name in names}})
    panels = []
    for measure, (title, scale, form) in MEASURES.items():
        scaled = named.assign(y=scale * named[measure])
        ends = (min(0.0, scaled["y"].min()), max(0.0, scaled["y"].max()))
        for quality, part in scaled.groupby("quality"):
            above = f"{quality:.0%} of candidates as the originals" if named["quality"].nunique() > 1 else ""
            chart = _lines(part, shown, title, form, ends).properties(title=above)
            panels.append(Panel(f"scan-{measure}-{quality:g}", _said(part, title), chart, width=300))
    return Figure("scan", tuple(panels), columns=max(2, named["quality"].nunique()))


def _lines(
    part: pd.DataFrame, shown: dict[str, Series], title: str, form: str, ends: tuple[float, float]
) -> alt.LayerChart:
    last = max(ANNOTATORS[-1], int(part["annotators"].max()))
    first = min(ANNOTATORS[0], int(part["annotators"].min()))
    # Room on the right for the rules' names.
    scale = alt.Scale(type="log", domain=[0.85 * first, 6 * last], nice=False)
    x = alt.X("annotators:Q", title="annotators an image", scale=scale, axis=alt.Axis(values=list(TICKS)))
    y = alt.Y("y:Q", title=title, scale=alt.Scale(domain=list(ends), nice=True), axis=alt.Axis(format=form))
    layers: list[alt.Chart] = [dashed("y")]
    places = _apart(part, ends)
    for name, line in part.groupby("label", sort=False):
        one = shown[str(name)]
        known = line.dropna(subset=["y"])
        if known.empty:
            continue
        chart = alt.Chart(values(known[["label", "annotators", "y"]].assign(at=places[str(name)])))
        mark = chart.mark_point(
            filled=True, fill=one.colour, stroke=PAPER, strokeWidth=0.5, shape=one.shape, size=42, opacity=1
        )
        tips = tooltips({"label": "rule", "annotators": "annotators", "y": title})
        layers += [
            chart.mark_line(color=one.colour, strokeWidth=1.6).encode(x=x, y=y),
            mark.encode(x=x, y=y, tooltip=tips),
            chart.transform_filter(f"datum.annotators == {known['annotators'].max()}")
            .mark_text(align="left", dx=7, color=INK)
            .encode(x=x, y="at:Q", text="label:N"),
        ]
    return cast(alt.LayerChart, alt.layer(*layers))


def _apart(part: pd.DataFrame, ends: tuple[float, float]) -> dict[str, float]:
    """Where each line's name stands: at its last value, or as far above the one below and zero as keeps it legible."""
    finals = part.dropna(subset=["y"]).groupby("label")["y"].last().sort_values()
    near = NEAR * (ends[1] - ends[0])
    places: dict[str, float] = {}
    lowest = float("-inf")
    for name, value in finals.items():
        clear = float(value) if abs(value) > 0.6 * near else 0.6 * near
        lowest = max(clear, lowest + near)
        places[str(name)] = lowest
    return places


def _said(part: pd.DataFrame, title: str) -> str:
    """The panel in words."""
    found: Sequence[str] = [
        f"{name} {line['y'].iloc[0]:+.2f} at {line['annotators'].iloc[0]} annotators, "
        f"{line['y'].iloc[-1]:+.2f} at {line['annotators'].iloc[-1]}"
        for name, line in part.groupby("label", sort=False)
    ]
    return f"{title[0].upper()}{title[1:]}: {'; '.join(found)}."
