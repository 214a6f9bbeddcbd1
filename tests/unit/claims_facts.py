"""Facts made up for tests of claims: a few models on small sets, and no other tables unless given."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.record.claims.claim import Missing
from imagenetv2.record.claims.facts import Facts

IMAGES = 200


def predictions(right: Mapping[str, int], images: int = IMAGES, second: int = 10) -> Predictions:
    """Models with so many images right, ``second`` more with the true class in second place."""
    ranks = np.full((len(right), images), 5, np.int64)
    for row, count in zip(ranks, right.values(), strict=True):
        row[:count] = 0
        row[count : count + second] = 1
    listed = pd.DataFrame(
        {
            "image_id": [f"{i:05d}" for i in range(images)],
            "wnid": [f"n{i % 10:08d}" for i in range(images)],
            "class_index": [i % 10 for i in range(images)],
        }
    )
    return Predictions(tuple(right), ranks, listed)


def facts(
    sets: Mapping[str, Mapping[str, int]],
    families: Mapping[str, str] | None = None,
    tables: Mapping[tuple[str, str], pd.DataFrame] | None = None,
) -> Facts:
    """Facts of models by set and how many images they have right; a model of no family is a network."""
    models = next(iter(sets.values()))
    known = dict(tables or {})

    def table(stage: str, name: str) -> pd.DataFrame:
        if (stage, name) not in known:
            raise Missing(f"There is no {stage}/{name}.")
        return known[stage, name]

    return Facts(
        {name: predictions(right) for name, right in sets.items()},
        {m: (families or {}).get(m, "Networks") for m in models},
        frozenset({"Fisher vectors", "Random features"}),
        table,
    )


OLD = {"a": 160, "b": 140, "c": 100, "fv_1": 60}
NEW = {"a": 140, "b": 118, "c": 76, "fv_1": 40}


def study(**changed: Mapping[str, int]) -> Facts:
    """Four models, one of them a Fisher-vector model, on the four sets of a record of ImageNetV2."""
    sets = {"original": OLD, "matched_frequency": NEW, "threshold": OLD, "top_images": OLD, **changed}
    return facts(sets, {"fv_1": "Fisher vectors"})
