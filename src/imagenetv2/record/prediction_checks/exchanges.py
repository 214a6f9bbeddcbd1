"""Models that are exchanged in one list: each behaves there like the other elsewhere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks.kinship import Agreements, agreements, between
from imagenetv2.record.prediction_checks.line import MODELS, top1
from imagenetv2.record.sheets import Floats, Sheet

OVERWHELMING = 0.5
"""Two models are exchanged where each is less than half as far from the other as from itself …"""
CLEAR = 0.05
"""… and the four distances (logit units) fall by that in all; sound files of models that are nearly one rise by 0.01."""
SUSPICIOUS = 0.75
NEARER = 0.3
"""Relatives are exchanged where the four distances fall by that part of what models usually are from themselves, and
accuracy says so too. In the published study no sound pair's fall exceeds 0.02 of it."""
STRAIGHTER = 6.0
"""Accuracy says so where the sum of the two models' squared residuals from the line, in spreads, falls by that; sound
pairs stay below 5, and theirs do not fall by both."""
ALONE = 0.5
"""Where accuracy does not, a fall by that part of the usual distance is reported."""
MANY = 20
"""Models from which relatives are told apart so."""
UNLIKE = 2.5
"""Where it is not as clear, both must be farther from themselves than models usually are, by this factor: distances on
small sets are not exact."""


def exchanged(sheets: Sequence[Sheet], lists: Sequence[str], listings: Mapping[str, Listing]) -> list[Sheet]:
    """The sheets with models that are exchanged in one list put right, the clearest first.

    Two models count as exchanged in a list where against every other list each resembles the other far more than
    itself; relatives, which resemble each other anyway, where accuracy bears it out. Pairs for which that is not beyond
    doubt are reported, as they are with two lists only, since nobody can tell in which of them they are exchanged.
    Close relatives that are exchanged on the original images alone can go unseen: no other list holds one of these
    images, and both have the same relatives and the same accuracy. In the published study 15 of 2,211 pairs do, such
    as two depths of one network, 40 are reported and the others put right.
    """
    done = list(sheets)
    found = agreements(done, lists)
    known = {name: {m: p for m, (_, p) in top1(done, listings[name]).items()} for name in found}
    for _ in range(len(done)):
        clear = [e for e in _suspects(found, known) if e.overwhelming]
        if not clear:
            break
        best = max(clear, key=lambda e: (e.own - e.other, e.listing))
        done = [_exchange(s, best) for s in done]
        swap = {best.models[0]: best.models[1], best.models[1]: best.models[0]}
        names, shares = found[best.listing]
        found[best.listing] = ([swap.get(n, n) for n in names], shares)
        known[best.listing] = {swap.get(n, n): p for n, p in known[best.listing].items()}
    for one in _suspects(found, known):
        done = [_exchange(s, one) for s in done]
    return done


@dataclass(frozen=True)
class Exchange:
    """Two models that seem exchanged in a list; sums of distances of the two from themselves and from each other."""

    listing: str
    models: tuple[str, str]
    own: float
    other: float
    overwhelming: bool


Probits = Mapping[str, Mapping[str, float]]
"""Top-1 accuracy in probits, by list and model."""


def _suspects(found: Agreements, known: Probits) -> list[Exchange]:
    """Pairs of models that seem exchanged in a list against all others."""
    out = []
    for name in found:
        others = [other for other in found if other != name]
        tables = [between(found, name, other) for other in others]
        if tables and all(t is not None for t in tables):
            out += _pairs(name, [t for t in tables if t is not None], known, others)
    return out


def _pairs(
    listing: str, tables: Sequence[tuple[list[str], Floats]], known: Probits, others: Sequence[str]
) -> list[Exchange]:
    """Pairs that seem exchanged, the clearest first, each model once."""
    names = sorted(set.intersection(*(set(t[0]) for t in tables)))
    gains, owns, swaps, usual = [], [], [], []
    for models, table in tables:
        places = [models.index(n) for n in names]
        d = table[np.ix_(places, places)]
        owns.append(np.add.outer(np.diag(d), np.diag(d)))
        swaps.append(d + d.T)
        gains.append(owns[-1] - swaps[-1])
        usual.append(2 * float(np.median(np.diag(table))))
    gain, own, swap = np.min(gains, axis=0), np.mean(owns, axis=0), np.mean(swaps, axis=0)
    # With few models distances are not exact enough to tell relatives apart.
    nearer = gain / max(float(np.mean(usual)), 1e-9) if len(names) >= MANY else np.zeros_like(gain)
    fall = np.min(
        [straighter([known[o][n] for n in names], [known[listing][n] for n in names]) for o in others], axis=0
    )
    # Of relatives, such as three sizes of one model, those are exchanged whose exchange straightens the line most.
    most = (fall >= fall.max(axis=0)) & (fall >= fall.max(axis=1)[:, None])
    firm = most & (fall > STRAIGHTER)
    sure = (gain > CLEAR) & (swap < OVERWHELMING * own) & (fall > -STRAIGHTER)
    sure |= (nearer > NEARER) & firm
    doubtful = (gain > CLEAR / 2) & (swap < SUSPICIOUS * own) & (own > UNLIKE * np.mean(usual))
    doubtful |= (nearer > ALONE) & (fall > -STRAIGHTER)
    seem = np.triu(sure | doubtful, 1)
    found: list[Exchange] = []
    used: set[int] = set()
    for i, k in sorted(
        np.argwhere(seem).tolist(), key=lambda p: (not firm[p[0], p[1]], -gain[p[0], p[1]], p)
    ):
        if i not in used and k not in used:
            used |= {i, k}
            pair, clear = (names[i], names[k]), len(tables) > 1 and bool(sure[i, k])
            found.append(Exchange(listing, pair, float(own[i, k]), float(swap[i, k]), clear))
    return found


def straighter(old: Sequence[float], new: Sequence[float]) -> Floats:
    """By how much two models' squared residuals, in spreads, fall together where they are exchanged: models × models, 0 where unknown.

    Args:
        old, new: accuracies in probits, shape (models,).
    """
    x, y = np.array(old), np.array(new)
    if len(x) < MODELS or np.ptp(x) == 0:
        return np.zeros((len(x), len(x)))
    slope, offset = np.polyfit(x, y, 1)
    left = y[:, None] - offset - slope * x[None, :]
    left /= max(1.4826 * float(np.median(np.abs(np.diag(left)))), 1e-9)
    own = np.diag(left) ** 2
    found: Floats = own[:, None] + own[None, :] - left**2 - left.T**2
    return found


def _exchange(sheet: Sheet, found: Exchange) -> Sheet:
    """The sheet under the other model's name where that is sure; otherwise with a report."""
    if sheet.listing != found.listing or not sheet.usable or sheet.model not in found.models:
        return sheet
    one, two = found.models
    other = two if sheet.model == one else one
    detail = f"it behaves like {other} in the other lists"
    evidence = (
        f"by agreement with all models the distances of {one} and {two} from themselves in the other lists are "
        f"{found.own:.3f} together, from each other {found.other:.3f}"
    )
    if found.overwhelming:
        return sheet.corrected("models exchanged", detail, evidence, model=other)
    return sheet.fault("models exchanged", f"{detail}, but not beyond doubt; {evidence}")
