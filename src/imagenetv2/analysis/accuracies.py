"""Accuracy of each model on each set, with exact intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.ranks import places
from imagenetv2.intervals import clopper_pearson

Ranks = npt.NDArray[np.int64]
ORIGINAL = "original"


@dataclass(frozen=True)
class Predictions:
    """Ranks of the true class: models × images, 0 is best; the images are the same for all models.

    ``images`` has ``image_id``, ``wnid`` and ``class_index`` of each, sorted by the first two.
    """

    models: tuple[str, ...]
    ranks: Ranks
    images: pd.DataFrame

    def top(self, k: int) -> npt.NDArray[np.bool_]:
        """Whether the true class is among the first ``k``: models × images."""
        return self.ranks < k


def stack(tables: Mapping[str, pd.DataFrame]) -> Predictions:
    """One matrix from a set's prediction tables by model.

    Raises:
        ValueError: the tables of two models do not hold the same images, or there is no image.
    """
    key = ["image_id", "wnid"]
    columns = [*key, "class_index"]
    images = next(iter(tables.values()))[columns].sort_values(key, ignore_index=True)
    first = images[key]
    rows = []
    for model, table in tables.items():
        ordered = table.sort_values(key, ignore_index=True)
        if not ordered[key].equals(first):
            raise ValueError(f"model {model} has predictions for other images than the first model")
        rows.append(ordered["rank"].to_numpy(np.int64))
    if first.empty:
        raise ValueError("there are no predictions")
    return Predictions(tuple(tables), np.stack(rows), images)


def accuracies(sets: Mapping[str, Predictions], families: Mapping[str, str], level: float) -> pd.DataFrame:
    """The table of accuracies (see ``stages.ACCURACIES``), sorted by model and set.

    Args:
        sets: predictions by set, of the same models in the same order; ``original`` is one of them.
        families: family of each model.
        level: of the Clopper–Pearson intervals.
    """
    original = sets[ORIGINAL]
    before = places(original.top(1).sum(axis=1), original.models)
    frames = []
    for name, predictions in sets.items():
        images = predictions.ranks.shape[1]
        right, right5 = predictions.top(1).sum(axis=1), predictions.top(5).sum(axis=1)
        low, high = clopper_pearson(right, images, level)
        low5, high5 = clopper_pearson(right5, images, level)
        place = places(right, predictions.models)
        frames.append(
            pd.DataFrame(
                {
                    "model": predictions.models,
                    "family": [families[m] for m in predictions.models],
                    "set": name,
                    "images": images,
                    "top1": right / images,
                    "top1_low": low,
                    "top1_high": high,
                    "top5": right5 / images,
                    "top5_low": low5,
                    "top5_high": high5,
                    "change": right / images - original.top(1).mean(axis=1),
                    "change_top5": right5 / images - original.top(5).mean(axis=1),
                    "rank": place,
                    "rank_change": before - place,
                }
            )
        )
    return pd.concat(frames).sort_values(["model", "set"], ignore_index=True)


def by_class(sets: Mapping[str, Predictions], frequencies: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The table of classes (see ``stages.BY_CLASS``).

    Args:
        sets: predictions by set.
        frequencies: by set, images with ``wnid`` and ``frequency``; of the original, those with enough votes. The
            frequencies of a set that is not there are missing.
    """
    frames = []
    for name, predictions in sets.items():
        right = predictions.images.assign(top1=predictions.top(1).mean(axis=0))
        grouped = right.groupby(["class_index", "wnid"], as_index=False)
        table = grouped.agg(images=("top1", "size"), top1=("top1", "mean"))
        observed: Mapping[Hashable, float] | pd.Series[float]
        observed = frequencies[name].groupby("wnid")["frequency"].mean() if name in frequencies else {}
        frames.append(table.assign(set=name, frequency=table["wnid"].map(observed).astype(np.float64)))
    return pd.concat(frames).sort_values(["class_index", "set"], ignore_index=True)
