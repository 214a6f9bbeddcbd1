"""Files of one list that hold the predictions of one model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from imagenetv2.record.faults import REPORTED
from imagenetv2.record.prediction_checks.exchanges import CLEAR
from imagenetv2.record.prediction_checks.kinship import MODELS, Agreements, agreements, distances
from imagenetv2.record.sheets import Floats, Sheet

IDENTICAL = 0.995
"""Agreement of two files from which they hold one model's predictions; the most alike of different models reach 0.95."""


Named = tuple[list[str], Floats]


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
    gaps = [gap for other in others if (gap := _gap(found[listing], found[other], pair)) is not None]
    if gaps and (max(gaps) < -CLEAR / 2 or min(gaps) > CLEAR / 2):
        return pair[0] if gaps[0] < 0 else pair[1]
    return None


def _gap(here: Named, there: Named, pair: tuple[str, str]) -> float | None:
    """By how much the shared predictions are farther from the first model elsewhere than from the second.

    None where the lists share too few other models. Agreements with the two themselves say nothing: here one of them
    is a copy.
    """
    rest = sorted((set(here[0]) & set(there[0])) - set(pair))
    if len(rest) < MODELS:
        return None
    shares = [
        agreed[np.ix_(places, places)]
        for (names, agreed), model in ((here, pair[0]), (there, pair[0]), (there, pair[1]))
        for places in [[names.index(m) for m in (model, *rest)]]
    ]
    return float(distances(shares[0], shares[1])[0, 0] - distances(shares[0], shares[2])[0, 0])


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
