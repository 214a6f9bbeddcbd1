"""Accuracy on each class."""

from __future__ import annotations

import numpy as np
import pandas as pd

from imagenetv2.intervals import clopper_pearson


def by_class(predictions: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Top-1 accuracy on the images of each class, with its Clopper–Pearson interval.

    Args:
        predictions: with ``class_index``, ``wnid`` and ``rank``.
        level: of the intervals, each for its own class; they are not adjusted for the number of classes.

    Returns:
        ``class_index``, ``wnid``, ``images``, ``right``, ``share``, ``low``, ``high``, one row a class that has images,
        sorted by class index.
    """
    right = predictions[["class_index", "wnid"]].assign(right=predictions["rank"] == 0)
    table = right.groupby(["class_index", "wnid"])["right"].agg(["size", "sum"]).reset_index()
    table.columns = pd.Index(["class_index", "wnid", "images", "right"])
    # Few pairs of counts occur, and their intervals are what takes time.
    pairs, place = np.unique(table[["right", "images"]].to_numpy(np.int64), axis=0, return_inverse=True)
    low, high = clopper_pearson(pairs[:, 0], pairs[:, 1], level)
    place = place.ravel()
    return table.assign(share=table["right"] / table["images"], low=low[place], high=high[place])
