"""The plot: new against original accuracy with the study's models, or accuracies alone where one of the two is missing."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel, layered, values
from imagenetv2.analysis.figures.style import INK, MUTED, PAPER, token
from imagenetv2.analysis.wording import signed
from imagenetv2.evaluation.scorecard import study
from imagenetv2.evaluation.scorecard.accuracy_plot import accuracies
from imagenetv2.evaluation.scorecard.labels import shortened, spread
from imagenetv2.evaluation.scorecard.rows import Row
from imagenetv2.evaluation.scorecard.sets import ORIGINAL, Opened

SIDE = 340
"""Pixels of a panel without its names."""
NAMED = 24
"""So many names fit beside a panel."""
LETTERS = 30
GAP = SIDE / NAMED
EDGE, BEND, TEXT = 3, 32, 36
"""Pixels right of the panel: where a line to a name leaves its height, where it has the name's, and where the name is."""
YOURS, OTHERS = token("set-1"), MUTED


def plot(rows: Sequence[Row], sets: Sequence[Opened]) -> Figure | None:
    """One panel a new set, against ImageNet where the two have the same classes; without new sets, one a set.

    None where there is nothing to show.
    """
    val = next((of for of in sets if of.part == "val"), None)
    original = {row["model"]: row for row in rows if val is not None and row["set"] == val.name}
    new = [of for of in sets if of.part == "v2"]
    shown = new if val is not None and new else sets
    panels: list[Panel | None] = []
    for of in shown:
        mine = [row for row in rows if row["set"] == of.name]
        pairs = [row for row in mine if row["drop"] is not None]
        panels.append(_panel(of, val, pairs, original) if val and pairs else accuracies(of, mine))
    if val is not None and not any(row["drop"] is not None for row in rows):
        panels = [accuracies(of, [row for row in rows if row["set"] == of.name]) for of in sets]
    drawn = tuple(panel for panel in panels if panel is not None)
    return Figure("plot", drawn, columns=min(2, len(drawn))) if drawn else None


def _panel(of: Opened, val: Opened, rows: Sequence[Row], original: dict[str, Row]) -> Panel:
    frame = _frame(rows, original)
    # Parts of published sets are no place for numbers of the whole.
    whole = of.set.known if of.whole and val.whole else None
    others = _others(whole)
    x, y = _ends(frame, others, "x"), _ends(frame, others, "y")
    frame = _named(frame, x, y)
    layers = [
        *_lines(whole, x, y),
        *_names(frame),
        *_study(others),
        *_models(
            frame,
            alt.X("x:Q", scale=_scale(x), title=f"accuracy on {val.title}, %"),
            alt.Y("y:Q", scale=_scale(y), title=f"accuracy on {of.title}, %"),
        ),
        *_legend(whole is not None),
    ]
    return Panel(f"plot-{of.name}", _description(of, val, rows), layered(*layers, title=of.title), SIDE, SIDE)


def _frame(rows: Sequence[Row], original: dict[str, Row]) -> pd.DataFrame:
    found = []
    for row in rows:
        old = original[row["model"]]
        found.append(
            {
                "model": row["model"],
                "x": old["top1"], "x_low": old["low"], "x_high": old["high"],
                "y": row["top1"], "y_low": row["low"], "y_high": row["high"],
                "effective": row["effective"],
            }
        )  # fmt: skip
    return pd.DataFrame(found)


def _others(known: str | None) -> pd.DataFrame:
    """The study's models on both axes."""
    x, y = study.accuracies(ORIGINAL), study.accuracies(known or "")
    return pd.DataFrame({"x": x.reindex(y.index), "y": y}).reset_index(drop=True)


def _ends(frame: pd.DataFrame, others: pd.DataFrame, axis: str) -> tuple[float, float]:
    """Ends of an axis in percent, multiples of five.

    They hold what is evaluated, and of the study's models those that are not far below it.
    """
    low, high = frame[f"{axis}_low"].min(), frame[f"{axis}_high"].max()
    networks = others.loc[others["x"] >= min(50, frame["x_low"].min()), axis]
    if len(networks):
        low, high = min(low, networks.min()), max(high, networks.max())
    return max(0.0, 5 * float(np.floor((low - 1) / 5))), min(100.0, 5 * float(np.ceil((high + 1) / 5)))


def _named(frame: pd.DataFrame, x: tuple[float, float], y: tuple[float, float]) -> pd.DataFrame:
    """With names and their places beside the panel; of too many models, those farthest from the line have one."""
    far = frame["effective"].abs() if frame["effective"].notna().any() else frame["y"]
    kept = far.astype(float).sort_values(ascending=False, kind="stable").index[:NAMED]
    named = frame.loc[sorted(kept)].copy()
    unit = (y[1] - y[0]) / SIDE
    named["place"] = spread(named["y"].tolist(), GAP * unit, y[0], y[1])
    across = (x[1] - x[0]) / SIDE
    named["edge"], named["bend"], named["text"] = (
        x[1] + EDGE * across,
        x[1] + BEND * across,
        x[1] + TEXT * across,
    )
    named["name"] = [
        shortened(m, LETTERS) + ("" if pd.isna(e) else f"\u2002{signed(e)}")
        for m, e in zip(named["model"], named["effective"], strict=True)
    ]
    return frame.join(named[["place", "edge", "bend", "text", "name"]])


def _lines(known: str | None, x: tuple[float, float], y: tuple[float, float]) -> list[alt.Chart]:
    """Equal accuracies, dashed and grey; and the study's line, dashed where none of its networks is."""
    found = []
    equal = _clipped(1.0, 0.0, x, y)
    if equal is not None:
        mark = alt.Chart(values(equal)).mark_line(color=MUTED, strokeDash=[4, 3], strokeWidth=1)
        found.append(mark.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")))
    line = study.line(known)
    if line is None:
        return found
    slope, offset = line.sampled.slope, line.sampled.offset
    parts = (((x[0], line.low), [3, 3]), ((line.low, line.high), [1, 0]), ((line.high, x[1]), [3, 3]))
    for (low, high), dash in parts:
        fitted = _clipped(slope, offset, (max(x[0], low), min(x[1], high)), y)
        if fitted is not None:
            mark = alt.Chart(values(fitted)).mark_line(color=INK, strokeWidth=1.4, strokeDash=dash)
            found.append(mark.encode(x=alt.X("x:Q"), y=alt.Y("y:Q")))
    return found


def _clipped(
    slope: float, offset: float, x: tuple[float, float], y: tuple[float, float]
) -> pd.DataFrame | None:
    """The part of a rising line that lies in the panel; None where none does."""
    low = max(x[0], (y[0] - offset) / slope)
    high = min(x[1], (y[1] - offset) / slope)
    if low >= high:
        return None
    ends = np.array([low, high])
    return pd.DataFrame({"x": ends, "y": slope * ends + offset})


def _study(others: pd.DataFrame) -> list[alt.Chart]:
    if others.empty:
        return []
    mark = alt.Chart(values(others)).mark_circle(color=OTHERS, size=16, opacity=0.55, clip=True)
    return [mark.encode(x=alt.X("x:Q"), y=alt.Y("y:Q"))]


def _scale(ends: tuple[float, float]) -> alt.Scale:
    return alt.Scale(domain=list(ends), nice=False, zero=False)


def _models(frame: pd.DataFrame, horizontal: alt.X, vertical: alt.Y) -> list[alt.Chart]:
    chart = alt.Chart(values(frame))
    bars = chart.mark_rule(color=YOURS, strokeOpacity=0.55, strokeWidth=1.2)
    dots = chart.mark_point(
        filled=True, fill=YOURS, stroke=PAPER, strokeWidth=0.8, shape="diamond", size=70, opacity=1
    )
    return [
        bars.encode(x=alt.X("x_low:Q"), x2=alt.X2("x_high"), y=alt.Y("y:Q")),
        bars.encode(x=alt.X("x:Q"), y=alt.Y("y_low:Q"), y2=alt.Y2("y_high")),
        dots.encode(x=horizontal, y=vertical),
    ]


def _names(frame: pd.DataFrame) -> list[alt.Chart]:
    """Names beside the panel, each with a thin line to its point."""
    chart = alt.Chart(values(frame[frame["name"].notna()]))
    lead = chart.mark_rule(color=MUTED, strokeWidth=0.5, strokeOpacity=0.6)
    text = chart.mark_text(align="left", baseline="middle", color=INK, fontSize=10.5)
    return [
        lead.encode(x=alt.X("x:Q"), x2=alt.X2("edge"), y=alt.Y("y:Q")),
        lead.encode(x=alt.X("edge:Q"), x2=alt.X2("bend"), y=alt.Y("y:Q"), y2=alt.Y2("place")),
        text.encode(x=alt.X("text:Q"), y=alt.Y("place:Q"), text=alt.Text("name:N")),
    ]


def _legend(published: bool) -> list[alt.Chart]:
    """In the corner above the line, where models hardly are."""
    rows = [("diamond", YOURS, 60.0, "evaluated here, with 95 % intervals")]
    if published:
        rows.append(("circle", OTHERS, 22.0, "models of the study"))
    found = []
    for number, (shape, colour, size, words) in enumerate(rows):
        found += [_mark(number, shape, colour, size), _words(number, words)]
    strokes = [("y = x", MUTED, [4, 3])]
    if published:
        strokes.insert(0, ("line through its 64 networks, dashed beyond them", INK, [1, 0]))
    for number, (words, colour, dash) in enumerate(strokes, len(rows)):
        one = alt.Chart(alt.InlineData(values=[{}]))
        rule = one.mark_rule(color=colour, strokeDash=dash, strokeWidth=1.2)
        found += [
            rule.encode(x=alt.value(4), x2=alt.value(18), y=alt.value(9 + 15 * number)),
            _words(number, words),
        ]
    return found


def _mark(number: int, shape: str, colour: str, size: float) -> alt.Chart:
    one = alt.Chart(alt.InlineData(values=[{}]))
    mark: alt.Chart = one.mark_point(
        filled=True, fill=colour, stroke=PAPER, strokeWidth=0.8, shape=shape, size=size, opacity=1
    )
    return mark.encode(x=alt.value(11), y=alt.value(9 + 15 * number))


def _words(number: int, words: str) -> alt.Chart:
    one = alt.Chart(alt.InlineData(values=[{"words": words}]))
    mark: alt.Chart = one.mark_text(align="left", baseline="middle", color=MUTED, fontSize=10.5)
    return mark.encode(x=alt.value(24), y=alt.value(9 + 15 * number), text=alt.Text("words:N"))


def _description(of: Opened, val: Opened, rows: Sequence[Row]) -> str:
    said = ", ".join(
        f"{row['model']} {row['top1']:.1f} %"
        + ("" if row["effective"] is None else f" ({signed(row['effective'])} points from the line)")
        for row in rows
    )
    return f"Accuracy on {of.title} against that on {val.title}: {said}."
