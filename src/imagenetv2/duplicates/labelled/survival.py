"""Which copies each metric still finds, as tables of kind by strength, for a page and for Markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.analysis.figures.style import Series
from imagenetv2.analysis.wording import number
from imagenetv2.duplicates.labelled.cutoffs import ANY, BEST, GIVEN

TITLES = {GIVEN: "At the cut-offs given", BEST: "At the cut-offs with the best F1"}


def tables(kinds: pd.DataFrame, looks: Mapping[str, Series]) -> list[dict[str, Any]]:
    """For the template: one table a choice of cut-offs and a set of strengths; none where no kinds are known."""
    out = []
    for choice, title in TITLES.items():
        some = kinds[kinds["choice"] == choice]
        parts = alike(some)
        for strengths, names in parts.items():
            rows = some[some["kind"].isin(names)]
            metrics = list(dict.fromkeys(rows["metric"]))
            out.append(
                {
                    "title": f"{title}, {named(strengths)}" if len(parts) > 1 else title,
                    "heading": heading(strengths),
                    "metrics": [{"css": looks[m].css if m in looks else "", "label": m} for m in metrics],
                    "strengths": strengths,
                    "rows": [
                        {"kind": kind, "cells": _cells(rows[rows["kind"] == kind], metrics, strengths, looks)}
                        for kind in names
                    ],
                }
            )
    return out


def alike(kinds: pd.DataFrame) -> dict[tuple[str, ...], list[str]]:
    """Kinds by the strengths that they have, so that a table has few empty cells; the longest table first."""
    of = {
        str(kind): tuple(dict.fromkeys(rows["strength"])) for kind, rows in kinds.groupby("kind", sort=True)
    }
    found: dict[tuple[str, ...], list[str]] = {}
    for kind, strengths in sorted(of.items(), key=lambda item: (-len(item[1]), item[0])):
        homes = [known for known in found if set(strengths) <= set(known) and _fits(strengths, known)]
        found.setdefault(min(homes, key=len, default=strengths), []).append(kind)
    ordered = sorted(found.items(), key=lambda item: (-len(item[1]), item[0]))
    return {strengths: sorted(names) for strengths, names in ordered}


def named(strengths: Sequence[str]) -> str:
    """A set of strengths: strengths 1, 2."""
    if tuple(strengths) == ("",):
        return "no strengths"
    return f"{'strength' if len(strengths) == 1 else 'strengths'} {', '.join(s or '–' for s in strengths)}"


def heading(strengths: Sequence[str]) -> str:
    """What rows are, and columns where there are strengths."""
    return "kind, by strength" if any(strengths) else "kind"


def _fits(strengths: Sequence[str], table: Sequence[str]) -> bool:
    """Whether a row of these strengths leaves less than half of a table's columns empty, or needs but one."""
    return len(strengths) == 1 or 2 * len(strengths) > len(table)


def _cells(
    rows: pd.DataFrame, metrics: Sequence[str], strengths: Sequence[str], looks: Mapping[str, Series]
) -> list[dict[str, Any]]:
    found = {(row["metric"], row["strength"]): row for row in rows.to_dict("records")}
    cells: list[dict[str, Any]] = []
    for metric in metrics:
        for place, strength in enumerate(strengths):
            row = found.get((metric, strength))
            css = ["" if place else "first", looks[metric].css if metric in looks else "original"]
            if row is None:
                cells.append({"css": " ".join(css), "text": "", "near": None})
                continue
            whole = row["found"] == row["copies"]
            cells.append(
                {
                    "css": " ".join([*css, "found" if whole else "lost"]).strip(),
                    "text": text(row),
                    "near": _depth(row) if whole else None,
                }
            )
    return cells


def text(row: Mapping[Any, Any]) -> str:
    """A cell: how many are found, or for a single copy its distance in cut-offs; for all metrics whether it is found."""
    if row["copies"] > 1:
        return f"{row['found']}/{row['copies']}"
    if row["metric"] == ANY:
        return "✓" if row["found"] else "–"
    if row["cutoff"] > 0:
        return ratio(row["distance"] / row["cutoff"])
    return "0" if row["distance"] == 0 else "> 1"


def ratio(value: float) -> str:
    """With two digits, on the right side of 1."""
    if value <= 0:
        return "0"
    if value < 0.01:
        return "<0.01"
    shown = number(value, 2)
    return ">1.0" if value > 1 and float(shown) <= 1 else shown


def _depth(row: Mapping[Any, Any]) -> int:
    """How strongly a cell is coloured, in percent: nearer is stronger."""
    if row["metric"] == ANY or not row["cutoff"] > 0:
        return 35
    return int(20 + 40 * (1 - np.clip(row["distance"] / row["cutoff"], 0, 1)))
