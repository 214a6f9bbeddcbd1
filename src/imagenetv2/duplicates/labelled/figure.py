"""Precision and recall of each metric as a figure: against each other, and against the cut-off."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, tooltips, values
from imagenetv2.analysis.figures.style import INK, MUTED, PAPER, Series, series
from imagenetv2.analysis.wording import number, percent
from imagenetv2.duplicates.labelled.curves import Curve
from imagenetv2.duplicates.labelled.cutoffs import BEST, GIVEN, Cutoffs

POINTS = 150
"""Steps of a line that are drawn; more of them look the same."""
SHARE = alt.Scale(domain=[0, 100], nice=False)
AXIS = alt.Axis(values=[0, 25, 50, 75, 100])


def shown(metrics: Iterable[str]) -> dict[str, Series]:
    """How each metric is drawn."""
    return {name: one for name, one in series({"": "", **{m: m for m in metrics}}).items() if name}


def figure(curves: Mapping[str, Curve], cutoffs: Mapping[str, Cutoffs]) -> Figure:
    """One panel of precision against recall, and one a metric of both against the cut-off.

    ``cutoffs`` are those of each metric by how they were chosen: points, and vertical lines.
    """
    looks = shown(curves)
    panels = [_trade(curves, cutoffs[GIVEN], looks)]
    panels += [
        _against(metric, one, {how: chosen[metric] for how, chosen in cutoffs.items()}, looks[metric])
        for metric, one in curves.items()
    ]
    return Figure("precision-recall", tuple(panels), columns=2)


def _trade(curves: Mapping[str, Curve], given: Cutoffs, looks: Mapping[str, Series]) -> Panel:
    lines, points = [], []
    for metric, one in curves.items():
        frame = _table(one).assign(metric=metric)
        lines.append(frame)
        at = np.flatnonzero(one.cutoff <= given[metric])
        if len(at):
            points.append(_table(one, at[-1:]).assign(metric=metric, cutoff=number(given[metric])))
    names = list(looks)
    colour = alt.Color(
        "metric:N",
        scale=alt.Scale(domain=names, range=[looks[n].colour for n in names]),
        legend=alt.Legend(orient="bottom-left", symbolType="stroke", offset=6),
    )
    x = alt.X("recall:Q", title="recall, %", scale=SHARE, axis=AXIS)
    y = alt.Y("precision:Q", title="precision, %", scale=SHARE, axis=AXIS)
    line = alt.Chart(values(pd.concat(lines))).mark_line(strokeWidth=1.8, interpolate="step-before")
    layers = [line.encode(x=x, y=y, color=colour, order=alt.Order("place:Q"))]
    if points:
        marks = alt.Chart(values(pd.concat(points))).mark_point(
            filled=True, size=80, opacity=1, stroke=PAPER, strokeWidth=1
        )
        shape = alt.Shape(
            "metric:N", scale=alt.Scale(domain=names, range=[looks[n].shape for n in names]), legend=None
        )
        tips = tooltips({"metric": "metric", "cutoff": "cut-off", "p": "precision", "r": "recall"})
        fill = alt.Fill(
            "metric:N", scale=alt.Scale(domain=names, range=[looks[n].colour for n in names]), legend=None
        )
        layers.append(marks.encode(x=x, y=y, fill=fill, shape=shape, tooltip=tips))
    said = "Precision against recall; average precision: " + ", ".join(
        f"{metric} {number(one.average_precision)}" for metric, one in curves.items()
    )
    return Panel(
        "trade", f"{said}.", layered(*layers, title="precision against recall"), width=300, height=260
    )


def _against(metric: str, one: Curve, cutoffs: Cutoffs, look: Series) -> Panel:
    """Precision and recall of a metric against the cut-off."""
    both = _both(one)
    marks = {
        how: float(cutoffs[how]) for how in (GIVEN, BEST) if np.isfinite(cutoffs[how]) and cutoffs[how] > 0
    }
    x = alt.X(
        "cutoff:Q",
        title=f"cut-off of {metric}",
        scale=alt.Scale(type="log", nice=False),
        axis=_ticked([*both["cutoff"], *marks.values()]),
    )
    y = alt.Y("share:Q", title="%", scale=SHARE, axis=AXIS)
    dash = alt.StrokeDash(
        "what:N",
        scale=alt.Scale(domain=["precision", "recall"], range=[[1, 0], [5, 3]]),
        legend=alt.Legend(orient="top", symbolStrokeColor=INK, symbolSize=300),
    )
    tips = tooltips({"what": "what", "at": "cut-off", "said": "share"})
    lines = alt.Chart(values(both)).mark_line(color=look.colour, strokeWidth=1.8, interpolate="step-after")
    layers = [lines.encode(x=x, y=y, strokeDash=dash, order=alt.Order("place:Q"), tooltip=tips)]
    layers += _marked(marks, x)
    said = ", ".join(f"{how} {number(value)}" for how, value in cutoffs.items())
    return Panel(
        f"cutoff-{metric}", f"Precision and recall of {metric} against its cut-off; {said}.",
        layered(*layers, title=metric), width=300, height=260,
    )  # fmt: skip


def _both(one: Curve) -> pd.DataFrame:
    """Precision and recall below each other; a cut-off of 0, which no axis of powers has, as the smallest other."""
    positive = one.cutoff[one.cutoff > 0]
    frame = _table(one)
    frame["cutoff"] = frame["cutoff"].clip(lower=float(positive.min()) if len(positive) else 1.0)
    both = frame.melt(["cutoff", "place"], ["precision", "recall"], "what", "share")
    both["at"] = [number(v) for v in both["cutoff"]]
    both["said"] = [percent(v / 100) for v in both["share"]]
    return both


def _marked(marks: Mapping[str, float], x: alt.X) -> list[alt.Chart]:
    """Vertical lines at cut-offs, with how these were chosen."""
    if not marks:
        return []
    chart = alt.Chart(values(pd.DataFrame({"cutoff": list(marks.values()), "how": list(marks)})))
    return [
        chart.mark_rule(color=MUTED).encode(x=x),
        chart.mark_text(align="right", baseline="bottom", dx=-3, color=MUTED)
        .encode(x=x, y=alt.Y("place:Q"), text="how:N")
        .transform_calculate(place=f"datum.how == '{GIVEN}' ? 1 : 9"),
    ]


def _ticked(cutoffs: Sequence[float]) -> alt.Axis:
    said = "datum.value >= 1e5 ? replace(format(datum.value, '.3~e'), '+', '') : format(datum.value, '~g')"
    return alt.Axis(values=ticks(min(cutoffs), max(cutoffs)), labelExpr=said)


def ticks(low: float, high: float) -> list[float]:
    """Round numbers from ``low`` to ``high`` > 0: powers of ten; where there are few of them also between; where all
    are close, evenly spaced. At least three where the two differ."""
    powers = 10.0 ** np.arange(np.floor(np.log10(low)), np.ceil(np.log10(high)) + 1)
    finer = [(1.0, 2.0, 5.0), tuple(range(1, 10))]
    for steps in [(1.0,), *finer] if high > 1000 * low else finer:
        some = [float(f"{step * power:.6g}") for power in powers for step in steps]
        if len(inside := [tick for tick in some if low <= tick <= high]) > 2:
            return inside
    if high == low:
        return [float(f"{low:.3g}")]
    power = 10.0 ** np.floor(np.log10((high - low) / 3))
    for step in (5 * power, 2 * power, power):
        some = [float(f"{i * step:.6g}") for i in range(int(np.ceil(low / step)), int(high / step) + 1)]
        if len(some) > 2:
            break
    return some


def _table(one: Curve, which: npt.NDArray[np.int64] | None = None) -> pd.DataFrame:
    """Points of a curve in percent: all that are needed to draw it, or some."""
    if which is None:
        which = _corners(one)
    precision, recall = 100 * one.precision[which], 100 * one.recall[which]
    return pd.DataFrame(
        {
            "place": which,
            "cutoff": one.cutoff[which],
            "precision": precision,
            "recall": recall,
            "p": [percent(v / 100) for v in precision],
            "r": [percent(v / 100) for v in recall],
        }
    )


def _corners(one: Curve) -> npt.NDArray[np.int64]:
    """Where recall is about to rise, and where it has: all, or where there are many some of them."""
    rises = np.flatnonzero(np.diff(one.found, prepend=0))
    some = rises[np.unique(np.linspace(0, len(rises) - 1, POINTS).round().astype(np.int64))]
    last = np.array([0, len(one.cutoff) - 1])
    return np.unique(np.concatenate([some, np.maximum(some - 1, 0), last]))
