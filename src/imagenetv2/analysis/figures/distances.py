"""How near each candidate's nearest neighbour is under each metric, beside the cut-off."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, dashed, layered, tooltips, values
from imagenetv2.analysis.figures.style import token
from imagenetv2.analysis.wording import count
from imagenetv2.duplicates.metrics import METRICS

LOW, HIGH, BARS = -2.0, 2.0, 40
"""Decades of the cut-off from the left to the right, and bars; what is nearer or farther is in the outermost bar."""
KINDS = {
    "duplicate": ("near-duplicate", token("set-2")),
    "different": ("different", token("set-3")),
    "unreviewed": ("not judged yet", token("set-5")),
    "": ("farther", token("drop")),
}
"""Verdicts on the pair with the nearest neighbour: how they are called and coloured, from the bottom up."""


def distances(nearest: Mapping[str, pd.DataFrame]) -> Figure | None:
    """One panel a metric: tables with share and verdict, see ``sections.searches``; None where there is nothing."""
    panels = []
    for metric, table in nearest.items():
        if table.empty:
            continue
        below = int((table["share"] <= 1).sum())
        said = (
            f"Histogram of the distance to the nearest neighbour, {METRICS[metric].distance}: "
            f"{count(below)} of {count(len(table))} candidates are at or below the cut-off."
        )
        panels.append(
            Panel(f"distances-{metric}", said, _draw(bars(table), METRICS[metric].name), height=180)
        )
    return Figure("distances", tuple(panels)) if panels else None


def bars(table: pd.DataFrame) -> pd.DataFrame:
    """Stacked bars: verdict, left, right (units of the cut-off), low, high (candidates); empty ones are left out."""
    edges = np.linspace(LOW, HIGH, BARS + 1)
    with np.errstate(divide="ignore"):
        place = np.clip(np.log10(table["share"].to_numpy(float)), LOW, HIGH)
    # A bar holds its upper end, since a pair at the cut-off is looked at.
    bar = np.clip(np.searchsorted(edges, place, side="left") - 1, 0, BARS - 1)
    bottom = np.zeros(BARS, dtype=np.int64)
    rows = []
    for verdict in KINDS:
        counts = np.bincount(bar[(table["verdict"] == verdict).to_numpy()], minlength=BARS)
        top = bottom + counts
        rows += [
            (verdict, float(10 ** edges[b]), float(10 ** edges[b + 1]), int(bottom[b]), int(top[b]))
            for b in np.flatnonzero(counts)
        ]
        bottom = top
    return pd.DataFrame(rows, columns=["verdict", "left", "right", "low", "high"])


def _draw(table: pd.DataFrame, title: str) -> alt.LayerChart:
    there = [verdict for verdict in KINDS if verdict in set(table["verdict"])]
    frame = table.assign(
        kind=[KINDS[v][0] for v in table["verdict"]],
        at=[f"{a:.2g} to {b:.2g} cut-offs" for a, b in zip(table["left"], table["right"], strict=True)],
        said=[count(n) for n in table["high"] - table["low"]],
    )
    chart = alt.Chart(values(frame))
    x = alt.X(
        "left:Q",
        title="distance in units of the cut-off",
        scale=alt.Scale(type="log", domain=[10**LOW, 10**HIGH]),
        axis=alt.Axis(grid=False, values=[0.01, 0.1, 1, 10, 100], format="~g"),
    )
    colour = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[KINDS[v][0] for v in there], range=[KINDS[v][1] for v in there]),
        legend=alt.Legend(orient="bottom", symbolType="square", columns=2),
    )
    tips = tooltips({"kind": "nearest neighbour", "at": "distance", "said": "candidates"})
    rects = chart.mark_rect().encode(
        x=x,
        x2=alt.X2("right"),
        y=alt.Y("low:Q", title="candidates"),
        y2=alt.Y2("high"),
        color=colour,
        tooltip=tips,
    )
    return layered(rects, dashed("x", 1.0), title=title)
