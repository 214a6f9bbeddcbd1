"""Accuracy of a model on a set, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from imagenetv2.intervals import clopper_pearson


@dataclass(frozen=True)
class Accuracy:
    """Share of images that are right, and the ends of its Clopper–Pearson interval."""

    images: int
    right: int
    share: float
    low: float
    high: float


def accuracy(ranks: npt.ArrayLike, k: int = 1, level: float = 0.95) -> Accuracy:
    """Top-k accuracy: an image is right where fewer than k classes come before the true one.

    Args:
        ranks: rank of the true class of each image, from 0, as predictions hold it.
        k: how many answers a model may give.
        level: level of the interval.

    Raises:
        ValueError: there are no images, or k is below 1.
    """
    if k < 1:
        raise ValueError(f"k must be at least 1, not {k}")
    return share(np.asarray(ranks, np.int64) < k, level)


def share(right: npt.ArrayLike, level: float = 0.95) -> Accuracy:
    """Accuracy where it is known of each image whether it is right.

    Args:
        right: bool, shape (images,).
        level: level of the interval.

    Raises:
        ValueError: there are no images.
    """
    values = np.asarray(right, np.bool_)
    if values.size == 0:
        raise ValueError("accuracy needs at least one image")
    count = int(np.count_nonzero(values))
    low, high = clopper_pearson(count, values.size, level)
    return Accuracy(values.size, count, count / values.size, float(low), float(high))
