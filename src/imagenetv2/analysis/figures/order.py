"""How far each model moves up or down the order on a new set."""

from __future__ import annotations

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.accuracy import FOUND, LOOKED_FOR
from imagenetv2.analysis.figures.figure import SIGNED, Figure, Panel, dashed, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, PAPER, Series

NAMED = 3
CLOSE = 0.35
"""Names nearer than this share of the axis would lie on one another, unless they are on different heights."""


def moves(accuracies: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row a model: ``old`` and ``new`` place, ``steps`` gained; ``named`` holds the name of those that move most."""
    places = accuracies.pivot(index="model", columns="set", values="rank")
    frame = pd.DataFrame({"old": places["original"], "new": places[name]}).reset_index()
    frame["steps"] = frame["old"] - frame["new"]
    farthest = frame.assign(far=frame["steps"].abs()).sort_values(["far", "model"], ascending=[False, True])
    frame["named"] = frame["model"].where(frame["model"].isin(_named(farthest)), "")
    return frame.sort_values("old", ignore_index=True)


def _named(farthest: pd.DataFrame) -> list[str]:
    taken: list[tuple[int, int, str]] = []
    for row in farthest[farthest["far"] > 0].itertuples():
        old, steps = int(str(row.old)), int(str(row.steps))
        free = all(abs(o - old) > CLOSE * len(farthest) or abs(s - steps) > 1 for o, s, _ in taken)
        if free and len(taken) < NAMED:
            taken.append((old, steps, str(row.model)))
    return [name for _, _, name in taken]


def order(accuracies: pd.DataFrame, sets: dict[str, Series]) -> Figure:
    """One panel a new set: places gained against the place on the original."""
    new = {name: one for name, one in sets.items() if name != "original"}
    found = {name: moves(accuracies, name) for name in new}
    largest = max(2, *(int(frame["steps"].abs().max()) for frame in found.values())) + 1
    panels = []
    for name, frame in found.items():
        moved, far = int((frame["steps"] != 0).sum()), int(frame["steps"].abs().max())
        said = f"{moved} of {len(frame)} models change place on {new[name].label}, by at most {far}."
        panels.append(Panel(f"order-{name}", said, _draw(frame, new[name], largest), height=170))
    return Figure("order", tuple(panels))


def _draw(frame: pd.DataFrame, one: Series, largest: int) -> alt.LayerChart:
    chart = alt.Chart(values(frame.assign(side=frame["old"] > len(frame) / 2)))
    x = alt.X(
        "old:Q",
        title="place on the original",
        scale=alt.Scale(domain=[0, len(frame) + 1], nice=False),
        axis=alt.Axis(grid=False, tickMinStep=1, tickCount=6),
    )
    y = alt.Y(
        "steps:Q",
        title="places gained",
        scale=alt.Scale(domain=[-largest, largest], nice=False),
        axis=alt.Axis(tickMinStep=1, tickCount=5, format="d", labelExpr=SIGNED),
    )
    dots = chart.mark_point(
        filled=True, fill=one.colour, stroke=PAPER, strokeWidth=0.5, shape=one.shape, size=42, opacity=1
    )
    layers: list[alt.Chart] = [
        dashed("y"),
        chart.mark_rule(color=one.colour, strokeWidth=1.4).encode(x=x, y=y, y2=alt.Y2Datum(0)),
        dots.encode(
            x=x,
            y=y,
            opacity=LOOKED_FOR,
            tooltip=tooltips({"model": "model", "old": "place on the original", "new": "place here"}),
        ),
    ]
    for right in (False, True):
        words = chart.mark_text(
            align="right" if right else "left", dx=-7 if right else 7, fontSize=9.5, color=INK
        )
        layers.append(
            words.encode(x=x, y=y, text=alt.Text("named:N")).transform_filter(
                f"datum.side == {str(right).lower()}"
            )
        )
    return layered(*layers, title=one.label, params=[FOUND])
