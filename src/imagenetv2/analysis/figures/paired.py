"""Which models differ beyond chance on the same images: a matrix of paired tests."""

from __future__ import annotations

import altair as alt
import numpy as np
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, values
from imagenetv2.analysis.figures.style import GRID, INK, Series, token
from imagenetv2.analysis.wording import percent

MOST = 40
KINDS = {"as on the original": token("set-1"), "the other way round": token("set-2"), "not told apart": GRID}
"""What a cell says, and its colour."""


def paired(
    table: pd.DataFrame, accuracies: pd.DataFrame, level: float, sets: dict[str, Series]
) -> Figure | None:
    """One panel a set: models by their accuracy on the original, a cell for each two of them.

    Of more than forty models every so manieth is shown. Returns None where there are no two models.
    """
    if table.empty:
        return None
    first = accuracies[accuracies["set"] == "original"].sort_values("rank")["model"].tolist()
    shown = evenly(first, MOST)
    panels = []
    for name, one in sets.items():
        mine = cells(table[table["set"] == name], shown, level)
        if mine.empty:
            continue
        told = f"{percent((mine['kind'] < 2).mean(), 0)} of {len(mine)} pairs of models"
        said = f"{told} differ on {one.label} beyond chance."
        side = max(110, min(190, 7 * len(shown)))
        panels.append(Panel(f"paired-{name}", said, _draw(mine, shown, one), width=side, height=side))
    return Figure("paired", tuple(panels), columns=4) if panels else None


def evenly(names: list[str], most: int) -> list[str]:
    """At most so many of them, from the first to the last."""
    if len(names) <= most:
        return names
    return [names[i] for i in np.linspace(0, len(names) - 1, most).round().astype(int)]


def cells(table: pd.DataFrame, shown: list[str], level: float) -> pd.DataFrame:
    """One row a pair of shown models: places ``better`` and ``worse`` on the original, the
    number of its kind (see ``KINDS``) and the difference in ``points``."""
    place = {model: i for i, model in enumerate(shown)}
    mine = table[table["model"].isin(place) & table["other"].isin(place)].copy()
    told = (mine["adjusted"] < 1 - level) & (mine["difference"] != 0)
    mine["kind"] = np.where(told, np.where(mine["difference"] > 0, 0, 1), 2)
    mine["better"] = [place[m] for m in mine["model"]]
    mine["worse"] = [place[m] for m in mine["other"]]
    mine["points"] = (100 * mine["difference"]).round(2)
    return mine[["better", "worse", "kind", "points"]].sort_values(["better", "worse"], ignore_index=True)


def _draw(frame: pd.DataFrame, shown: list[str], one: Series) -> alt.LayerChart:
    # Names are looked up in the chart, so that they need not be repeated in each cell.
    names = alt.param(name="names", value=shown)
    kinds = alt.param(name="kinds", value=list(KINDS))
    axis = alt.Axis(grid=False, ticks=False, labels=False, domain=False)
    ends = alt.Scale(domain=[0, len(shown)], nice=False)
    chart = (
        alt.Chart(values(frame))
        .transform_calculate(model="names[datum.better]", other="names[datum.worse]")
        .transform_calculate(x2="datum.worse + 1", y2="datum.better + 1", verdict="kinds[datum.kind]")
    )
    x = alt.X("worse:Q", title="the other model, worse →", scale=ends, axis=axis)
    y = alt.Y(
        "better:Q",
        title="model, better →",
        scale=alt.Scale(domain=[len(shown), 0], nice=False),
        axis=axis,
    )
    colour = alt.Color(
        "verdict:N",
        scale=alt.Scale(domain=list(KINDS), range=list(KINDS.values())),
        legend=alt.Legend(orient="bottom", columns=1, symbolType="square", labelColor=INK),
    )
    tips = [
        alt.Tooltip("model:N", title="model"),
        alt.Tooltip("other:N", title="other"),
        alt.Tooltip("points:Q", title="difference, points", format="+.1f"),
        alt.Tooltip("verdict:N", title="paired test"),
    ]
    drawn = chart.mark_rect(strokeWidth=0).encode(
        x=x, x2=alt.X2("x2"), y=y, y2=alt.Y2("y2"), color=colour, tooltip=tips
    )
    return layered(drawn, title=one.label, params=[names, kinds])
