"""Accuracies with their intervals, one row a model: what is shown where nothing is compared."""

from __future__ import annotations

import json
from collections.abc import Sequence

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import Panel, layered, values
from imagenetv2.analysis.figures.style import INK, PAPER, token
from imagenetv2.evaluation.scorecard.labels import shortened
from imagenetv2.evaluation.scorecard.rows import Row
from imagenetv2.evaluation.scorecard.sets import Opened

STEP, WIDTH, LETTERS = 17, 340, 34


def accuracies(of: Opened, rows: Sequence[Row]) -> Panel | None:
    """The models of a set, best first; None where there are none."""
    if not rows:
        return None
    ordered = sorted(rows, key=lambda row: (-row["top1"], row["model"]))
    frame = pd.DataFrame(
        {
            "name": [shortened(row["model"], LETTERS) for row in ordered],
            "place": range(len(ordered)),
            "top1": [row["top1"] for row in ordered],
            "low": [row["low"] for row in ordered],
            "high": [row["high"] for row in ordered],
            "said": [f"{row['top1']:.1f}" for row in ordered],
        }
    )
    chart = alt.Chart(values(frame))
    y = alt.Y(
        "place:O",
        title=None,
        sort=None,
        axis=alt.Axis(
            labelExpr=f"{json.dumps(frame['name'].tolist())}[datum.value]",
            domain=False, ticks=False, labelColor=INK, labelLimit=260, labelOverlap=False, grid=True,
        ),
    )  # fmt: skip
    # A bar that ends at 0 or 100 is to be seen within the frame.
    ends = [frame["low"].min() - 2, frame["high"].max() + 2]
    x = alt.X(
        "top1:Q",
        title="accuracy, %",
        scale=alt.Scale(domain=ends, nice=False, zero=False),
        axis=alt.Axis(tickCount=5),
    )
    bars = chart.mark_rule(color=token("set-1"), strokeWidth=2, strokeOpacity=0.45)
    dots = chart.mark_point(
        filled=True, fill=token("set-1"), stroke=PAPER, strokeWidth=0.8, shape="diamond", size=70, opacity=1
    )
    text = chart.mark_text(align="left", baseline="middle", dx=6, color=INK, fontSize=10.5)
    drawn = layered(
        bars.encode(x=alt.X("low:Q"), x2=alt.X2("high"), y=y),
        dots.encode(x=x, y=y),
        text.encode(x=alt.X("high:Q"), y=y, text=alt.Text("said:N")),
        title=of.title,
    )
    words = ", ".join(f"{row['model']} {row['top1']:.1f} %" for row in ordered)
    return Panel(
        f"plot-{of.name}",
        f"Accuracy on {of.title}: {words}.",
        drawn,
        WIDTH,
        STEP * max(3, len(ordered)),
        rows=True,
    )
