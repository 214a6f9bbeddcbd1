"""Whether a file's columns stand in the order of rank."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imagenetv2.record.prediction_checks.consensus import support
from imagenetv2.record.sheets import COLUMNS, Floats, Ints, Sheet, stack

MODELS = 4
"""Models that a list needs for one of them to stand out."""
SIGMA = 4.0
FLAT = 0.25
"""Columns count as mixed where the first one's lead over an even share is below this part of the others' lead."""


def ranked(sheets: Sequence[Sheet], classes: Ints, count: int) -> list[Sheet]:
    """The sheets of one list with their columns in the order of rank.

    Support by the other models and hits fall from the first column to the last in every sound file. Where both rise
    against that in one order, the columns are put into the order in which both fall: the reverse where that fits,
    otherwise the order of support. Where no order makes the first column lead as it does in other files, columns are
    mixed row by row, and ranks are lost.

    Args:
        sheets: of one list, all usable.
        classes: class index of each image.
        count: number of classes.
    """
    whole = [s for s in sheets if (s.values[:, 1:] >= 0).any()]
    if len(whole) < MODELS:
        return list(sheets)
    supports = support(stack(whole), count)
    hits = np.stack([(s.values == classes[:, None]).mean(axis=0) for s in whole])
    leads = hits.max(axis=1) / np.maximum(hits.sum(axis=1), 1e-9)
    changed = {
        s.file + s.model: _ranked(
            s, supports[i], hits[i], float(leads[i]), float(np.median(leads)), len(classes)
        )
        for i, s in enumerate(whole)
    }
    return [changed.get(s.file + s.model, s) for s in sheets]


def _ranked(sheet: Sheet, supported: Floats, hits: Floats, lead: float, usual: float, images: int) -> Sheet:
    even = 1 / COLUMNS
    if lead < even + FLAT * (usual - even):
        detail = (
            f"hits by column {_percent(hits)} %: the largest is {100 * lead:.0f} % of all, in other files "
            f"{100 * usual:.0f} %"
        )
        return sheet.left_out(
            "columns mixed row by row", detail, "no one order of the columns brings ranks back"
        )
    if not rises(supported, images) and not rises(hits, images):
        return sheet
    order = np.arange(COLUMNS)[::-1]
    if rises(supported[order], images) or rises(hits[order], images):
        order = np.argsort(-supported, kind="stable")
    detail = f"columns in the order of rank are {', '.join(str(k + 1) for k in order)}"
    evidence = (
        f"hits by column are {_percent(hits)} %, and {_percent(hits[order])} % in that order; the other models have "
        f"the column's class among their five for {_percent(supported)} %, and {_percent(supported[order])} %"
    )
    return sheet.corrected("columns out of rank order", detail, evidence, top5=sheet.values[:, order])


def rises(shares: Floats, images: int) -> bool:
    """Whether a share is larger than one before it by more than chance does: ``SIGMA`` of their binomial spread."""
    earlier, later = shares[:, None], shares[None, :]
    spread = np.sqrt((earlier + later) / images)
    return bool(np.triu(later - earlier > SIGMA * spread, 1).any())


def _percent(shares: Floats) -> str:
    return ", ".join(f"{100 * s:.1f}" for s in shares)
