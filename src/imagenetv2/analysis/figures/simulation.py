"""The study in the small: how each rule's bias falls with the number of annotators."""

from __future__ import annotations

import altair as alt
import pandas as pd

from imagenetv2.analysis.figures.figure import SIGNED, Figure, Panel, dashed, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, PAPER, SHAPES, token
from imagenetv2.analysis.wording import points, share


def simulation(table: pd.DataFrame) -> Figure:
    """Two panels against the number of annotators: selection frequency, and change of accuracy."""
    rules = list(dict.fromkeys(table["rule"]))
    frame = table.assign(
        votes=table["annotators"].astype(int),
        low=100 * (table["change"] - table["change_deviation"].fillna(0)),
        high=100 * (table["change"] + table["change_deviation"].fillna(0)),
        said=[f"{points(v)} points" for v in table["change"]],
        change=100 * table["change"],
    )
    seen = "Observed and true selection frequency of simulated sets less that of the original, by annotators."
    change = "Change of accuracy on simulated sets by number of annotators: " + "; ".join(
        f"{r['rule']} with {r['votes']}: {r['said']}" for r in frame.to_dict("records")
    )
    return Figure(
        "simulation",
        (
            Panel("simulation-frequency", seen, _frequencies(frame, rules), width=330, height=250),
            Panel("simulation-change", change, _changes(frame, rules), width=330, height=250),
        ),
        columns=2,
    )


def _x(frame: pd.DataFrame) -> alt.X:
    ticks = sorted(set(frame["votes"].tolist()))
    return alt.X(
        "votes:Q",
        title="annotators an image (logarithmic)",
        scale=alt.Scale(type="log", padding=18, nice=False),
        axis=alt.Axis(values=ticks, grid=False, format="d"),
    )


def _colours(rules: list[str], legend: alt.Legend | None) -> tuple[alt.Color, alt.Shape]:
    return (
        alt.Color("rule:N", scale=alt.Scale(domain=rules, range=_tokens(rules)), legend=legend),
        alt.Shape("rule:N", scale=alt.Scale(domain=rules, range=list(SHAPES[: len(rules)])), legend=legend),
    )


def _tokens(rules: list[str]) -> list[str]:
    return [token(f"set-{i % len(SHAPES) + 1}") for i in range(len(rules))]


def _frequencies(frame: pd.DataFrame, rules: list[str]) -> alt.LayerChart:
    kinds = []
    for kind in ("observed", "true"):
        less = frame[kind] - frame[f"{kind}_original"]
        said = [f"{share(v, 2)} against {share(o, 2)}" for v, o in
                zip(frame[kind], frame[f"{kind}_original"], strict=True)]  # fmt: skip
        colour = frame["rule"].map(dict(zip(rules, _tokens(rules), strict=True)))
        fill = colour if kind == "true" else PAPER
        kinds.append(
            frame[["rule", "votes"]].assign(kind=kind, less=less, said=said, colour=colour, fill=fill)
        )
    both = values(pd.concat(kinds))
    lines, shape = _colours(rules, None)
    x = _x(frame)
    y = alt.Y("less:Q", title="selection frequency less original", axis=alt.Axis(labelExpr=SIGNED))
    tips = tooltips({"rule": "rule", "votes": "annotators", "kind": "frequency", "said": "new set"})
    dash = alt.StrokeDash(
        "kind:N",
        scale=alt.Scale(domain=["true", "observed"], range=[[1, 0], [2, 3]]),
        legend=alt.Legend(orient="top", symbolStrokeColor=INK),
    )
    chart = alt.Chart(both)
    stroke, inside = alt.Stroke("colour:N", scale=None), alt.Fill("fill:N", scale=None)
    return layered(
        dashed("y"),
        chart.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=lines, strokeDash=dash),
        chart.mark_point(size=60, strokeWidth=1.5, opacity=1).encode(
            x=x, y=y, stroke=stroke, fill=inside, shape=shape, tooltip=tips
        ),
        title="Selection frequency",
    )


def _changes(frame: pd.DataFrame, rules: list[str]) -> alt.LayerChart:
    colour, shape = _colours(rules, alt.Legend(orient="bottom", columns=2))
    chart = alt.Chart(values(frame[["rule", "votes", "change", "low", "high", "said"]]))
    x, y = _x(frame), alt.Y("change:Q", title="change of accuracy, points", axis=alt.Axis(labelExpr=SIGNED))
    tips = tooltips({"rule": "rule", "votes": "annotators", "said": "change"})
    return layered(
        dashed("y"),
        chart.mark_line(strokeWidth=1.5).encode(x=x, y=y, color=colour),
        chart.mark_rule(strokeWidth=1.4, strokeOpacity=0.6).encode(
            x=x, y=alt.Y("low:Q"), y2=alt.Y2("high"), color=colour
        ),
        chart.mark_point(filled=True, size=60, stroke=PAPER, strokeWidth=0.6, opacity=1).encode(
            x=x, y=y, color=colour, shape=shape, tooltip=tips
        ),
        title="Accuracy",
    )
