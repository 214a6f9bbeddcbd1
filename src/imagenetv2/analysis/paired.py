"""Comparisons of two models on the same images, for all pairs at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import resampled_sums
from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.multiplicity import holm, written
from imagenetv2.analysis.ranks import places
from imagenetv2.analysis.results import PAIRED
from imagenetv2.analysis.study import Study

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
BLOCK = 250
"""Pairs whose distributions are held at once."""


def paired(study: Study, level: float) -> pd.DataFrame:
    """The table ``results.PAIRED``: every pair of models on every set, sorted by set and names."""
    names = np.array(study.models, object)
    order = np.argsort(places(study.right(ORIGINAL).sum(axis=1), study.models))
    first, second = (order[i] for i in np.triu_indices(order.size, 1))
    frames = []
    for name in study.labels:
        right = study.right(name)
        only, other = discordant(right, first, second)
        low, high = interval(only, other, right.shape[1], level)
        chance = mcnemar(only, other)
        frames.append(
            pd.DataFrame(
                {
                    "set": name,
                    "model": names[first],
                    "other": names[second],
                    "only_model": only,
                    "only_other": other,
                    "difference": ((only - other) / right.shape[1]).round(12),
                    "difference_low": low.round(12),
                    "difference_high": high.round(12),
                    "p": written(chance),
                    "adjusted": written(holm(chance)),
                }
            )
        )
    found = pd.concat(frames, ignore_index=True)[[c.name for c in PAIRED.columns]]
    return found.sort_values(["set", "model", "other"], ignore_index=True)


def discordant(right: npt.NDArray[np.bool_], first: Ints, second: Ints) -> tuple[Ints, Ints]:
    """Images that only the first, and only the second model of each pair has right.

    Args:
        right: models × images.
        first, second: places of the models, shape (pairs,).
    """
    shares = right.astype(np.float32)
    # Sums of zeros and ones are exact in float32 up to 2**24 images; float64 beyond.
    both = shares @ shares.T if right.shape[1] < 2**24 else right.astype(np.float64) @ right.T
    each = right.sum(axis=1)
    common = np.rint(both[first, second]).astype(np.int64)
    return each[first] - common, each[second] - common


def mcnemar(only: npt.ArrayLike, other: npt.ArrayLike) -> Floats:
    """Exact two-sided test of McNemar (1947): of the images on which two models differ, each is better on half.

    Args:
        only, other: discordant counts, same shape.

    Returns:
        Twice the smaller tail of Binomial(only + other, 1/2), at most 1; 1 where the models never differ.
    """
    from scipy.special import bdtr

    b, c = np.asarray(only, np.int64), np.asarray(other, np.int64)
    out: Floats = np.minimum(1, 2 * np.asarray(bdtr(np.minimum(b, c), b + c, 0.5)))
    return out


def interval(only: Ints, other: Ints, images: int, level: float) -> tuple[Floats, Floats]:
    """Percentile bootstrap over images of the difference of two accuracies: (only − other) / images.

    A resample's difference depends on how many of its images are in each of three cells: only the one model
    right (+1), only the other (−1), the rest (0). Its distribution is computed instead of drawn.

    Args:
        only, other: discordant counts, int64, shape (pairs,).
        images: images of the set.
        level: of the interval.

    Returns:
        Its ends, float64, shape (pairs,): the smallest differences that (1 ∓ level) / 2 of resamples do not exceed.
    """
    low, high = np.empty(only.size), np.empty(only.size)
    shares = np.stack([other, images - only - other, only], axis=1) / images
    for start in range(0, only.size, BLOCK):
        rows = slice(start, start + BLOCK)
        sums = resampled_sums.of(shares[rows], -1, images)
        low[rows] = sums.quantile((1 - level) / 2) / images
        high[rows] = sums.quantile((1 + level) / 2) / images
    return low, high
