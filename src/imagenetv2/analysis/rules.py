"""Each rule's set against the original: selection frequencies, true and observed, and change of accuracy."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL, Predictions
from imagenetv2.analysis.bootstrap import averages, interval
from imagenetv2.randomness import generator

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Scores:
    """What is known of a set, image by image.

    Attributes:
        predictions: of all models, over all images of the set.
        observed: selection frequencies, over the images with enough votes.
        true: true selection frequencies of the same images; None where nobody knows them.
    """

    predictions: Predictions
    observed: Floats
    true: Floats | None


def rules(sets: Mapping[str, Scores], level: float, samples: int, seed: int) -> pd.DataFrame:
    """The table of rules (see ``stages.RULE_SUMMARY``), sorted by set.

    Intervals are percentile bootstraps over images. The original and a new set are resampled independently;
    within one resample every model sees the same images, so that an average over models is an average over
    images of each image's share of right models.
    """
    original = _Resampled.of(ORIGINAL, sets[ORIGINAL], samples, seed)
    rows = []
    for name, scores in sets.items():
        this = original if name == ORIGINAL else _Resampled.of(name, scores, samples, seed)
        models, images = scores.predictions.ranks.shape
        change = _mean(this.right) - _mean(original.right)
        five = float(scores.predictions.top(5).mean() - sets[ORIGINAL].predictions.top(5).mean())
        row = {"set": name, "images": images, "annotated": scores.observed.size, "models": models}
        row |= _estimate("frequency", this.observed, level)
        row |= _estimate("true", this.true, level)
        row["true_frequency"] = row.pop("true")
        row |= _difference("observed_shift", this.observed, original.observed, level)
        row |= _difference("true_shift", this.true, original.true, level)
        low, high = interval(this.right[1] - original.right[1], level)
        row |= {"change_top1": change, "change_low": low, "change_high": high, "change_top5": five}
        rows.append(row)
    return pd.DataFrame(rows).sort_values("set", ignore_index=True)


Average = tuple[float, Floats]
"""An average and those of its bootstrap resamples."""


@dataclass(frozen=True)
class _Resampled:
    right: Average
    observed: Average | None
    true: Average | None

    @classmethod
    def of(cls, name: str, scores: Scores, samples: int, seed: int) -> _Resampled:
        right = scores.predictions.top(1).mean(axis=0)

        def resample(values: Floats | None, what: str) -> Average | None:
            if values is None or values.size == 0:
                return None
            drawn = averages(values, samples, generator(seed, "analysis", "rules", name, what))
            return float(values.mean()), drawn

        accuracy = resample(right, "accuracy")
        assert accuracy is not None
        return cls(accuracy, resample(scores.observed, "observed"), resample(scores.true, "true"))


def _mean(average: Average) -> float:
    return average[0]


def _estimate(name: str, average: Average | None, level: float) -> dict[str, float]:
    if average is None:
        return {name: np.nan, f"{name}_low": np.nan, f"{name}_high": np.nan}
    low, high = interval(average[1], level)
    return {name: average[0], f"{name}_low": low, f"{name}_high": high}


def _difference(name: str, new: Average | None, old: Average | None, level: float) -> dict[str, float]:
    if new is None or old is None:
        return _estimate(name, None, level)
    return _estimate(name, (new[0] - old[0], new[1] - old[1]), level)
