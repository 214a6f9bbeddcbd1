"""New against original accuracy, model by model, with the line through them; on linear or on probit axes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.special import ndtr, ndtri

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, tooltips, values
from imagenetv2.analysis.figures.style import GRID, INK, MUTED, PAPER, SHAPES, Series
from imagenetv2.analysis.wording import percent, points, share, shift, signed

Floats = npt.NDArray[np.float64]
FAMILIES = 5
TICKS = (1, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)
"""Percent, on probit axes."""
MARGIN = 0.1
"""Beyond the outermost interval, on probit axes."""
FOUND = alt.param(name="found", value="")
LOOKED_FOR = alt.OpacityValue(
    0.1, condition={"test": "found == '' || indexof(lower(datum.model), found) >= 0", "value": 1}
)
"""What the reader looks for: other models are drawn faintly."""


@dataclass(frozen=True)
class Axes:
    """Axes of all panels of a figure: ``scale`` is linear or probit, ``ends`` are in percent."""

    scale: str
    ends: tuple[float, float]

    def at(self, percent: npt.ArrayLike) -> Floats:
        """Places on an axis."""
        clipped = np.clip(np.asarray(percent, np.float64), *self.ends)
        return clipped if self.scale == "linear" else np.asarray(ndtri(clipped / 100), np.float64)

    def encode(self, title: str) -> dict[str, Any]:
        """Scale, axis and title of a channel."""
        domain = self.at(self.ends).tolist()
        axis = alt.Axis(tickCount=6, grid=True)
        if self.scale == "probit":
            shown = [t for t in TICKS if self.ends[0] <= t <= self.ends[1]]
            axis = alt.Axis(
                values=self.at(shown).tolist(), labelExpr="format(100 * cumulativeNormal(datum.value), '.0f')"
            )
        return {"scale": alt.Scale(domain=domain, nice=False, zero=False), "axis": axis, "title": title}


@dataclass(frozen=True)
class Lines:
    """Fits and bands, one row or one grid a set, scale and group; ``groups`` are those to draw, the first solid."""

    fits: pd.DataFrame
    bands: pd.DataFrame
    groups: Sequence[str]

    def of(self, name: str, scale: str) -> Lines:
        """Those of one set and scale."""
        fits, bands = (f[(f["set"] == name) & (f["scale"] == scale)] for f in (self.fits, self.bands))
        return Lines(fits, bands, self.groups)


def accuracy(accuracies: pd.DataFrame, lines: Lines, sets: dict[str, Series], scale: str) -> Figure:
    """One panel a new set, on ``linear`` or ``probit`` axes."""
    name = "accuracy" if scale == "linear" else f"accuracy_{scale}"
    axes = Axes(scale, limits(accuracies, scale))
    panels = []
    for key, one in list(sets.items())[1:]:
        table, mine = wide(accuracies, key), lines.of(key, scale)
        drawn = _panel(table, mine, one, axes)
        panels.append(Panel(f"{name}-{key}", _description(table, one, mine, scale), drawn))
    return Figure(name, tuple(panels))


def wide(accuracies: pd.DataFrame, name: str) -> pd.DataFrame:
    """One row a model: ``x``, ``x_low``, ``x_high`` on the original and ``y``… on the set, in percent."""
    columns = ["top1", "top1_low", "top1_high"]
    old, new = (
        100 * accuracies[accuracies["set"] == which].set_index("model")[columns]
        for which in ("original", name)
    )
    old.columns, new.columns = pd.Index(["x", "x_low", "x_high"]), pd.Index(["y", "y_low", "y_high"])
    families = accuracies.groupby("model")["family"].first()
    return old.join(new).join(families).sort_index().reset_index()


def limits(accuracies: pd.DataFrame, scale: str = "linear") -> tuple[float, float]:
    """Ends of both axes in percent, around every interval: multiples of five, or with a margin within 0.1 and 99.9."""
    ends = accuracies["top1_low"].min(), accuracies["top1_high"].max()
    if scale == "linear":
        return max(0.0, float(5 * np.floor(20 * ends[0]))), min(100.0, float(5 * np.ceil(20 * ends[1])))
    low, high = ndtri(np.clip(ends, 0.002, 0.998))
    return 100 * float(ndtr(low - MARGIN)), 100 * float(ndtr(high + MARGIN))


def _panel(table: pd.DataFrame, lines: Lines, one: Series, axes: Axes) -> alt.LayerChart:
    ends = axes.at(axes.ends)
    identity = alt.Chart(values(pd.DataFrame({"x": ends, "y": ends}))).mark_line(
        color=MUTED, strokeDash=[4, 3], strokeWidth=1
    )
    x = alt.X("x:Q", **axes.encode("original accuracy, %"))
    y = alt.Y("y:Q", **axes.encode("new accuracy, %"))
    corner = alt.Chart(alt.InlineData(values=[{"said": words(lines)}])).mark_text(
        x=7, y=6, align="left", baseline="top", color=INK
    )
    layers = [
        identity.encode(x=x, y=y),
        *_lines(lines, one, axes),
        *_models(table, one, axes),
        corner.encode(text=alt.Text("said:N")),
    ]
    return layered(*layers, title=one.label, params=[FOUND])


def _lines(lines: Lines, one: Series, axes: Axes) -> list[alt.Chart]:
    layers = []
    for number, group in enumerate(lines.groups):
        line = lines.bands[lines.bands["group"] == group]
        if line.empty:
            continue
        columns = {name: axes.at(line[column]) for name, column in _PLACES.items()}
        chart = alt.Chart(values(pd.DataFrame(columns)))
        if number == 0:
            band = chart.mark_area(color=one.colour, fillOpacity=0.18, strokeWidth=0)
            layers.append(band.encode(x=alt.X("x:Q"), y=alt.Y("low:Q"), y2=alt.Y2("high")))
        middle = chart.mark_line(color=one.colour, strokeWidth=1.6, strokeDash=[7, 3] if number else [1, 0])
        layers.append(middle.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")))
    return layers


_PLACES = {"x": "original", "y": "line", "low": "low", "high": "high"}


def _models(table: pd.DataFrame, one: Series, axes: Axes) -> list[alt.Chart]:
    ends = ("x", "x_low", "x_high", "y", "y_low", "y_high")
    frame = pd.DataFrame({name: axes.at(table[name]) for name in ends}).assign(
        model=table["model"],
        family=table["family"],
        old=[percent(v / 100) for v in table["x"]],
        new=[percent(v / 100) for v in table["y"]],
        change=[f"{points(v / 100)} points" for v in table["y"] - table["x"]],
    )
    chart = alt.Chart(values(frame))
    bars = chart.mark_rule(color=one.colour, strokeOpacity=0.4, strokeWidth=0.8)
    dots = chart.mark_point(
        filled=True, fill=one.colour, stroke=PAPER, strokeWidth=0.6, size=44, opacity=1
    ).encode(
        x=alt.X("x:Q"),
        y=alt.Y("y:Q"),
        opacity=LOOKED_FOR,
        tooltip=tooltips(
            {"model": "model", "family": "family", "old": "original", "new": "new", "change": "change"}
        ),
    )
    return [
        bars.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high"), y=alt.Y("y:Q")),
        bars.encode(x=alt.X("x:Q"), y=alt.Y("y_low:Q"), y2=alt.Y2("y_high")),
        dots.encode(shape=_families(sorted(set(table["family"])))),
    ]


def _families(names: Sequence[str]) -> alt.Shape:
    """A shape for each family; one for all where there is one family, or too many to tell apart."""
    several = 1 < len(names) <= FAMILIES
    legend = (
        alt.Legend(
            orient="bottom-right", symbolFillColor=INK, symbolStrokeColor=GRID, padding=2, rowPadding=1
        )
        if several
        else None
    )
    shapes = SHAPES[: len(names)] if several else ["circle"]
    return alt.Shape("family:N", scale=alt.Scale(domain=list(names), range=list(shapes)), legend=legend)


def words(lines: Lines) -> str:
    """Slope and offset of a line, or the slopes of several, with their intervals, for a corner of the panel."""
    fits = [lines.fits[(lines.fits["group"] == g) & lines.fits["slope"].notna()] for g in lines.groups]
    rows: list[dict[Any, Any]] = [f.iloc[0].to_dict() for f in fits if len(f)]
    if not rows:
        return "no line: the models do not differ"
    if len(rows) > 1:
        return "\n".join(f"{r['group']}: {_between(r, 'slope', _two)}" for r in rows)
    row, linear = rows[0], rows[0]["scale"] == "linear"
    offset = _between(row, "offset", signed if linear else _signed)
    return f"slope {_between(row, 'slope', _two)}\noffset {offset}{' points' if linear else ''}"


def _between(row: Mapping[Any, Any], name: str, form: Callable[[float], str]) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "" if pd.isna(low) else f"  [{form(low)}, {form(high)}]"
    return f"{form(row[name])}{ends}"


def _two(value: float) -> str:
    return share(value, 2)


def _signed(value: float) -> str:
    return shift(value, 2)


def _description(table: pd.DataFrame, one: Series, lines: Lines, scale: str) -> str:
    change = (table["y"] - table["x"]).mean() / 100
    several = "slopes of the lines: " if "slope" not in words(lines) else ""
    return (
        f"Accuracy of {len(table)} models on {one.label} against that on the original, {scale} axes: on average "
        f"{points(change)} points; {several}{words(lines)}.".replace("\n", ", ")
    )
