"""Rows that belong to other images of the same class, and parts of a file that do not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks.consensus import within_class
from imagenetv2.record.prediction_checks.stretch import clear, expected, worst
from imagenetv2.record.sheets import Bools, Ints, Sheet, Top5, first

MODELS = 4
"""Models that a list needs for one of them to stand out."""
SIGMA = 4.0
POWER = 0.2
"""Median of the correlations from which one near 0 means something."""
AMONG = 0.8
"""Part of the expected hits of all five columns from which a stretch has the right classes in a wrong order."""


def correlations(sheets: Sequence[Sheet], target: Listing) -> dict[str, float]:
    """By file, how being right on an image goes with the other models' being right, within classes; nan where unknown."""
    if len(sheets) < MODELS:
        return {s.file: float("nan") for s in sheets}
    found = within_class(first(sheets) == target.classes, target.classes)
    return {s.file: float(c) for s, c in zip(sheets, found, strict=True)}


def in_place(
    sheets: Sequence[Sheet], target: Listing, found: Mapping[str, float], elsewhere: Mapping[str, float]
) -> list[Sheet]:
    """The sheets of one list, each row at its own image; one whose rows are not, and cannot be put there, is left out.

    Args:
        sheets: of one list, all usable.
        target: the list.
        found: of each file (see ``correlations``).
        elsewhere: median of a model's correlations over all lists: one that goes its own way does so everywhere.
    """
    if len(sheets) < MODELS:
        return list(sheets)
    right = first(sheets) == target.classes
    among = sum((s.values == target.classes[:, None]).any(axis=1).astype(np.int64) for s in sheets)
    totals = (right.sum(axis=0), np.asarray(among))
    usual = _median([found[s.file] for s in sheets])
    least = SIGMA / np.sqrt(len(target.ids))
    checked = []
    for i, sheet in enumerate(sheets):
        own = found[sheet.file]
        if usual > POWER and own < least and elsewhere.get(sheet.model, usual) > max(POWER / 2, 2 * least):
            checked.append(_reordered(sheet, np.delete(right, i, axis=0), target, own, usual, least))
        else:
            checked.append(_without_bad_part(sheet, totals, len(sheets), target))
    return checked


def usual_by_model(sheets: Sequence[Sheet], found: Mapping[str, float]) -> dict[str, float]:
    """Median of each model's correlations over all lists, by the name that its files have."""
    values: dict[str, list[float]] = {}
    for sheet in sheets:
        values.setdefault(sheet.model, []).append(found[sheet.file])
    return {model: _median(listed) for model, listed in values.items()}


def _median(values: Sequence[float]) -> float:
    there = [v for v in values if np.isfinite(v)]
    return float(np.median(there)) if there else float("nan")


def _reordered(
    sheet: Sheet, others: Bools, target: Listing, as_is: float, usual: float, least: float
) -> Sheet:
    """The sheet in the order of rows in which it is right where the others are; left out where there is none."""
    best, name, values = as_is, "", sheet.values
    for text, order in target.orders(len(target.ids)):
        moved = np.empty_like(values)
        moved[order[order >= 0]] = sheet.values[order >= 0]
        found = _correlation(moved, others, target)
        if found > best:
            best, name, values = found, text, moved
    found_text = f"being right on an image goes with the other models' being right: correlation {as_is:.2f}"
    if best < max(usual / 4, least):
        evidence = f"the correlation is {usual:.2f} for the median of models, and no order brings it back"
        return sheet.left_out("rows do not fit the images", found_text, evidence)
    evidence = f"within classes {found_text}, {best:.2f} in that order, {usual:.2f} for the median of models"
    return sheet.corrected("rows in another order", f"order: {name}", evidence, top5=values)


def _correlation(top5: Top5, others: Bools, target: Listing) -> float:
    right = np.vstack([top5[None, :, 0] == target.classes, others])
    return float(within_class(right, target.classes)[0])


def _without_bad_part(sheet: Sheet, totals: tuple[Ints, Ints], models: int, target: Listing) -> Sheet:
    """Left out where a stretch of the rows has far fewer hits than the other models' hits there foretell.

    Args:
        sheet: of the list.
        totals: how many sheets of the list are right on each image, with their first class and with any.
        models: number of sheets.
        target: the list.
    """
    hits = sheet.values == target.classes[:, None]
    found = worst(hits[:, 0], expected(hits[:, 0], (totals[0] - hits[:, 0]) / (models - 1)))
    if not clear(found, target.classes):
        return sheet
    detail = (
        f"rows {found.start:,} to {found.stop - 1:,} have {found.hits:,.0f} hits where {found.expected:,.0f} are "
        "expected"
    )
    among = hits.any(axis=1)
    foretold = expected(among, (totals[1] - among) / (models - 1))[found.start : found.stop]
    there = int(among[found.start : found.stop].sum())
    if there < AMONG * foretold.sum():
        return sheet.left_out("a part of the rows does not fit", detail, "the other models have no such part")
    evidence = f"among all columns they have {there:,} where {foretold.sum():,.0f} are expected, so only ranks are lost"
    return sheet.left_out("columns mixed in a part of the rows", detail, evidence)
