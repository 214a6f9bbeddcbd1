"""Quality in short: workers by their controls, and averages of each class."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

MOST = 60
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
    by_class: pd.DataFrame, candidates: pd.DataFrame, names: Mapping[str, str], shown: list[str]
) -> list[dict[str, Any]]:
    """One entry a class of ``shown``: candidates, and average frequency and accuracy in each set."""
    pool = candidates["wnid"].value_counts()
    found = []
    for wnid in shown:
        mine = by_class[by_class["wnid"] == wnid].set_index("set")
        cells = mine[["frequency", "top1"]].to_dict("index")
        found.append({"wnid": wnid, "name": names[wnid], "candidates": int(pool.get(wnid, 0)), "sets": cells})
    return found
