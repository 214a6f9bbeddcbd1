"""Observed against true selection frequency: whether matching the one matched the other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from imagenetv2.analysis.findings import Findings


def truth(found: Findings) -> list[dict[str, Any]]:
    """One entry a set; ``verdict`` compares its true frequency with the original's by the interval."""
    assert found.rules is not None
    by_set: dict[Any, dict[Any, Any]] = found.rules.set_index("set").to_dict("index")
    return [
        {
            "set": name,
            "label": label,
            "css": found.sets[name].css,
            "verdict": verdict(by_set[name]),
            **by_set[name],
        }
        for name, label in found.labels.items()
    ]


def verdict(row: Mapping[str, Any]) -> str:
    """lower, higher, or about the same: what the interval of the true shift says."""
    if row["true_shift_high"] < 0:
        return "lower"
    return "higher" if row["true_shift_low"] > 0 else "about the same"
