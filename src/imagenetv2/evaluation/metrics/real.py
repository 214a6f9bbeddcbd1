"""ReaL accuracy: against all labels that people found right for ImageNet's validation images."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.metrics.accuracy import Accuracy, share
from imagenetv2.testsets import timm_tables
from imagenetv2.testsets.names import validation_number

Integers = npt.NDArray[np.int64]
IMAGES = 50_000
NOTHING = -1
UNUSED = -2


def numbers(names: Sequence[str]) -> Integers:
    """Number of each validation image, from 1 to 50,000, by its file's name; −1 for any other name.

    Args:
        names: files, maybe in folders, such as ``val/n01440764/ILSVRC2012_val_00000293.JPEG``.
    """
    found = np.full(len(names), NOTHING, np.int64)
    for i, name in enumerate(names):
        number = validation_number(name)
        if number is not None and 1 <= number <= IMAGES:
            found[i] = number
    return found


def real_accuracy(images: npt.ArrayLike, top5: npt.ArrayLike, k: int = 1, level: float = 0.95) -> Accuracy:
    """Top-k ReaL accuracy: an image is right where one of the first k answers is among its labels.

    Images for which no label was found right are left out (Beyer et al., Are we done with ImageNet?, 2020);
    ``images`` of the result says how many are left. Only for answers among all of ImageNet's 1,000 classes.

    Args:
        images: number of each validation image, see ``numbers``.
        top5: ImageNet's class indices of the first answers, best first: images × at least k.
        k: how many answers a model may give.
        level: of the Clopper–Pearson interval.

    Raises:
        ValueError: an image is no validation image, there are fewer than k answers, or no image has a label.
    """
    which, answers = np.asarray(images, np.int64), np.asarray(top5, np.int64)
    if ((which < 1) | (which > IMAGES)).any():
        raise ValueError("ReaL labels are known for validation images only")
    if not 1 <= k <= answers.shape[1]:
        raise ValueError(f"k must lie between 1 and {answers.shape[1]}, not {k}")
    labels = real_labels()[which - 1]
    known = labels[:, 0] != UNUSED
    right = (answers[known, :k, None] == labels[known, None, :]).any(axis=(1, 2))
    return share(right, level)


@cache
def real_labels() -> Integers:
    """Class indices that are right for each validation image, filled up with −2: int64, shape (50000, most labels)."""
    lists = timm_tables.real_labels()
    labels = np.full((len(lists), max(map(len, lists))), UNUSED, np.int64)
    for row, found in zip(labels, lists, strict=True):
        row[: len(found)] = found
    labels.flags.writeable = False
    return labels
