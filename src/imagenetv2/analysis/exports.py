"""Tables of the analysis for a spreadsheet, for a page in Markdown and for a paper in LaTeX."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.findings import Findings
from imagenetv2.analysis.wording import MINUS, count, percent, points, share, signed

PAGE = 50
"""Rows of a table that fit on a page."""


def exports(found: Findings) -> dict[str, str]:
    """Files by name: all numbers as CSV, and what a reader wants of them as Markdown and as LaTeX with booktabs."""
    shown = {
        "accuracies": (found.accuracies, accuracies(found)),
        "groups": (found.groups, groups(found)),
        "fits": (found.fits, fits(found)),
    }
    if found.rules is not None:
        shown["rules"] = (found.rules, rules(found.rules, found.labels))
    files = {}
    for name, (raw, table) in shown.items():
        files[f"{name}.csv"] = csv(raw)
        files[f"{name}.md"] = markdown(table)
        files[f"{name}.tex"] = latex(table)
    return files


def csv(frame: pd.DataFrame) -> str:
    """All columns, six decimals."""
    return frame.to_csv(index=False, lineterminator="\n", float_format="%.6f")


def markdown(table: pd.DataFrame) -> str:
    """A table of words; the first column is aligned left, the others right."""
    names = [str(c) for c in table.columns]
    rule = [":--", *["--:"] * (len(names) - 1)]
    rows = [[str(v).replace("|", "\\|") for v in row] for row in table.itertuples(index=False)]
    return "".join(f"| {' | '.join(row)} |\n" for row in (names, rule, *rows))


def latex(table: pd.DataFrame) -> str:
    """A tabular with booktabs' rules (``\\usepackage{booktabs}``); a longtable where it fills more than a page."""
    plain = table.map(_plain)
    plain.columns = pd.Index([_plain(c) for c in table.columns])
    form = "l" + "r" * (len(table.columns) - 1)
    text = plain.to_latex(index=False, escape=True, column_format=form, longtable=len(table) > PAGE)
    return str(text).replace(MINUS, "$-$").replace("\u00b2", "$^2$").replace("\u2013", "--")


def _plain(value: object) -> str:
    return str(value).replace("\u00a0", " ")


def accuracies(found: Findings) -> pd.DataFrame:
    """One row a model, best on the original first: top-1 with its interval and place on each set."""
    cells = found.accuracies.assign(
        cell=[
            f"{_bare(r['top1'])} [{_bare(r['top1_low'])}, {_bare(r['top1_high'])}]"
            for r in found.accuracies.to_dict("records")
        ]
    )
    wide = cells.pivot(index=["model", "family"], columns="set", values=["cell", "rank"])
    best = wide[("rank", "original")].astype(int).sort_values().index
    table = wide.loc[best].reset_index()
    columns = {"model": table["model"], "family": table["family"]}
    for name, label in found.labels.items():
        columns |= {f"{label}, %": table[("cell", name)], f"{label}, place": table[("rank", name)]}
    return pd.DataFrame(columns)


def groups(found: Findings) -> pd.DataFrame:
    """One row a set and group: average accuracies and changes with their intervals."""
    return pd.DataFrame(
        [
            {
                "set": found.labels[r["set"]],
                "models": count(r["models"]),
                "group": r["group"],
                "top-1, %": _bare(r["top1"]),
                "change, points": _change(r, "change"),
                "top-5, %": _bare(r["top5"]),
                "top-5 change, points": _change(r, "change_top5"),
            }
            for name in found.labels
            for r in found.groups[found.groups["set"] == name].to_dict("records")
        ]
    )


def fits(found: Findings) -> pd.DataFrame:
    """One row a set, scale, group and bootstrap: the line with its intervals."""
    return pd.DataFrame(
        [
            {
                "set": found.labels[r["set"]],
                "scale": r["scale"],
                "group": r["group"],
                "models": count(r["models"]),
                "over": r["over"],
                "slope": _between(r, "slope", _two),
                "offset": _between(r, "offset", signed if r["scale"] == "linear" else _two),
                "R²": share(r["r2"]),
            }
            for r in found.fits.to_dict("records")
        ]
    )


def rules(table: pd.DataFrame, labels: Mapping[str, str]) -> pd.DataFrame:
    """One row a set: selection frequency and change of accuracy."""
    return pd.DataFrame(list(_rules(table, labels)))


def _rules(table: pd.DataFrame, labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    for r in table.set_index("set").loc[list(labels)].reset_index().to_dict("records"):
        yield {
            "set": labels[r["set"]],
            "images": count(r["images"]),
            "selection frequency": _between(r, "frequency", share),
            "true frequency": share(r["true_frequency"]),
            "top-1 change, points": f"{points(r['change_top1'])} [{points(r['change_low'])}, {points(r['change_high'])}]",
            "top-5 change, points": points(r["change_top5"]),
        }


def _bare(value: float) -> str:
    return percent(value).removesuffix("\u00a0%")


def _two(value: float) -> str:
    return share(value, 2)


def _change(row: Mapping[Any, Any], name: str) -> str:
    return "–" if row["set"] == ORIGINAL else _between(row, name, points)


def _between(row: Mapping[Any, Any], name: str, words: Callable[[float], str]) -> str:
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = "" if pd.isna(low) else f" [{words(low)}, {words(high)}]"
    return f"{words(row[name])}{ends}"
