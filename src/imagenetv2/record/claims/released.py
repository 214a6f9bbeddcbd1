"""The record as released: what a reader would compute who corrects nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.record.npy import Unreadable, parse
from imagenetv2.record.ranks import rank
from imagenetv2.record.sheets import COLUMNS, Top5


def uncorrected(
    sets: Mapping[str, Predictions], models: pd.DataFrame, images: pd.DataFrame, read: Callable[[str], bytes]
) -> dict[str, Predictions]:
    """The same predictions, those of corrected files replaced by what stands in the files.

    Files whose values do not fit the list of images stay corrected: nobody could read them otherwise.

    Args:
        sets: predictions by set after correction.
        models: the table of ``record/predictions``: set, model, source_file, usable, action.
        images: the table of the same stage: set, row, image_id, wnid, class_index; rows are those of the files.
        read: bytes of a file of the record.
    """
    out = dict(sets)
    changed = models[models["usable"] & (models["action"] != "") & models["source_file"].str.endswith(".npy")]
    for row in changed.itertuples():
        predictions = out.get(str(row.set))
        if predictions is None or row.model not in predictions.models:
            continue
        listed = images[images["set"] == row.set].sort_values("row")
        ranks = _ranks(read(str(row.source_file)), listed["class_index"].to_numpy(np.int64))
        if ranks is not None:
            key = ["image_id", "wnid"]
            where = pd.MultiIndex.from_frame(listed[key]).get_indexer(
                pd.MultiIndex.from_frame(predictions.images[key])
            )
            every = predictions.ranks.copy()
            every[predictions.models.index(str(row.model))] = ranks[where]
            out[str(row.set)] = replace(predictions, ranks=every)
    return out


def _ranks(data: bytes, classes: npt.NDArray[np.int64]) -> npt.NDArray[np.int64] | None:
    """Column of the true class in each row; None where rows are not those of the images."""
    try:
        values = parse(data)
    except Unreadable:
        return None
    if values.ndim != 2 or len(values) != len(classes) or not values.shape[1]:
        return None
    # As released they may be of any number type; they are only compared.
    return rank(cast(Top5, values[:, :COLUMNS]), classes)
