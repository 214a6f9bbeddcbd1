"""Files of one list that hold the predictions of one model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imagenetv2.record.faults import REPORTED
from imagenetv2.record.prediction_checks.exchanges import CLEAR
from imagenetv2.record.prediction_checks.kinship import Agreements, agreements, between
from imagenetv2.record.sheets import Sheet

IDENTICAL = 0.995
"""Agreement of two files from which they hold one model's predictions; the most alike of different models reach 0.95."""


def twice(sheets: Sequence[Sheet], lists: Sequence[str]) -> list[Sheet]:
    """The sheets without copies: of two files of one list that agree on all images, the model's own stays.

    Two models that agree so in every list are one model under two names, which is reported.
    """
    done = list(sheets)
    found = agreements(done, lists)
    for name, (models, shares) in found.items():
        for i, k in np.argwhere(np.triu(shares >= IDENTICAL, 1)).tolist():
            pair = (models[i], models[k])
            verdict = _owner(found, name, pair)
            done = [_copy(s, pair, verdict, float(shares[i, k])) if s.listing == name else s for s in done]
    return done


def _owner(found: Agreements, listing: str, pair: tuple[str, str]) -> str | None:
    """Which of two models the predictions are; empty for both, None where it cannot be told."""
    others = [o for o in found if o != listing and set(pair) <= set(found[o][0])]
    alike_elsewhere = [
        found[o][1][found[o][0].index(pair[0]), found[o][0].index(pair[1])] >= IDENTICAL for o in others
    ]
    if others and all(alike_elsewhere):
        return ""
    there = [p for p in pair if any(p in found[o][0] for o in found if o != listing)]
    if len(there) == 1:
        return there[0]
    gaps = []
    for other in others:
        table = between(found, listing, other)
        if table is not None:
            a, b = (table[0].index(p) for p in pair)
            # Content is the same here, so each distance is of that content from one of the two models there.
            gaps.append(table[1][a, a] - table[1][b, b])
    if gaps and (max(gaps) < -CLEAR / 2 or min(gaps) > CLEAR / 2):
        return pair[0] if gaps[0] < 0 else pair[1]
    return None


def _copy(sheet: Sheet, pair: tuple[str, str], owner: str | None, share: float) -> Sheet:
    if sheet.model not in pair or not sheet.usable or sheet.model == owner:
        return sheet
    other = pair[1] if sheet.model == pair[0] else pair[0]
    kind, detail = (
        "one model's predictions under two names",
        f"{100 * share:.1f} % of first classes as {other}",
    )
    if owner == "":
        return sheet.fault(kind, f"{detail}, in every list", REPORTED)
    evidence = (
        f"by agreement with all models they are {owner}'s in the other lists"
        if owner
        else "which of the two they are cannot be told"
    )
    return sheet.left_out(kind, detail, evidence)
