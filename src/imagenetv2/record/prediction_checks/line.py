"""Models whose accuracy on one list is out of line with their accuracy on the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy.special import ndtr, ndtri

from imagenetv2.record.listings import Listing
from imagenetv2.record.sheets import Floats, Sheet, first, usable

MODELS = 8
SPREADS = 8.0
"""Robust standard deviations from the line; sound models of the published study stay below 5."""
LEAST = 0.1
"""Probits below which nothing is said, however well the others lie on the line: 4 points at an accuracy of a half."""


def top1(sheets: Sequence[Sheet], target: Listing) -> dict[str, tuple[float, float]]:
    """Top-1 accuracy of each usable sheet of a list by model, from 0 to 1, and the same in probits, never infinite."""
    ready = usable(sheets, target.name)
    if not ready:
        return {}
    right = (first(ready) == target.classes).sum(axis=1)
    probits = ndtri((right + 0.5) / (len(target.ids) + 1))
    return {
        s.model: (float(r) / len(target.ids), float(p)) for s, r, p in zip(ready, right, probits, strict=True)
    }


def out_of_line(
    sheets: Sequence[Sheet], listings: Mapping[str, Listing], lists: Sequence[str]
) -> list[Sheet]:
    """The sheets with a report where top-1 accuracy is far from what that model's accuracies on other lists foretell.

    The line is drawn in probits, in which those of weak and of strong models lie on one. Each other list has a line of
    its own, and most of them must say the same: a list on which the model went wrong speaks against sound ones too.
    """
    found = {name: top1(sheets, listings[name]) for name in lists}
    done = list(sheets)
    for name in lists:
        against: dict[str, list[tuple[float, float]]] = {}
        for other in lists:
            models = sorted(set(found[name]) & set(found[other]))
            if other == name or len(models) < MODELS:
                continue
            old, new = (np.array([found[n][m][1] for m in models]) for n in (other, name))
            for model, left, spread in zip(models, *residuals(old, new), strict=True):
                against.setdefault(model, []).append((float(left), float(spread)))
        for model, said in sorted(against.items()):
            out = [(left, spread) for left, spread in said if abs(left) > max(LEAST, SPREADS * spread)]
            if 2 * len(out) > len(said):
                left, spread = min(out, key=lambda pair: abs(pair[0]))
                detail = _detail(found[name][model][0], left, spread)
                done = [_reported(s, name, model, detail) for s in done]
    return done


def _detail(share: float, left: float, spread: float) -> str:
    away = 100 * (share - float(ndtr(ndtri(share) - left)))
    return (
        f"top-1 accuracy {100 * share:.1f} %, {away:+.1f} points from the line of the other models; that is "
        f"{abs(left) / max(spread, 1e-9):,.0f} times their spread"
    )


def _reported(sheet: Sheet, listing: str, model: str, detail: str) -> Sheet:
    if sheet.listing != listing or sheet.model != model or not sheet.usable:
        return sheet
    return sheet.fault("accuracy out of line", detail)


def residuals(old: Floats, new: Floats) -> tuple[Floats, Floats]:
    """Distance of each model from the least squares line through all others, and their robust spread about that line.

    Args:
        old, new: accuracies in probits, shape (models,).
    """
    left, spread = np.empty(len(old)), np.empty(len(old))
    for i in range(len(old)):
        x, y = np.delete(old, i), np.delete(new, i)
        centred = x - x.mean()
        squares = float(centred @ centred)
        slope = float(centred @ y) / squares if squares > 0 else 0.0
        left[i] = new[i] - y.mean() - slope * (old[i] - x.mean())
        spread[i] = 1.4826 * np.median(np.abs(y - y.mean() - slope * centred))
    return left, spread
