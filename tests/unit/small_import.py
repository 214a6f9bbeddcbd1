"""An import of the small record of predictions, and what tests ask of one."""

from __future__ import annotations

from collections.abc import Set
from pathlib import Path

import numpy as np
import pandas as pd

from imagenetv2.record import predictions, source
from imagenetv2.record.faults import table
from imagenetv2.record.reader import Reader
from imagenetv2.record.settings import Record
from tests.unit import small_record as small
from tests.unit.small_record import LISTS, MODELS

NEW, ORIGINAL = LISTS["matched_frequency"], LISTS["original"]


class Found:
    """An import of a record: its tables, and one model's predictions with the images sorted by id."""

    def __init__(self, path: Path) -> None:
        reader = Reader(source.read(path, "imagenetv2"))
        found = predictions.imported(reader, small.INDEX, Record(path=path))
        self.arrays, self.models, self.images, self.earlier = (
            found.arrays,
            found.models,
            found.images,
            found.earlier,
        )
        self.faults = table(reader.faults)
        self.order = {
            s: np.argsort(part["image_id"].to_numpy(str), kind="stable")
            for s, part in self.images.groupby("set")
        }
        rows = self.models.set_index(["set", "model"])["row"]
        self.rows = {key: None if pd.isna(row) else int(row) for key, row in rows.items()}

    def of(self, name: str, model: str) -> np.ndarray | None:
        """None where it is not usable."""
        row = self.rows[name, model]
        return None if row is None else self.arrays[name][row][self.order[name]]


def faults(found: Found) -> set[tuple[str, str, str, str]]:
    """File without folder, subject, kind and action of every fault."""
    rows = found.faults
    short = [f.removeprefix("data/").removeprefix("predictions/") for f in rows["file"]]
    return set(zip(short, rows["subject"], rows["fault"], rows["action"], strict=True))


def same(found: Found, other: Found, but: Set[tuple[str, str]] = frozenset()) -> None:
    """Both hold the same predictions of the same models, apart from those named by set and model."""
    for name in LISTS:
        for model in MODELS:
            if (name, model) not in but:
                one, two = found.of(name, model), other.of(name, model)
                assert one is not None and two is not None
                np.testing.assert_array_equal(one, two, err_msg=f"{model} on {name}")
