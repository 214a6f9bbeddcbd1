"""How much the models' order changes from the original to a new set, with intervals over images."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.ranks import agreement
from imagenetv2.analysis.resamples import Resamples
from imagenetv2.analysis.results import ORDER
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.study import Study
from imagenetv2.pooling import threaded

Floats = npt.NDArray[np.float64]
Members = npt.NDArray[np.bool_]
MOST = 10_000
"""Bootstrap samples used: the first so many. Comparing all pairs of models in each is what takes time."""
BLOCK = 100
Correlations = dict[tuple[str, str], Floats]


def table(study: Study, images: Resamples, level: float, cores: int = 1) -> pd.DataFrame:
    """Correlations of the orders, with percentile intervals over images, and places moved (``results.ORDER``).

    Correlations are missing where all models are equal on a set; bootstrap samples where they are do not count. A
    resampled order is noisier than the observed one, so intervals lie low.

    Args:
        study: predictions on all sets.
        images: accuracies on bootstrap samples of images, of which the first ``MOST`` are used.
        level: of the intervals.
        cores: threads; the result does not depend on them.
    """
    groups = study.groups()
    resampled = correlations(study, groups, images, cores)
    rows: list[Row] = []
    for group, members in groups.items():
        names = [m for m, chosen in zip(study.models, members, strict=True) if chosen]
        for name in study.new:
            old, new = (study.right(s)[members].mean(axis=1) for s in (ORIGINAL, name))
            found = agreement(old, new, names)
            row: Row = {"set": name, "group": group, "models": len(names), **vars(found)}
            for place, statistic in enumerate(("kendall", "spearman")):
                values = resampled[name, group][:, place]
                values = values[np.isfinite(values)]
                some = getattr(found, statistic) is not None and values.size > 0
                low, high = interval(values, level) if some else (None, None)
                row |= {f"{statistic}_low": low, f"{statistic}_high": high}
            rows.append(row)
    return frame(rows, ORDER)


def correlations(
    study: Study, groups: Mapping[str, Members], images: Resamples, cores: int = 1
) -> Correlations:
    """By new set and group: Kendall's tau-b and Spearman's rho in each sample, float64, samples × 2."""
    samples = min(MOST, len(images.top1[ORIGINAL]))
    found = {(name, group): np.empty((samples, 2)) for name in study.new for group in groups}

    def block(start: int) -> None:
        rows = slice(start, min(samples, start + BLOCK))
        for group, members in groups.items():
            old = comparisons(images.top1[ORIGINAL][rows][:, members])
            for name in study.new:
                new = comparisons(images.top1[name][rows][:, members])
                found[name, group][rows] = np.stack([kendall(old, new), spearman(old, new)], axis=1)

    for _ in threaded(block, range(0, samples, BLOCK), cores):
        pass
    return found


def comparisons(scores: npt.NDArray[np.floating]) -> npt.NDArray[np.int8]:
    """Sign of each difference of two models: samples × models × models."""
    a, b = scores[:, :, None], scores[:, None, :]
    return np.subtract(a > b, a < b, dtype=np.int8)


def kendall(old: npt.NDArray[np.int8], new: npt.NDArray[np.int8]) -> Floats:
    """Kendall's tau-b (1945) of compared scores: agreeing less opposed pairs, over the geometric mean of untied ones."""
    return _ratio(_sum(old * new), _sum(old * old), _sum(new * new))


def spearman(old: npt.NDArray[np.int8], new: npt.NDArray[np.int8]) -> Floats:
    """Spearman's rho (1904) of compared scores: a model's rank, ties averaged, is half its sum of signs and a constant."""
    a, b = old.sum(axis=2, dtype=np.float64), new.sum(axis=2, dtype=np.float64)
    return _ratio((a * b).sum(axis=1), (a * a).sum(axis=1), (b * b).sum(axis=1))


def _sum(pairs: npt.NDArray[np.int8]) -> Floats:
    out: Floats = pairs.sum(axis=(1, 2), dtype=np.float64)
    return out


def _ratio(together: Floats, one: Floats, other: Floats) -> Floats:
    scale = np.sqrt(one * other)
    return np.divide(together, scale, out=np.full_like(scale, np.nan), where=scale > 0)
