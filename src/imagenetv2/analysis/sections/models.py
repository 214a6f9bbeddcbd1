"""Accuracies of all models, and how their order changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd


def models(accuracies: pd.DataFrame, labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """One entry a model, best on the original first, with a cell for each set."""
    best = accuracies[accuracies["set"] == "original"].sort_values("rank")["model"]
    cells = accuracies.set_index(["model", "set"])
    found = []
    for model in best:
        row = []
        for name in labels:
            cell = cells.loc[(model, name)]
            steps = int(cells.loc[(model, "original")]["rank"]) - int(cell["rank"])
            row.append({"set": name, "steps": steps, **cell.to_dict()})
        found.append({"model": model, "family": row[0]["family"], "cells": row})
    return found


def lines(fits: Mapping[str, Any], labels: Mapping[str, str]) -> list[dict[str, Any]]:
    """Linear and probit fits over all models and over families, with the agreement of the two orders."""
    return [
        {**fit, "label": labels[fit["set"]], "order": fits["order"][fit["set"]]}
        for fit in fits["fits"]
        if fit["slope"] is not None
    ]
