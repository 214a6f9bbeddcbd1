"""The sets side by side, the lines, and every model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from imagenetv2.analysis.findings import Findings


def sets(found: Findings) -> list[dict[str, Any]]:
    """One entry a set: averages over all models, their order, and votes where they are known."""
    averages: dict[Any, dict[Any, Any]] = found.averages.set_index("set").to_dict("index")
    votes: dict[Any, dict[Any, Any]] = {}
    if found.rules is not None:
        votes = found.rules.set_index("set").to_dict("index")
    orders = found.order[found.order["group"] == "all"].set_index("set").to_dict("index")
    images = found.accuracies.groupby("set")["images"].first()
    return [
        {
            "set": name,
            "label": label,
            "css": found.sets[name].css,
            "images": int(images[name]),
            "order": orders.get(name),
            "votes": votes.get(name),
            **averages[name],
        }
        for name, label in found.labels.items()
    ]


def lines(found: Findings) -> list[dict[str, Any]]:
    """One entry a set, scale and group: its line, with the interval of each bootstrap, in the order of the sets."""
    scales, places = ("linear", "probit", "logit"), list(found.labels)
    rows: list[dict[str, Any]] = []
    for _, fits in found.fits[found.fits["slope"].notna()].groupby(["set", "scale", "group"], sort=False):
        one: dict[Any, Any] = fits.iloc[0].to_dict()
        shown = found.sets[one["set"]]
        ends = fits.set_index("over").to_dict("index")
        rows.append({**one, "label": shown.label, "css": shown.css, "ends": ends})
    return sorted(
        rows,
        key=lambda r: (places.index(r["set"]), scales.index(r["scale"]), r["group"] != "all", r["group"]),
    )


def models(found: Findings) -> list[dict[str, Any]]:
    """One entry a model, best on the original first, with a cell for each set."""
    accuracies = found.accuracies
    best = accuracies[accuracies["set"] == "original"].sort_values("rank")["model"]
    cells: Mapping[Any, dict[Any, Any]] = accuracies.set_index(["model", "set"]).to_dict("index")
    rows = []
    for model in best:
        row = []
        for name in found.labels:
            cell = cells[(model, name)]
            steps = int(cells[(model, "original")]["rank"]) - int(cell["rank"])
            row.append({"set": name, "steps": steps, **cell})
        rows.append({"model": model, "family": row[0]["family"], "cells": row})
    return rows
