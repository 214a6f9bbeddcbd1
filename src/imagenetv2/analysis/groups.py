"""Averages of accuracies over groups of models."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import resampled_sums
from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.results import GROUPS
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.study import Study
from imagenetv2.randomness import generator

Average = tuple[float, npt.NDArray[np.float64]]
"""An average and those of its bootstrap resamples."""


def groups(study: Study, level: float, samples: int, seed: int) -> pd.DataFrame:
    """The table ``results.GROUPS``, sorted by set and group.

    Within a resample of a set's images every model sees the same ones, so an average over models is an average
    over images of each image's share of right models. The original and a new set are resampled independently.
    """
    rows: list[Row] = []
    for group, member in study.groups().items():
        old = _averages(study, ORIGINAL, group, member, samples, seed)
        for name in study.labels:
            new = old if name == ORIGINAL else _averages(study, name, group, member, samples, seed)
            row: Row = {"set": name, "group": group, "models": int(member.sum())}
            for accuracy, change in (("top1", "change"), ("top5", "change_top5")):
                (was, before), (now, after) = old[accuracy], new[accuracy]
                row |= _estimate(accuracy, now, after, level) | _estimate(
                    change, now - was, after - before, level
                )
            rows.append(row)
    return frame(rows, GROUPS)


def _averages(
    study: Study, name: str, group: str, member: npt.NDArray[np.bool_], samples: int, seed: int
) -> dict[str, Average]:
    out = {}
    for accuracy, k in (("top1", 1), ("top5", 5)):
        counts = study.sets[name].top(k)[member].sum(axis=0)
        cells = counts.size * int(member.sum())
        rng = generator(seed, "analysis", "groups", name, group, accuracy)
        drawn = resampled_sums.of_counts(counts, counts.size).draw(samples, rng)[0]
        out[accuracy] = float(counts.sum() / cells), drawn / cells
    return out


def _estimate(name: str, value: float, drawn: npt.NDArray[np.float64], level: float) -> dict[str, float]:
    low, high = interval(drawn, level)
    return {name: value, f"{name}_low": low, f"{name}_high": high}
