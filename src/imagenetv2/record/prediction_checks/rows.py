"""Which image each row of a file belongs to, and whether its class indices are off by a constant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks.values import ABSENT, within_range
from imagenetv2.record.sheets import Ints, Raw, Sheet

ENOUGH = 0.1
"""Hits beyond chance, as a share of what is possible, from which predictions belong to the images; rows in a wrong
order come to 0, and the weakest models that are worth a comparison to 0.3."""


@dataclass(frozen=True)
class Fit:
    """How well predictions fit images.

    Attributes:
        shift: what is to be taken off the class indices.
        share: images whose class is then among the predictions.
        beyond: the same beyond chance: 0 for rows in any order, 1 for every image right.
    """

    shift: int
    share: float
    beyond: float

    @property
    def good(self) -> bool:
        """Whether the predictions belong to the images."""
        return self.beyond >= ENOUGH


def fit(values: Raw, rows: Ints, classes: Ints, count: int) -> Fit:
    """Fit of predictions to images under the constant offset that fits best, 0 among equals.

    Args:
        values: class indices, rows × columns.
        rows: image of each row, -1 for a row to be passed over.
        classes: class index of each image.
        count: number of classes.
    """
    known = rows >= 0
    truth, given = classes[rows[known]].astype(np.int32), values[known]
    offset = given - truth[:, None]
    near = (given != ABSENT) & (np.abs(offset) < count)
    hits = np.bincount(offset[near] + count, minlength=2 * count)
    shift = 0 if hits[count] == hits.max() else int(hits.argmax()) - count
    moved = given - shift
    inside = (moved >= 0) & (moved < count) & (given != ABSENT)
    images = max(len(truth), 1)
    chance = np.bincount(truth, minlength=count) @ np.bincount(moved[inside], minlength=count) / images**2
    share = float(hits[count + shift]) / images
    return Fit(shift, share, float((share - chance) / (1 - chance)) if chance < 1 else 0.0)


def align(sheet: Sheet, values: Raw, listings: Mapping[str, Listing], count: int) -> Sheet:
    """The sheet with its predictions in the order of the images of its list.

    The order of the list counts where it fits; otherwise what fits best of it with the class indices off by a
    constant, other orders that follow from the list, and other lists of the record.
    """
    own = listings[sheet.listing]
    rows = own.rows(len(values))
    as_is = None if rows is None else fit(values, rows, own.classes, count)
    if rows is not None and as_is is not None and as_is.good and not as_is.shift:
        return _take(sheet, values, own, rows, as_is, count)
    tried = [] if rows is None or as_is is None else [(as_is, "", own, rows)]
    tried += [(fit(values, r, own.classes, count), name, own, r) for name, r in own.orders(len(values))]
    for other in listings.values():
        if other.name != own.name and (r := other.rows(len(values))) is not None:
            tried.append((fit(values, r, other.classes, count), other.name, other, r))
    best = max(tried, key=lambda t: t[0].beyond, default=None)
    if best is None or not best[0].good:
        return _unknown(sheet, len(values), own, as_is)
    found, name, target, rows = best
    before = f"{100 * as_is.share:.1f} % of images" if as_is else "the number of rows does not fit"
    evidence = (
        f"classes are then among the predictions for {100 * found.share:.1f} % of images, before {before}"
    )
    if target is own and not name:
        return _take(sheet, values, target, rows, found, count)
    if target is own:
        sheet = sheet.corrected("rows in another order", f"order: {name}", evidence)
    else:
        detail = f"they are predictions for {target.name}, not for {own.name}"
        sheet = sheet.corrected(
            "predictions of another list", detail, evidence, listing=target.name, home=own.name
        )
    return _take(sheet, values, target, rows, found, count)


def _unknown(sheet: Sheet, rows: int, own: Listing, as_is: Fit | None) -> Sheet:
    if as_is is None:
        detail = f"{rows:,} rows for {len(own.ids):,} images"
        return sheet.left_out("wrong number of rows", detail, "which image a row belongs to is not known")
    detail = (
        f"the class is among the predictions for {100 * as_is.share:.1f} % of images, "
        f"{100 * as_is.beyond:.1f} % beyond chance, under any constant offset"
    )
    evidence = "no order that follows from a list of the record brings the accuracy back"
    return sheet.left_out("predictions do not fit the images", detail, evidence)


def wrapped(values: Raw, found: Fit, classes: Ints, count: int) -> float | None:
    """Share of images right among those of the classes that an offset carries past the last class to the first.

    None where the offset does not go around: where values are beyond the classes, as they are without going around,
    where none would be after the offset is taken off, or where those images would be right less often by half.

    Args:
        values: class indices with the offset, images × columns.
        found: the offset.
        classes: class index of each image.
        count: number of classes.
    """
    there = values != ABSENT
    moved = values - found.shift
    past = there & ((moved < 0) | (moved >= count))
    if not past.any() or (there & ((values < 0) | (values >= count))).any():
        return None
    carried = (classes + found.shift < 0) | (classes + found.shift >= count)
    if not carried.any():
        return None
    right = (moved[carried] % count == classes[carried, None]) & there[carried]
    share = float(right.any(axis=1).mean())
    return share if share >= found.share / 2 else None


def _take(sheet: Sheet, values: Raw, target: Listing, rows: Ints, found: Fit, count: int) -> Sheet:
    """The sheet with its values in the order of the images, the offset taken off."""
    known = np.flatnonzero(rows >= 0)
    ordered = np.full((len(target.ids), values.shape[1]), ABSENT, np.int32)
    ordered[rows[known]] = values[known]
    if found.shift:
        before = float((ordered == target.classes[:, None]).any(axis=1).mean())
        sheet = sheet.corrected(
            "class indices off by a constant",
            f"{found.shift:+d}",
            f"the class is among the predictions for {100 * found.share:.1f} % of images without it, for "
            f"{100 * before:.1f} % with it",
        )
        around = wrapped(ordered, found, target.classes, count)
        ordered[ordered != ABSENT] -= found.shift
        if around is not None:
            ordered = np.where(ordered == ABSENT, ABSENT, ordered % count)
            detail = f"counted around at {count:,}, so {found.shift:+d} gives no class out of range"
            evidence = f"the images of the classes that are counted around have theirs in {100 * around:.1f} % of cases"
            sheet = sheet.corrected("class indices counted around", detail, evidence)
    sheet, top5 = within_range(sheet, ordered, count)
    return sheet if top5 is None else replace(sheet, top5=top5)
