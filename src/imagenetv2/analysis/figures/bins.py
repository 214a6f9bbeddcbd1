"""Accuracy by observed selection frequency, one line a set."""

from __future__ import annotations

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, tooltips, values
from imagenetv2.analysis.figures.style import PAPER, Series
from imagenetv2.analysis.wording import count, percent

APART = 0.012
"""Sets are drawn so far apart within a bin that their intervals do not hide each other."""


def bins(table: pd.DataFrame, sets: dict[str, Series]) -> Figure:
    """A point a set and bin with its interval; empty bins are left out."""
    shown = {name: one for name, one in sets.items() if name in set(table["set"])}
    frame = table[table["top1"].notna()].copy()
    place = {name: i - (len(shown) - 1) / 2 for i, name in enumerate(shown)}
    frame = frame.assign(
        label=frame["set"].map({name: one.label for name, one in shown.items()}),
        middle=(frame["from"] + frame["to"]) / 2 + APART * frame["set"].map(place),
        bin=[f"{a:g} to {b:g}" for a, b in zip(frame["from"], frame["to"], strict=True)],
        images=[count(n) for n in frame["images"]],
        said=[percent(v) for v in frame["top1"]],
        best=[percent(v) for v in frame["best"]],
        **{c: 100 * frame[c] for c in ("top1", "top1_low", "top1_high")},
    )
    said = "Top-1 accuracy, averaged over models, of images by the share of workers that selected them."
    return Figure("bins", (Panel("bins", said, _draw(frame, shown), width=470, height=270),))


def _draw(frame: pd.DataFrame, shown: dict[str, Series]) -> alt.LayerChart:
    labels = [one.label for one in shown.values()]
    colour = alt.Color(
        "label:N",
        scale=alt.Scale(domain=labels, range=[one.colour for one in shown.values()]),
        legend=alt.Legend(orient="bottom", columns=2),
    )
    shape = alt.Shape("label:N", scale=alt.Scale(domain=labels, range=[one.shape for one in shown.values()]))
    columns = ["label", "middle", "bin", "images", "said", "best", "top1", "top1_low", "top1_high"]
    chart = alt.Chart(values(frame[columns]))
    x = alt.X(
        "middle:Q",
        title="observed selection frequency",
        scale=alt.Scale(domain=[0, 1]),
        axis=alt.Axis(grid=False, tickCount=6),
    )
    y = alt.Y("top1:Q", title="top-1 accuracy, %", scale=alt.Scale(domain=[0, 100]))
    tips = {
        "label": "set", "bin": "selection frequency", "images": "images", "said": "accuracy",
        "best": "best model",
    }  # fmt: skip
    dots = chart.mark_point(filled=True, size=60, stroke=PAPER, strokeWidth=0.6, opacity=1)
    return layered(
        chart.mark_line(strokeWidth=1.4).encode(x=x, y=y, color=colour),
        chart.mark_rule(strokeWidth=1.2, strokeOpacity=0.6).encode(
            x=x, y=alt.Y("top1_low:Q"), y2=alt.Y2("top1_high"), color=colour
        ),
        dots.encode(x=x, y=y, color=colour, shape=shape, tooltip=tooltips(tips)),
    )
