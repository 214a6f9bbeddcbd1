"""Classes whose accuracy falls and rises most."""

from __future__ import annotations

import pandas as pd

from imagenetv2.analysis.figures.figure import Figure, Panel
from imagenetv2.analysis.figures.intervals import height, rows
from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.wording import points

ENDS = 8


def classes(table: pd.DataFrame, sets: dict[str, Series]) -> Figure:
    """One panel a new set: the eight classes that lose most and the eight that gain most, averaged over models.

    Args:
        table: changes of classes with their names (``class_changes.py``).
        sets: how sets are shown.
    """
    panels = []
    for name, one in list(sets.items())[1:]:
        frame = extremes(table[table["set"] == name])
        said = f"Change of top-1 accuracy on {one.label} by class, averaged over models: " + ", ".join(
            f"{frame['name'].iloc[i]} {frame['said'].iloc[i]}" for i in (0, -1)
        )
        tips = {"said": "change", "images": "images", "lower": "models that lose"}
        drawn = rows(frame, one, "change of top-1, points", 0.0, tips, signed=True)
        panels.append(Panel(f"classes-{name}", said, drawn, width=190, height=height(len(frame)), rows=True))
    return Figure("classes", tuple(panels))


def extremes(table: pd.DataFrame) -> pd.DataFrame:
    """The first and the last eight by their change, those that lose most first."""
    frame = table.sort_values(["change", "class_index"], ignore_index=True)
    if len(frame) > 2 * ENDS:
        frame = pd.concat([frame.head(ENDS), frame.tail(ENDS)], ignore_index=True)
    ends = zip(frame["change"], frame["low"], frame["high"], strict=True)
    return pd.DataFrame(
        {
            "name": frame["name"],
            "value": 100 * frame["change"],
            "low": 100 * frame["low"],
            "high": 100 * frame["high"],
            "said": [f"{points(v)} points [{points(a)}, {points(b)}]" for v, a, b in ends],
            "images": [
                f"{n} new, {m} original" for n, m in zip(frame["images"], frame["original"], strict=True)
            ],
            "lower": [f"{k} of {n}" for k, n in zip(frame["lower"], frame["models"], strict=True)],
        }
    )
