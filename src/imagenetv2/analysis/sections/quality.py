"""Quality in short: workers by their controls, and averages of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

MOST = 60
FEW = 15
ASPECTS = {
    "tasks": ("tasks answered", "count"),
    "positive_rate": ("positive controls selected", "percent"),
    "negative_rate": ("negative controls selected", "percent"),
    "agreement": ("agreement with most others", "percent"),
    "seconds_median": ("median time for a task, seconds", "count"),
}


def workers(table: pd.DataFrame) -> dict[str, Any]:
    """Smallest, middle and largest value of each aspect over the workers."""
    rows = []
    for column, (name, form) in ASPECTS.items():
        values = table[column].dropna().astype(float)
        if len(values):
            low, middle, high = values.quantile([0, 0.5, 1]).tolist()
            rows.append({"name": name, "form": form, "low": low, "middle": middle, "high": high})
    return {"workers": len(table), "rows": rows}


def classes(
    by_class: pd.DataFrame, names: Mapping[str, str], shown: list[str], pool: pd.DataFrame | None = None
) -> list[dict[str, Any]]:
    """One entry a class of ``shown``: average frequency and accuracy in each set; candidates where there is a ``pool``."""
    candidates = {} if pool is None else pool["wnid"].value_counts().to_dict()
    cells: dict[str, dict[str, Any]] = {}
    for row in by_class[by_class["wnid"].isin(shown)].to_dict("records"):
        cells.setdefault(row["wnid"], {})[row["set"]] = row
    return [
        {"wnid": w, "name": names.get(w, w), "candidates": int(candidates.get(w, 0)), "sets": cells[w]}
        for w in shown
        if w in cells
    ]


def extremes(by_class: pd.DataFrame) -> list[str]:
    """Classes to show: all, or of many the fifteen that lose most and the fifteen that gain most on the new sets."""
    wide = by_class.pivot(index="wnid", columns="set", values="top1")
    if len(wide) <= MOST:
        return by_class.drop_duplicates("wnid").sort_values("class_index")["wnid"].tolist()
    change = wide.drop(columns="original").sub(wide["original"], axis=0).mean(axis=1)
    ordered = change.sort_index().sort_values(kind="stable").index.tolist()
    return [*ordered[:FEW], *ordered[-FEW:]]
