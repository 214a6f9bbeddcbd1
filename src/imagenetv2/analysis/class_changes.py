"""Which classes lose and gain on the new sets, from the accuracy of every model on every class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.intervals import newcombe

KEY = ["class_index", "wnid"]


def class_changes(per_class: pd.DataFrame, level: float) -> pd.DataFrame:
    """Change of each class's top-1 accuracy on each new set, averaged over models.

    Args:
        per_class: see ``evaluation.stages.PER_CLASS``; all models have the same images.
        level: of the intervals. They are Newcombe's, as if one model with the average accuracy had looked at the
            images: an average varies less, so they are rather too wide. They are not adjusted for the number of
            classes.

    Returns:
        ``set``, ``class_index``, ``wnid``, ``images`` and ``original`` (images in the new set and in the original),
        ``change``, ``low``, ``high``, and ``lower``, the number of ``models`` that lose; one row a new set and class that
        both sets have, sorted by set and class index.
    """
    old = per_class[per_class["set"] == ORIGINAL].drop(columns="set")
    new = per_class[per_class["set"] != ORIGINAL]
    both = new.merge(old, on=["model", *KEY], suffixes=("", "_old"))
    both["lower"] = both["share"] < both["share_old"]
    table = both.groupby(["set", *KEY], as_index=False).agg(
        images=("images", "first"),
        original=("images_old", "first"),
        models=("model", "size"),
        lower=("lower", "sum"),
        right=("right", "mean"),
        right_old=("right_old", "mean"),
    )
    right, images, right_old, original = (
        table[name].to_numpy(np.float64) for name in ("right", "images", "right_old", "original")
    )
    low, high = newcombe(right, images, right_old, original, level)
    table = table.drop(columns=["right", "right_old"])
    return table.assign(change=right / images - right_old / original, low=low, high=high)
