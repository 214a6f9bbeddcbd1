"""What each metric's search compared, skipped and found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.artifacts import Artifact
from imagenetv2.duplicates.metrics import METRICS


def searches(
    artifacts: Mapping[str, Artifact], pairs: pd.DataFrame, cutoffs: Mapping[str, float]
) -> list[dict[str, Any]]:
    """One row a metric in use.

    ``skipped`` is the share of the pairs whose distance was not computed, since a bound proved it too large; ``found``
    counts the pairs at or below the cut-off, ``duplicates`` those of them that were judged near-duplicates, and
    ``alone`` those of these that no other metric found.
    """
    rows = []
    for metric, artifact in artifacts.items():
        searched = artifact.json("searched.json")
        found = pairs[[metric in names for names in pairs["found_by"]]]
        same = found[found["verdict"] == "duplicate"]
        rows.append(
            {
                "name": METRICS[metric].name,
                "distance": METRICS[metric].distance,
                "cutoff": _plain(cutoffs[metric]),
                "candidates": searched["candidates"],
                "images": searched["images"],
                "pairs": searched["pairs"],
                "skipped": 1 - searched["computed"] / searched["pairs"] if searched["pairs"] else None,
                "found": len(found),
                "duplicates": len(same),
                "alone": sum(len(names) == 1 for names in same["found_by"]),
            }
        )
    return rows


def nearest(
    artifacts: Mapping[str, Artifact], pairs: pd.DataFrame, cutoffs: Mapping[str, float]
) -> dict[str, pd.DataFrame]:
    """The nearest neighbour of each candidate under each metric in use that has a cut-off above 0.

    Columns share (its distance in units of the cut-off) and verdict (of that pair; empty for pairs that nobody has to
    look at).
    """
    ids = zip(pairs["image_id"].tolist(), pairs["neighbour_id"].tolist(), strict=True)
    verdicts = dict(zip(map(frozenset, ids), pairs["verdict"].tolist(), strict=True))
    found = {}
    for metric, artifact in artifacts.items():
        if not cutoffs[metric]:
            continue
        table = artifact.table("neighbours")
        first = table[table["rank"] == 0]
        ends = zip(first["image_id"].tolist(), first["neighbour_id"].tolist(), strict=True)
        found[metric] = pd.DataFrame(
            {
                "share": first["distance"].to_numpy(float) / cutoffs[metric],
                "verdict": [verdicts.get(frozenset(pair), "") for pair in ends],
            }
        )
    return found


def _plain(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:g}"
