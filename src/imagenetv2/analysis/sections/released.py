"""What was wrong in a released record, and which models it could not give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.artifacts import Artifact

REPORTED = "reported"


def record(parts: Mapping[str, Artifact], labels: Mapping[str, str]) -> dict[str, Any]:
    """Faults of the parts by their number, and models that are not usable on every set.

    Args:
        parts: artifacts ``record/<part>`` that hold faults, by part; ``predictions`` is one of them.
        labels: displayed names of the sets.
    """
    tables = [artifact.table("faults").assign(part=part) for part, artifact in parts.items()]
    faults = pd.concat(tables, ignore_index=True)
    models = parts["predictions"].table("models")
    counts = faults["action"].value_counts()
    return {
        "faults": faults[faults["action"] != REPORTED].to_dict("records"),
        "kinds": kinds(faults[faults["action"] == REPORTED]),
        "total": len(faults),
        "actions": {str(k): int(n) for k, n in counts.sort_index().items()},
        "left_out": left_out(models, labels),
        "models": int(models["model"].nunique()),
    }


def kinds(reported: pd.DataFrame) -> list[dict[str, Any]]:
    """Faults that are only reported, one entry a kind in the order of their first: how many, where, and each of them."""
    return [
        {
            "fault": str(fault),
            "files": sorted(set(rows["file"])),
            "each": rows[["subject", "detail"]].to_dict("records"),
        }
        for fault, rows in reported.groupby("fault", sort=False)
    ]


def left_out(models: pd.DataFrame, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Models that are not usable on every set: one entry a model, with the sets concerned and why."""
    wrong = models[~models["usable"]].sort_values(["model", "set"])
    return [
        {
            "model": str(model),
            "sets": [labels.get(s, s) for s in labels if s in set(rows["set"])],
            "why": sorted({w for w in rows["action"] if w}),
        }
        for model, rows in wrong.groupby("model")
    ]
