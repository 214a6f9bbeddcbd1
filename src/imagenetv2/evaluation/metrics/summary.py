"""All metrics of one model on one set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
import pandas as pd

from imagenetv2.evaluation.metrics.accuracy import Accuracy, accuracy
from imagenetv2.evaluation.metrics.aurra import aurra
from imagenetv2.evaluation.metrics.calibration import (
    BIN_IMAGES,
    BINS,
    calibration_by_chance,
    expected_calibration_error,
    rms_calibration_error,
)
from imagenetv2.evaluation.metrics.estimate import Estimate
from imagenetv2.evaluation.metrics.likelihood import log_loss, mean_probability
from imagenetv2.evaluation.metrics.real import Integers, numbers, real_accuracy
from imagenetv2.evaluation.metrics.subsets import accuracy_on_images_of

COLUMNS = ("metric", "images", "value", "low", "high")


def summary(
    predictions: pd.DataFrame,
    level: float = 0.95,
    *,
    bin_images: int = BIN_IMAGES,
    bins: int = BINS,
    names: Sequence[str] | None = None,
    subsets: Mapping[str, Sequence[str]] | None = None,
) -> pd.DataFrame:
    """All metrics that a table of predictions allows; the order of its rows does not matter.

    Args:
        predictions: columns as in ``evaluation.stages.PREDICTIONS``.
        level: of the intervals.
        bin_images, bins: see ``calibration``.
        names: name of each row's file, where answers were among all of ImageNet's 1,000 classes: ReaL accuracy is
            there where they are all names of validation images.
        subsets: WordNet IDs of groups of classes by name; one of which the set has no image gives no row.

    Returns:
        ``metric``, ``images``, ``value``, ``low``, ``high``. The metrics: top1, top5, real_top1, real_top5,
        ``top1[images of NAME]`` and ``top5[images of NAME]`` (see ``subsets``), mean_probability, log_loss,
        rms_calibration_error, rms_calibration_error_by_chance, expected_calibration_error, aurra.
    """
    found = dict(_accuracies(predictions, level, names, subsets or {}))
    confidence = predictions["top_probability"].to_numpy(np.float64)
    right = predictions["rank"].to_numpy(np.int64) == 0
    probability = predictions["probability"].to_numpy(np.float64)
    found |= {
        "mean_probability": mean_probability(probability, level),
        "log_loss": log_loss(probability, level),
        "rms_calibration_error": Estimate(len(right), rms_calibration_error(confidence, right, bin_images)),
        "rms_calibration_error_by_chance": Estimate(
            len(right), calibration_by_chance(confidence, bin_images)
        ),
        "expected_calibration_error": Estimate(
            len(right), expected_calibration_error(confidence, right, bins)
        ),
        "aurra": aurra(confidence, right, level),
    }
    rows = [(name, one.images, one.value, one.low, one.high) for name, one in found.items()]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def _accuracies(
    predictions: pd.DataFrame,
    level: float,
    names: Sequence[str] | None,
    subsets: Mapping[str, Sequence[str]],
) -> Iterator[tuple[str, Estimate]]:
    ranks, wnids = predictions["rank"].to_numpy(np.int64), predictions["wnid"].tolist()
    images = None if names is None else numbers(names)
    for k in (1, 5):
        yield f"top{k}", _estimate(accuracy(ranks, k, level))
        if images is not None and (images > 0).all():
            yield f"real_top{k}", _estimate(real_accuracy(images, _answers(predictions), k, level))
        for name, classes in subsets.items():
            if set(classes) & set(wnids):
                found = accuracy_on_images_of(ranks, wnids, classes, k, level)
                yield f"top{k}[images of {name}]", _estimate(found)


def _answers(predictions: pd.DataFrame) -> Integers:
    return np.stack(predictions["top5"].to_list()).astype(np.int64)


def _estimate(found: Accuracy) -> Estimate:
    return Estimate(found.images, found.share, found.low, found.high)
