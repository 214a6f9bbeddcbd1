"""Imported predictions as the analysis takes them: ranks of the true class, the same models on every set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.record.lists import ORIGINAL, identified
from imagenetv2.record.sheets import COLUMNS, Ints, Top5

if TYPE_CHECKING:
    import pandas as pd


MISSING = "set missing"
UNFIT = "list does not fit its predictions"
"""Faults of a list whose set cannot be compared."""


def present(artifact: Artifact) -> set[str]:
    """Sets that any model has usable predictions on."""
    models = artifact.table("models")
    return set(models.loc[models["usable"], "set"])


def missing(artifact: Artifact, names: Iterable[str]) -> dict[str, str]:
    """Of the sets named those without usable predictions, and why there are none."""
    faults = artifact.table("faults")
    about = faults[faults["fault"].isin([MISSING, UNFIT])]
    why = {
        which[0]: f"{row.subject}: {row.detail}"
        for row in about.itertuples()
        if (which := identified(str(row.subject))) is not None
    }
    there = present(artifact)
    return {name: why.get(name, "no file for it is usable") for name in names if name not in there}


def common(artifact: Artifact) -> list[str]:
    """Names of the models that are usable in every set that has any, sorted.

    Raises InputError where there is none, or no model on the original images.
    """
    table = artifact.table("models")
    there = present(artifact)
    if ORIGINAL not in there:
        raise InputError(
            f"{artifact.folder} holds no usable predictions on the original images, without which nothing can be "
            "compared; see its faults.parquet."
        )
    everywhere = table[table["set"].isin(there)].groupby("model")["usable"].all()
    names = sorted(str(m) for m in everywhere.index[everywhere])
    if not names:
        raise InputError(
            f"{artifact.folder} holds no model with predictions on every set; see its faults.parquet."
        )
    return names


def left_out(artifact: Artifact) -> pd.DataFrame:
    """Models that some set lacks: ``model``, ``set`` and ``reason``, one row a model and set, sorted."""
    table = artifact.table("models")
    found = table.loc[~table["usable"], ["model", "set", "action"]].rename(columns={"action": "reason"})
    return found.sort_values(["model", "set"], ignore_index=True)


def predictions(artifact: Artifact, name: str) -> Predictions:
    """Ranks of the true class on one set, of the models that are usable in every set.

    Images are sorted by ``image_id`` and ``wnid``. Only the first five classes are known, in records of top-1
    predictions only the first: a rank of 5 means that the true class is not among those.
    """
    names = common(artifact)
    images, models = (artifact.table(t) for t in ("images", "models"))
    mine = images[images["set"] == name].sort_values(["image_id", "wnid"])
    rows = models[(models["set"] == name) & models["usable"]].set_index("model")["row"].astype("int64")
    top5 = np.load(artifact.path(f"{name}.npy"), mmap_mode="r")
    order = mine["row"].to_numpy()
    truth = mine["class_index"].to_numpy(np.int64)
    ranks = np.stack([rank(top5[rows[m]][order], truth) for m in names])
    return Predictions(tuple(names), ranks, mine[["image_id", "wnid", "class_index"]].reset_index(drop=True))


def rank(top5: Top5, truth: Ints) -> Ints:
    """Place of the true class among the predictions, from 0; their number where it is not among them.

    Args:
        top5: class indices, images × 5, -1 for no class.
        truth: class index of each image.
    """
    hit = top5 == truth[:, None]
    found: Ints = np.where(hit.any(axis=1), hit.argmax(axis=1), COLUMNS).astype(np.int64)
    return found
