"""Models that are exchanged in one list: each behaves there like the other elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imagenetv2.record.prediction_checks.kinship import Agreements, agreements, between
from imagenetv2.record.sheets import Floats, Sheet

OVERWHELMING = 0.5
"""Two models are exchanged where each is less than half as far from the other as from itself …"""
CLEAR = 0.05
"""… and the four distances (logit units) fall by that in all; sound files of models that are nearly one rise by 0.01."""
SUSPICIOUS = 0.75
UNLIKE = 2.5
"""Where it is not as clear, both must be farther from themselves than models usually are, by this factor: distances on
small sets are not exact."""


def exchanged(sheets: Sequence[Sheet], lists: Sequence[str]) -> list[Sheet]:
    """The sheets with models that are exchanged in one list put right, the clearest first.

    Two models count as exchanged in a list where against every other list each resembles the other far more than
    itself. Pairs for which that is not beyond doubt are reported, as they are with two lists only, since nobody can
    tell in which of them they are exchanged.
    """
    done = list(sheets)
    found = agreements(done, lists)
    for _ in range(len(done)):
        clear = [e for e in _suspects(found) if e.overwhelming]
        if not clear:
            break
        best = max(clear, key=lambda e: (e.own - e.other, e.listing))
        done = [_exchange(s, best) for s in done]
        swap = {best.models[0]: best.models[1], best.models[1]: best.models[0]}
        names, shares = found[best.listing]
        found[best.listing] = ([swap.get(n, n) for n in names], shares)
    for one in _suspects(found):
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


def _suspects(found: Agreements) -> list[Exchange]:
    """Pairs of models that seem exchanged in a list against all others."""
    out = []
    for name in found:
        tables = [between(found, name, other) for other in found if other != name]
        if tables and all(t is not None for t in tables):
            out += _pairs(name, [t for t in tables if t is not None])
    return out


def _pairs(listing: str, tables: Sequence[tuple[list[str], Floats]]) -> list[Exchange]:
    """Pairs that seem exchanged, the clearest first, each model once."""
    names = sorted(set.intersection(*(set(t[0]) for t in tables)))
    gains, owns, swaps, usual = [], [], [], []
    for known, table in tables:
        places = [known.index(n) for n in names]
        d = table[np.ix_(places, places)]
        owns.append(np.add.outer(np.diag(d), np.diag(d)))
        swaps.append(d + d.T)
        gains.append(owns[-1] - swaps[-1])
        usual.append(2 * float(np.median(np.diag(table))))
    gain, own, swap = np.min(gains, axis=0), np.mean(owns, axis=0), np.mean(swaps, axis=0)
    sure = (gain > CLEAR) & (swap < OVERWHELMING * own)
    doubtful = (gain > CLEAR / 2) & (swap < SUSPICIOUS * own) & (own > UNLIKE * np.mean(usual))
    seem = np.triu(sure | doubtful, 1)
    found: list[Exchange] = []
    used: set[int] = set()
    for i, k in sorted(np.argwhere(seem).tolist(), key=lambda p: (-gain[p[0], p[1]], p)):
        if i not in used and k not in used:
            used |= {i, k}
            found.append(
                Exchange(
                    listing,
                    (names[i], names[k]),
                    float(own[i, k]),
                    float(swap[i, k]),
                    len(tables) > 1 and bool(sure[i, k]),
                )
            )
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
