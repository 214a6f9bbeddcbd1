"""What each metric, and all together, find of a labelled set: at given cut-offs, at the best, and by kind of copy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.duplicates.engine import Values
from imagenetv2.duplicates.labelled.curves import Counts, Curve, counts, curve
from imagenetv2.duplicates.labelled.labels import Labelled
from imagenetv2.intervals import clopper_pearson

ANY = "any"
"""All metrics together: what review sees, a pair that any of them finds."""
ALL, ORIGINALS = "all", "with an original"
"""Which pairs are counted: all, or those of which one image is an original."""
GIVEN, BEST, PRECISE = "given", "best F1", "precise"
"""Cut-offs: given beforehand; with the best F1; the largest with the wanted precision. The last two are chosen on the
same pairs that they are judged by, so they flatter themselves."""

Cutoffs = Mapping[str, float]
"""By metric; not a number where it has none."""


@dataclass(frozen=True)
class Measured:
    """A labelled set and the distance of each of its pairs, by metric."""

    labelled: Labelled
    distances: Mapping[str, Values]

    def pairs(self) -> dict[str, npt.NDArray[np.bool_]]:
        """Which pairs count, by name: those with an original, where there are such of both kinds, and all."""
        known, right = self.labelled.with_original, self.labelled.duplicate
        every = {ALL: np.ones(len(right), dtype=bool)}
        if known is None or not (known & right).any() or not (known & ~right).any():
            return every
        return {ORIGINALS: known, **every}

    def curves(self, which: npt.NDArray[np.bool_]) -> dict[str, Curve]:
        """The curve of each metric over some of the pairs."""
        right = self.labelled.duplicate[which]
        return {metric: curve(distance[which], right) for metric, distance in self.distances.items()}

    def found(self, cutoffs: Cutoffs) -> dict[str, npt.NDArray[np.bool_]]:
        """Which pairs each metric finds, and which any does; without a cut-off none are found."""
        each = {metric: distance <= cutoffs[metric] for metric, distance in self.distances.items()}
        return {**each, ANY: np.any(list(each.values()), axis=0)}


def choices(curves: Mapping[str, Curve], given: Cutoffs, precision: float) -> dict[str, dict[str, float]]:
    """The cut-offs of each metric, by how they are chosen."""
    return {
        GIVEN: {metric: given[metric] for metric in curves},
        BEST: {metric: one.best() for metric, one in curves.items()},
        PRECISE: {metric: one.largest(precision) for metric, one in curves.items()},
    }


def summary(measured: Measured, given: Cutoffs, precision: float) -> pd.DataFrame:
    """One row a choice of pairs, a choice of cut-offs and a metric, the last being ``any``.

    Columns: pairs, choice, metric, cutoff, duplicates, different, found, false, alone (near-duplicates that no other
    metric finds), precision, recall, f1, false_per_1000 (different pairs found, of 1,000), average_precision; for
    precision, recall and false_per_1000 also ``_low`` and ``_high``, Clopper–Pearson intervals at 95 %. Pairs share
    images, so that these are too narrow. All of these are not numbers where there is no cut-off: of a metric, or for
    ``any`` of none of them.
    """
    rows = []
    for pairs, which in measured.pairs().items():
        curves = measured.curves(which)
        for choice, cutoffs in choices(curves, given, precision).items():
            rows += [
                {"pairs": pairs, "choice": choice, **row} for row in _rows(measured, which, cutoffs, curves)
            ]
    return pd.DataFrame(rows)


def _rows(
    measured: Measured, which: npt.NDArray[np.bool_], cutoffs: Cutoffs, curves: Mapping[str, Curve]
) -> Iterator[dict[str, Any]]:
    right = measured.labelled.duplicate[which]
    found = {metric: some[which] for metric, some in measured.found(cutoffs).items()}
    times = np.sum([found[metric] for metric in curves], axis=0)
    for metric, some in found.items():
        of, known = counts(some, right), has_cutoff(metric, cutoffs)
        yield {
            "metric": metric,
            "cutoff": cutoffs.get(metric, np.nan),
            "duplicates": of.duplicates,
            "different": of.different,
            "found": of.found,
            "false": of.false,
            "alone": int((some & right & (times == 1)).sum()) if metric != ANY else 0,
            **{name: value if known else np.nan for name, value in _shares(of).items()},
            "average_precision": curves[metric].average_precision if metric in curves else np.nan,
        }


def has_cutoff(metric: str, cutoffs: Cutoffs) -> bool:
    """Whether a metric can find anything; all together can where one can."""
    return bool(np.isfinite([*cutoffs.values()] if metric == ANY else cutoffs[metric]).any())


def _shares(of: Counts) -> dict[str, float]:
    known = {
        "precision": (of.found, of.found + of.false, 1),
        "recall": (of.found, of.duplicates, 1),
        "false_per_1000": (of.false, of.different, 1000),
    }
    out = {"f1": of.f1}
    for name, (successes, trials, scale) in known.items():
        low, high = clopper_pearson(successes, trials)
        out[name] = scale * successes / trials if trials else np.nan
        out[f"{name}_low"], out[f"{name}_high"] = scale * float(low), scale * float(high)
    return out


def kinds(measured: Measured, given: Cutoffs, precision: float) -> pd.DataFrame:
    """What each metric still finds of each kind of copy at each strength; no rows where the set names no kinds.

    Columns: kind, strength, metric, choice, cutoff, copies (pairs of a copy with its original), found, distance
    (median). The choices of cut-offs are those over pairs with an original where these are known; a metric without a
    cut-off has no rows.
    """
    labelled = measured.labelled
    curves = measured.curves(next(iter(measured.pairs().values())))
    copies: dict[tuple[str, str], list[int]] = {}
    for place in np.flatnonzero(labelled.kind != ""):
        copies.setdefault((labelled.kind[place], labelled.strength[place]), []).append(int(place))
    rows = []
    for (kind, strength), some in sorted(copies.items(), key=lambda item: (item[0][0], _order(item[0][1]))):
        for choice, cutoffs in choices(curves, given, precision).items():
            for metric, found in measured.found(cutoffs).items():
                if not has_cutoff(metric, cutoffs):
                    continue
                rows.append(
                    {
                        "kind": kind,
                        "strength": strength,
                        "metric": metric,
                        "choice": choice,
                        "cutoff": cutoffs.get(metric, np.nan),
                        "copies": len(some),
                        "found": int(found[some].sum()),
                        "distance": np.median(measured.distances[metric][some]) if metric != ANY else np.nan,
                    }
                )
    return pd.DataFrame(rows, columns=KINDS)


KINDS = ["kind", "strength", "metric", "choice", "cutoff", "copies", "found", "distance"]


def _order(strength: str) -> tuple[int, float, str]:
    """Numbers by size, words after them."""
    try:
        return 0, float(strength), strength
    except ValueError:
        return 1, 0.0, strength


def pairs(measured: Measured) -> pd.DataFrame:
    """Every pair: image, other, duplicate (1 or 0), kind, strength, and its distance under each metric."""
    labelled = measured.labelled
    names = np.array(labelled.names, dtype=object)
    return pd.DataFrame(
        {
            "image": names[labelled.row],
            "other": names[labelled.column],
            "duplicate": labelled.duplicate.astype(int),
            "kind": labelled.kind,
            "strength": labelled.strength,
            **measured.distances,
        }
    ).sort_values(["image", "other"], ignore_index=True)
