"""Histograms of observed selection frequencies: a new set beside the original."""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, tooltips, values
from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.wording import percent, share

Floats = npt.NDArray[np.float64]
EDGES = np.linspace(-0.05, 1.05, 12)
"""Eleven bars, one for each share of ten votes, so that no share lies on an edge."""
WIDTH = 0.042


def shares(frequencies: Floats) -> Floats:
    """Percent of the images in each bar: float64, shape (11,)."""
    counts, _ = np.histogram(frequencies, EDGES)
    out: Floats = 100 * counts / max(1, frequencies.size)
    return out


def frequencies(observed: Mapping[str, Floats], sets: dict[str, Series]) -> Figure:
    """One panel a new set whose votes are known, all on the same axes."""
    ceiling = 1.12 * max(5.0, *(float(shares(s).max()) for s in observed.values()))
    panels = []
    for name, one in sets.items():
        if name == "original" or name not in observed:
            continue
        two = {"original": observed["original"], name: observed[name]}
        means = [f"{sets[n].label} {share(f.mean(), 2)}" for n, f in two.items() if f.size]
        said = f"Histograms of observed selection frequencies; averages: {', '.join(means)}."
        drawn = _draw({sets[n]: f for n, f in two.items()}, one.label, ceiling)
        panels.append(Panel(f"frequencies-{name}", said, drawn, height=200))
    return Figure("frequencies", tuple(panels))


def _draw(two: Mapping[Series, Floats], title: str, ceiling: float) -> alt.LayerChart:
    centres = (EDGES[:-1] + EDGES[1:]) / 2
    bars, means = [], []
    for side, (one, found) in zip((-1, 0), two.items(), strict=True):
        high = shares(found)
        bars.append(
            pd.DataFrame(
                {
                    "label": one.label,
                    "left": centres + side * WIDTH,
                    "right": centres + (side + 1) * WIDTH,
                    "height": high,
                    "at": [share(c, 1) for c in centres],
                    "said": [percent(v / 100) for v in high],
                }
            )
        )
        if found.size:
            means.append({"label": one.label, "mean": float(found.mean()), "top": ceiling})
    labels = [one.label for one in two]
    colour = alt.Color(
        "label:N",
        scale=alt.Scale(domain=labels, range=[one.colour for one in two]),
        legend=alt.Legend(orient="top-left", symbolType="square", offset=4),
    )
    x = alt.X(
        "left:Q",
        title="observed selection frequency",
        scale=alt.Scale(domain=[-0.05, 1.05], nice=False),
        axis=alt.Axis(grid=False, values=[0, 0.2, 0.4, 0.6, 0.8, 1]),
    )
    y = alt.Y("height:Q", title="images, %", scale=alt.Scale(domain=[0, ceiling], nice=False))
    tips = tooltips({"label": "set", "at": "selection frequency", "said": "images"})
    chart = alt.Chart(values(pd.concat(bars)))
    average = alt.Chart(values(pd.DataFrame(means, columns=["label", "mean", "top"])))
    return layered(
        average.mark_rule(strokeDash=[3, 2]).encode(x=alt.X("mean:Q"), color=colour),
        chart.mark_rect().encode(x=x, x2=alt.X2("right"), y=y, y2=alt.Y2Datum(0), color=colour, tooltip=tips),
        average.mark_point(shape="triangle-down", filled=True, size=50, opacity=1).encode(
            x=alt.X("mean:Q"), y=alt.Y("top:Q"), color=colour
        ),
        title=title,
    )
