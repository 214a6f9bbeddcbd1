"""The funnel: how many each stage kept, as bars, and what it dropped."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.analysis.sections.provenance import link
from imagenetv2.sampling.stages import RULES

POOL = ("record", "photograph", "image")
TITLES = {
    "search": "Search",
    "candidates": "Download and decoding",
    "hits": "Tasks",
    "assignments": "Answers",
    "frequencies": "Selection frequencies",
    "duplicates": "Near-duplicates",
    **{f"datasets/{rule}": name for rule, name in RULES.items()},
}


def steps(funnel: pd.DataFrame, versions: Mapping[str, str]) -> list[dict[str, Any]]:
    """The funnel's rows by stage; ``width`` is a bar's length in percent of the longest, or None."""
    longest = max(1, int(funnel.loc[funnel["unit"].isin(POOL), "count"].max()))
    found = []
    for stage, rows in funnel.groupby("stage", sort=False):
        steps = []
        for row in rows.to_dict("records"):
            name, _, file = row["table"].rpartition("/")
            steps.append(
                {
                    "step": row["step"],
                    "count": row["count"],
                    "dropped": row["dropped"],
                    "width": round(100 * row["count"] / longest, 2) if row["unit"] in POOL else None,
                    "link": link(name, versions[name], file),
                    "file": row["table"],
                }
            )
        found.append({"title": TITLES.get(str(stage), str(stage)), "steps": steps})
    return found
