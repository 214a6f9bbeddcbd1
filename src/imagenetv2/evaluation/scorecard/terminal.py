"""Results as a terminal shows them: a table a set, then a line of words a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from imagenetv2.analysis.wording import MINUS, grid, plural, signed
from imagenetv2.evaluation.scorecard.comparable import NO
from imagenetv2.evaluation.scorecard.rows import Row
from imagenetv2.evaluation.scorecard.sets import Opened

DASH = "–"
Cell = Callable[[Row], str]


def interval(row: Row, value: str, low: str, high: str, form: Callable[[Any], str]) -> str:
    """A value with its interval: 62.5 [61.5, 63.4]; a dash where it is missing."""
    if row[value] is None:
        return DASH
    return f"{form(row[value])} [{form(row[low])}, {form(row[high])}]"


def plain(value: Any) -> str:
    """One decimal; a dash where it is missing."""
    return DASH if value is None else f"{value:.1f}".replace("-", MINUS)


def of_original() -> dict[str, Cell]:
    """Columns of a set that is only measured."""
    return {
        "top-1 %": lambda r: interval(r, "top1", "low", "high", plain),
        "top-5 %": lambda r: plain(r["top5"]),
        "ReaL %": lambda r: plain(r["real"]),
        "calibration error % (by chance)": calibration,
        "AURRA %": lambda r: plain(r["aurra"]),
        "published %": lambda r: plain(r["published"]),
        "rank": rank,
    }


def of_new() -> dict[str, Cell]:
    """Columns of a set that is compared with ImageNet."""
    return {
        "top-1 %": lambda r: interval(r, "top1", "low", "high", plain),
        "top-5 %": lambda r: plain(r["top5"]),
        "drop": lambda r: interval(r, "drop", "drop_low", "drop_high", plain),
        "expected %": lambda r: plain(r["expected"]),
        "above the line": lambda r: interval(r, "effective", "effective_low", "effective_high", signed),
        "published %": lambda r: plain(r["published"]),
        "rank": rank,
    }


def calibration(row: Row) -> str:
    """The error, and what a perfectly calibrated model would have."""
    if row["calibration"] is None:
        return DASH
    return f"{plain(row['calibration'])} ({plain(row['calibration_by_chance'])})"


def rank(row: Row) -> str:
    """Place among the study's models."""
    return DASH if row["rank"] is None else f"{row['rank']} of {row['ranked']}"


def tables(rows: Sequence[Row], sets: Sequence[Opened]) -> list[str]:
    """Lines of all tables."""
    out: list[str] = []
    for of in sets:
        if mine := best_first(rows, of):
            out += ["", heading(of), *grid(shown(mine, cells_of(of))), *remarks(mine)]
    return out


def best_first(rows: Sequence[Row], of: Opened) -> list[Row]:
    """Rows of a set."""
    return sorted((r for r in rows if r["set"] == of.name), key=lambda r: (-r["top1"], r["model"]))


def cells_of(of: Opened) -> dict[str, Cell]:
    """Columns of a set's table: their titles, and how a row fills them."""
    return {"model": _model, **(of_new() if of.part == "v2" else of_original())}


def remarks(rows: Sequence[Row]) -> list[str]:
    """What stands below a set's table."""
    out = []
    if lines := {r["line"] for r in rows if r["line"]}:
        out.append(f"line: {', '.join(sorted(lines))}")
    out += sorted(
        {f"not comparable with published numbers: {r['why']}" for r in rows if r["comparable"] == NO}
    )
    if missing := sorted({r["missing"] for r in rows if r["missing"]}):
        apart = any(r["missing"] and r["drop"] is None for r in rows)
        out.append(f"no {'drop and no ' if apart else ''}distance from a line: {'; '.join(missing)}")
    return out


def heading(of: Opened) -> str:
    """A set in words."""
    some = of.set
    classes, held = some.classes.size, np.unique(some.labels).size
    of_all = plural(classes, "class", "classes")
    told = f"; recognised {some.recognised}" if some.recognised else ""
    images = f"{plural(len(some.ids), 'image')} of {of_all if held == classes else f'{held:,} of {of_all}'}"
    return f"{of.title}: {images} ({some.layout}{told})"


def _model(row: Row) -> str:
    return row["model"] if row["mode"] == "reference" else f"{row['model']} ({row['mode']})"


def shown(rows: Sequence[Row], cells: dict[str, Cell]) -> dict[str, list[str]]:
    """Columns by title; those in which nothing stands are left out."""
    columns = {title: [cell(r) for r in rows] for title, cell in cells.items()}
    return {title: values for title, values in columns.items() if any(v != DASH for v in values)}


def words(rows: Sequence[Row], sets: Sequence[Opened]) -> list[str]:
    """What each row says, a line a model and new set; then what looks wrong."""
    titles = {of.name: of.title for of in sets}
    old = next((of.title for of in sets if of.part == "val"), "")
    new = {of.name for of in sets if of.part == "v2"}
    out = [said for r in rows if r["set"] in new and (said := sentence(r, titles[r["set"]], old))]
    out += [f"{r['model']} on {titles[r['set']]}: {r['note']}" for r in rows if r["note"]]
    return ["", *out] if out else []


def sentence(row: Row, title: str, original: str) -> str:
    """A row in words; empty where nothing is known beyond its accuracy. ``title`` and ``original`` name the two sets."""
    parts = []
    if row["effective"] is not None:
        parts.append(_distance(row))
    elif row["drop"] is not None:
        less = f"{abs(row['drop']):.1f} points {'less' if row['drop'] >= 0 else 'more'} than on {original}"
        # Of a part of a set, or in a fast mode, it is not what somebody came for.
        whole = row["comparable"] != NO
        parts += [less] if whole else [f"{interval(row, 'top1', 'low', 'high', plain)} %, {less}"]
    if row["rank"] is not None:
        parts.append(f"rank {rank(row)} with the study's models")
    if row["published"] is not None:
        parts.append(
            f"the study has {row['published']:.1f} % ({signed(row['top1'] - row['published'])} here)"
        )
    return f"{row['model']} on {title}: {'; '.join(parts)}." if parts else ""


def _distance(row: Row) -> str:
    far, sure = abs(row["effective"]), row["effective_low"] > 0 or row["effective_high"] < 0
    side = "above" if row["effective"] >= 0 else "below"
    said = (
        f"{far:.1f} points {side} the line"
        if sure
        else f"not told from the line ({signed(row['effective'])} points)"
    )
    return said + (f", extrapolated: {row['extrapolated']}" if row["extrapolated"] else "")


def fast(rows: Sequence[Row]) -> list[str]:
    """How far a fast mode is from mode reference, in words."""
    return [
        f"{r['model']} on {r['set']}: {r['mode']} and reference name the same class first on {r['reference_same']:.1f} % of "
        f"{plural(r['reference_images'], 'sampled image')}; probabilities differ by {r['reference_largest']:.2g} at most."
        for r in rows
        if r["reference_images"]
    ]
