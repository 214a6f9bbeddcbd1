"""What stands in one file: the form of the array and its values."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from imagenetv2.record.sheets import COLUMNS, NO_CLASS, Raw, Sheet, Top5

LARGEST = 2**30
"""Larger values are cut to it: they name no class either way."""
ABSENT = -(2**31)
"""Stands where a value is no whole number, until the rows are in order."""
WIDESPREAD = 0.01
"""Share of values without a class above which a file is not used: stray ones are rarer by far."""


def form(sheet: Sheet, raw: npt.NDArray[np.generic], counts: set[int]) -> tuple[Sheet, Raw | None]:
    """The array as whole numbers, rows × at most five columns; None where it cannot be.

    Args:
        sheet: whose array it is.
        raw: the array of the file.
        counts: numbers of rows that fit the list.
    """
    if raw.ndim == 1:
        raw = raw[:, None]
    if raw.ndim == 2 and raw.shape[0] <= COLUMNS < raw.shape[1] and raw.shape[1] in counts:
        sheet = sheet.corrected(
            "rows and columns exchanged", f"shape {raw.shape}", f"{raw.shape[1]:,} is the number of images"
        )
        raw = raw.T
    if raw.ndim != 2 or 0 in raw.shape:
        return sheet.left_out("wrong shape", f"shape {raw.shape}", "no table of images and classes"), None
    if raw.shape[1] > COLUMNS:
        detail = f"{raw.shape[1]} columns, the first {COLUMNS} are kept"
        sheet = sheet.corrected("wrong number of columns", detail, "classes are given best first")
        raw = raw[:, :COLUMNS]
    elif raw.shape[1] < COLUMNS:
        detail = (
            f"{raw.shape[1]} of {COLUMNS} columns; the others hold {NO_CLASS}, so top-5 accuracy is too low"
        )
        sheet = sheet.fault("wrong number of columns", detail)
    return whole(sheet, raw)


def whole(sheet: Sheet, raw: npt.NDArray[np.generic]) -> tuple[Sheet, Raw | None]:
    """Whole numbers from any numbers; those that are none become ``ABSENT``; None where these are widespread."""
    if raw.dtype.kind != "f":
        if raw.itemsize >= 4 and raw.size and (raw.min() < -LARGEST or raw.max() > LARGEST):
            raw = np.clip(raw, -LARGEST if raw.dtype.kind == "i" else 0, LARGEST)
        return sheet, raw.astype(np.int32)
    values = raw.astype(np.float64)
    good = np.isfinite(values) & (values == np.round(values)) & (np.abs(values) <= LARGEST)
    bad = int(good.size - good.sum())
    if bad > WIDESPREAD * good.size:
        detail = f"{bad:,} of {good.size:,} values are no whole numbers, such as {values[~good][0]}"
        return sheet.left_out("no class indices", detail, "they name no class"), None
    if bad:
        sheet = sheet.corrected(
            "no class of that index",
            f"{bad:,} values are no whole numbers, now {NO_CLASS}",
            "they name no class",
        )
    found = np.where(good, values, 0).astype(np.int32)
    found[~good] = ABSENT
    detail = f"{raw.dtype}, {'all' if not bad else 'the other'} values whole numbers"
    return sheet.corrected("stored as floats", detail, "whole numbers are kept exactly"), found


def within_range(sheet: Sheet, values: Raw, classes: int) -> tuple[Sheet, Top5 | None]:
    """Class indices, images × 5: those out of range and those that repeat within a row become -1."""
    absent = values == ABSENT
    outside = ~absent & ((values < 0) | (values >= classes))
    bad = int(outside.sum())
    if bad > WIDESPREAD * values.size:
        detail = f"{bad:,} of {values.size:,} values are not from 0 to {classes - 1:,}"
        return sheet.left_out("no class of that index", detail, "they name no class"), None
    if bad:
        seen = ", ".join(str(v) for v in np.unique(values[outside])[:3])
        detail = (
            f"{bad:,} of {values.size:,} values ({seen}) are not from 0 to {classes - 1:,}, now {NO_CLASS}"
        )
        sheet = sheet.corrected("no class of that index", detail, "they name no class")
    found = np.full((len(values), COLUMNS), NO_CLASS, np.int16)
    found[:, : values.shape[1]] = np.where(absent | outside, NO_CLASS, values)
    return without_repeats(sheet, found)


def without_repeats(sheet: Sheet, values: Top5) -> tuple[Sheet, Top5 | None]:
    """A class that stands twice in a row is kept once, where it comes first."""
    repeated = np.zeros(values.shape, bool)
    for k in range(1, values.shape[1]):
        for j in range(k):
            repeated[:, k] |= (values[:, k] == values[:, j]) & (values[:, k] >= 0)
    rows = int(repeated.any(axis=1).sum())
    if not rows:
        return sheet, values
    detail = f"in {rows:,} of {len(values):,} rows; the later ones are now {NO_CLASS}"
    if rows > WIDESPREAD * len(values):
        return sheet.left_out("class repeated in a row", detail, "five best classes are five classes"), None
    sheet = sheet.corrected(
        "class repeated in a row", detail, "a class has one rank, and the first is its best"
    )
    return sheet, np.where(repeated, NO_CLASS, values).astype(np.int16)
