"""Effective robustness: models farthest above and below a line."""

from __future__ import annotations

import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel
from imagenetv2.analysis.figures.intervals import height, rows
from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.wording import signed

ENDS = 8


def robustness(table: pd.DataFrame, line: str, sets: dict[str, Series]) -> Figure | None:
    """One panel a new set: the eight models farthest above ``line`` and the eight farthest below it.

    Returns None where no set is measured from that line.
    """
    panels = []
    for name, one in sets.items():
        mine = table[(table["set"] == name) & (table["line"] == line)]
        if mine.empty:
            continue
        frame = extremes(mine)
        said = f"Effective robustness on {one.label}, in points above the line {line}: " + ", ".join(
            f"{frame['name'].iloc[i]} {frame['said'].iloc[i]}" for i in (0, -1)
        )
        tips = {"said": "above the line"}
        drawn = rows(frame, one, "points above the line", 0.0, tips, signed=True)
        panels.append(
            Panel(f"robustness-{name}", said, drawn, width=190, height=height(len(frame)), rows=True)
        )
    return Figure("robustness", tuple(panels)) if panels else None


def extremes(table: pd.DataFrame) -> pd.DataFrame:
    """The first and the last eight by effective robustness, best first."""
    frame = table.sort_values(["effective", "model"], ascending=[False, True], ignore_index=True)
    if len(frame) > 2 * ENDS:
        frame = pd.concat([frame.head(ENDS), frame.tail(ENDS)], ignore_index=True)
    ends = zip(frame["effective"], frame["effective_low"], frame["effective_high"], strict=True)
    return pd.DataFrame(
        {
            "name": frame["model"],
            "value": frame["effective"],
            "low": frame["effective_low"],
            "high": frame["effective_high"],
            "said": [f"{signed(v)} points [{signed(a)}, {signed(b)}]" for v, a, b in ends],
        }
    )
