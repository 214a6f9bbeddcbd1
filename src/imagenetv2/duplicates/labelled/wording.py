"""An evaluation in words: for a terminal, and for a page in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.analysis.exports import markdown
from imagenetv2.analysis.wording import count, number, percent, share
from imagenetv2.duplicates.labelled.cutoffs import ANY, BEST, GIVEN, PRECISE
from imagenetv2.duplicates.labelled.survival import alike, heading, named, text
from imagenetv2.duplicates.wording import distance

HOW = {GIVEN: "given", BEST: "best F1"}
NAMES = {
    "choice": "cut-off",
    "metric": "metric",
    "cutoff": "at or below",
    "precision": "precision",
    "recall": "recall",
    "f1": "F1",
    "alone": "found by it alone",
    "false_per_1000": "wrongly found of 1,000",
    "looked_at": "to be looked at",
    "average_precision": "average precision",
}


def table(rows: pd.DataFrame, precision: float) -> pd.DataFrame:
    """The rows of one choice of pairs of a summary as words."""
    said = {**HOW, PRECISE: f"precision {percent(precision, 0)}"}
    out = []
    for row in rows.to_dict("records"):
        single = row["metric"] != ANY
        known = np.isfinite(row["recall"])
        out.append(
            {
                "choice": said[row["choice"]],
                "metric": row["metric"],
                "cutoff": cutoff(row["cutoff"]) if single else "",
                "precision": _between(row, "precision"),
                "recall": _between(row, "recall") if known else "–",
                "f1": share(row["f1"]) if known else "–",
                "alone": count(row["alone"]) if single and known else "",
                "false_per_1000": number(row["false_per_1000"]) if known else "–",
                "looked_at": count(row["found"] + row["false"]) if known else "–",
                "average_precision": share(row["average_precision"]) if single else "",
            }
        )
    return pd.DataFrame(out).rename(columns=NAMES)


def cutoff(value: float) -> str:
    """A cut-off; a dash where there is none."""
    return distance(value) if np.isfinite(value) else "–"


def _between(row: Mapping[Any, Any], name: str) -> str:
    if not np.isfinite(row[name]):
        return "–"
    return f"{percent(row[name])} ({100 * row[f'{name}_low']:.1f} to {100 * row[f'{name}_high']:.1f})"


def printed(summary: pd.DataFrame, kinds: pd.DataFrame, precision: float) -> str:
    """All tables, for a terminal."""
    lines = []
    for name, rows in summary.groupby("pairs", sort=False):
        first = rows.iloc[0]
        lines += [
            "",
            f"Pairs: {name}: {count(first['duplicates'])} of near-duplicates, {count(first['different'])} different",
            table(rows, precision).to_string(index=False),
        ]
    for title, survived in survival(kinds):
        lines += ["", title, survived.to_string(index=False)]
    return "\n".join(lines)


def survival(kinds: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """For each choice of cut-offs, set of strengths and metric: a title, and a table of kind by strength."""
    for choice, how in HOW.items():
        some = kinds[kinds["choice"] == choice]
        parts = alike(some)
        for strengths, names in parts.items():
            more = f", {named(strengths)}" if len(parts) > 1 else ""
            of = some[some["kind"].isin(names)]
            for metric, rows in of.groupby("metric", sort=False):
                cells = {(r["kind"], r["strength"]): text(r) for r in rows.to_dict("records")}
                at = "" if metric == ANY else f" = {cutoff(rows['cutoff'].iloc[0])}"
                yield (
                    f"{metric}, cut-off {how}{at}{more}",
                    pd.DataFrame(
                        [
                            {heading(strengths): n, **{s or "–": cells.get((n, s), "") for s in strengths}}
                            for n in names
                        ]
                    ),
                )


def in_markdown(summary: pd.DataFrame, kinds: pd.DataFrame, precision: float) -> str:
    """The summary, and what each metric survives, for a page in Markdown."""
    out = []
    for name, rows in summary.groupby("pairs", sort=False):
        first = rows.iloc[0]
        counted = f"{count(first['duplicates'])} of near-duplicates, {count(first['different'])} different"
        out += [f"Pairs, {name}: {counted}.\n", markdown(table(rows, precision))]
    for choice, how in HOW.items():
        some = kinds[kinds["choice"] == choice]
        at = some.drop_duplicates("metric")
        known = [f"{r['metric']} {cutoff(r['cutoff'])}" for r in at.to_dict("records") if r["metric"] != ANY]
        parts = alike(some)
        for strengths, names in parts.items():
            said = f"; {named(strengths)}" if len(parts) > 1 or len(strengths) > 1 else ""
            out.append(f"Cut-offs {how}: {', '.join(known)}{said}.\n")
            out.append(markdown(_by_metric(some[some["kind"].isin(names)], strengths)))
    return "\n".join(out)


def _by_metric(rows: pd.DataFrame, strengths: Sequence[str]) -> pd.DataFrame:
    """One column a metric, with the cells of all strengths in a row; in bold what is found."""
    out: dict[str, dict[str, str]] = {}
    order = {strength: place for place, strength in enumerate(strengths)}
    ordered = rows.assign(place=rows["strength"].map(order)).sort_values(["kind", "place"], kind="stable")
    for (kind, metric), cells in ordered.groupby(["kind", "metric"], sort=False):
        out.setdefault(str(kind), {"kind": str(kind)})[str(metric)] = _bold(cells)
    return pd.DataFrame(list(out.values())).fillna("")


def _bold(cells: pd.DataFrame) -> str:
    """The words of cells; each run of such as are found in one pair of stars."""
    parts = []
    for found, run in groupby(cells.to_dict("records"), key=lambda row: row["found"] == row["copies"]):
        words = " ".join(text(row) for row in run)
        parts.append(f"**{words}**" if found else words)
    return " ".join(parts)
