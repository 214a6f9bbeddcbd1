"""Counts the right images of the released record again: python -m imagenetv2.evaluation.names.from_record RECORD.

Rewrites ``published.csv`` beside this file; what is not counted stays as it is there.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from imagenetv2.evaluation.names.published import COLUMNS, COUNTS, FACTS, IMAGES, models
from imagenetv2.record import classes, predictions, source
from imagenetv2.record.ranks import rank
from imagenetv2.record.reader import Reader
from imagenetv2.record.settings import Record

if TYPE_CHECKING:
    import pandas as pd


def counts(path: Path) -> pd.DataFrame:
    """How many images each model has right, int64, columns ``COUNTS``, indexed by the model's name, sorted.

    Raises InputError where ``path`` is no record, ValueError where a model lacks a set or a set has other images.
    """
    import pandas as pd

    reader = Reader(source.read(path, "imagenetv2"))
    known = classes.read(reader)
    indices = dict(zip(known["wnid"], known["class_index"].astype(int), strict=True))
    found = predictions.imported(reader, indices, Record())
    columns = {}
    for name, images in IMAGES.items():
        mine = found.models[(found.models["set"] == name) & found.models["usable"]]
        truth = found.images.loc[found.images["set"] == name, "class_index"].to_numpy("int64")
        if len(truth) != images:
            raise ValueError(f"{name} has {len(truth)} images, not {images}")
        ranks = {
            m: rank(found.arrays[name][row], truth) for m, row in zip(mine["model"], mine["row"], strict=True)
        }
        for k in (1, 5):
            columns[f"{name}_top{k}"] = pd.Series({m: int((r < k).sum()) for m, r in ranks.items()})
    table = pd.DataFrame(columns, columns=list(COUNTS)).sort_index()
    if table.isna().any(axis=None):
        raise ValueError("a model has no usable predictions on some set")
    return table.astype("int64")


def text(path: Path) -> str:
    """``published.csv`` with counts of the record at ``path``."""
    facts = models()[list(FACTS)].set_index("name", drop=False)
    joined = facts.join(counts(path), how="outer", validate="one_to_one").sort_index()
    if joined.isna().any(axis=None):
        raise ValueError("published.csv and the record name other models")
    return joined[list(COLUMNS)].to_csv(index=False, lineterminator="\n")


if __name__ == "__main__":
    Path(__file__).with_name("published.csv").write_text(text(Path(sys.argv[1])), "utf-8")
