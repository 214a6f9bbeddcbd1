"""Change of accuracy on each set: every model, their average and its interval."""

from __future__ import annotations

from typing import Any

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import SIGNED, Figure, Panel, dashed, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, PAPER, Series
from imagenetv2.analysis.wording import points


def changes(accuracies: pd.DataFrame, averages: pd.DataFrame, sets: dict[str, Series]) -> Figure:
    """One row a new set: a tick a model, a disc for the average over all, a bar for its interval.

    ``averages`` is the table of groups, those of all models: one row a set.
    """
    new = {name: one for name, one in sets.items() if name != "original"}
    models = _labelled(accuracies[accuracies["set"].isin(new)], new)
    models = models[["model", "label"]].assign(
        change=100 * models["change"], said=[f"{points(v)} points" for v in models["change"]]
    )
    mean = _labelled(averages[averages["set"].isin(new)], new)
    mean = mean[["label"]].assign(
        **{c: 100 * mean[c] for c in ("change", "change_low", "change_high")},
        said=[_words(row) for row in mean.to_dict("records")],
    )
    said = ", ".join(f"{label} {words}" for label, words in zip(mean["label"], mean["said"], strict=True))
    panel = Panel(
        "changes",
        f"Average change of top-1 accuracy in points, with interval: {said}.",
        _draw(models, mean, new),
        width=420,
        height=62 * len(new),
        rows=True,
    )
    return Figure("changes", (panel,))


def _draw(models: pd.DataFrame, mean: pd.DataFrame, new: dict[str, Series]) -> alt.LayerChart:
    labels, colours = [one.label for one in new.values()], [one.colour for one in new.values()]
    y = alt.Y(
        "label:N",
        scale=alt.Scale(domain=labels),
        title=None,
        axis=alt.Axis(domain=False, ticks=False, labelColor=INK, labelFontSize=12, labelLimit=200),
    )
    colour = alt.Color("label:N", scale=alt.Scale(domain=labels, range=colours), legend=None)
    shape = alt.Shape(
        "label:N", scale=alt.Scale(domain=labels, range=[one.shape for one in new.values()]), legend=None
    )
    title = "change of top-1, points"
    axis = alt.Axis(labelExpr=SIGNED, tickCount=7)
    ticks = alt.Chart(values(models)).mark_tick(thickness=1.4, size=15, opacity=0.75)
    average = alt.Chart(values(mean))
    disc = average.mark_point(filled=True, size=90, stroke=PAPER, strokeWidth=1, opacity=1)
    return layered(
        dashed("x"),
        ticks.encode(
            x=alt.X("change:Q", title=title, scale=alt.Scale(zero=True, padding=14), axis=axis),
            y=y,
            color=colour,
            tooltip=tooltips({"model": "model", "said": "change"}),
        ),
        average.mark_rule(strokeWidth=5, strokeOpacity=0.35).encode(
            x=alt.X("change_low:Q"), x2=alt.X2("change_high"), y=y, color=colour
        ),
        disc.encode(
            x=alt.X("change:Q"), y=y, color=colour, shape=shape, tooltip=tooltips({"said": "average"})
        ),
        average.mark_text(dy=-17, color=INK, fontSize=11.5).encode(
            x=alt.X("change:Q"), y=y, text=alt.Text("said:N")
        ),
    )


def _labelled(frame: pd.DataFrame, sets: dict[str, Series]) -> pd.DataFrame:
    return frame.assign(label=frame["set"].map({name: one.label for name, one in sets.items()}))


def _words(row: dict[Any, Any]) -> str:
    found = points(row["change"])
    if pd.notna(row["change_low"]):
        found += f"  [{points(row['change_low'])}, {points(row['change_high'])}]"
    return found
