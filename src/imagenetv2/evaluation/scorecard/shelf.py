"""Finished predictions: one Parquet file a model and set, which says what made it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from imagenetv2.atomically import replacing
from imagenetv2.evaluation.running.ledger import Records
from imagenetv2.evaluation.running.sample import Difference
from imagenetv2.evaluation.scorecard.sets import Opened

METADATA = b"imagenetv2"


@dataclass(frozen=True)
class Made:
    """What made predictions.

    Attributes:
        key: names everything that they depend on, see ``entrants.key``.
        weights: SHA-256 of the network's state, in hex; None for one that has none.
        device: where the network ran.
        batch: images a forward pass.
        seconds: in forward passes.
        logits: whether all outputs are kept.
        difference: of a fast mode to mode reference; None in that mode, or where it fails there.
    """

    key: str
    weights: str | None
    device: str
    batch: int
    seconds: float
    logits: bool
    difference: Difference | None = None


def place(out: Path, of: Opened, model: str, mode: str) -> Path:
    """Where they lie; ``@`` is in no model's name."""
    return (
        out
        / "predictions"
        / of.name
        / (f"{model}.parquet" if mode == "reference" else f"{model}@{mode}.parquet")
    )


def made(path: Path) -> Made | None:
    """What made a file; None where it is not there, or not ours."""
    try:
        found = (pq.read_schema(path).metadata or {}).get(METADATA)
        return None if found is None else _of_json(json.loads(found))
    except (OSError, ValueError, TypeError, pa.ArrowInvalid):
        return None


def _of_json(value: Mapping[str, Any]) -> Made:
    difference = value.get("difference")
    return Made(**{**value, "difference": None if difference is None else Difference(**difference)})


def finished(path: Path, key: str, logits: bool) -> Made | None:
    """What made the file, where that is what is asked for and nothing is missing in it."""
    found = made(path)
    return found if found is not None and found.key == key and (found.logits or not logits) else None


def store(path: Path, records: Records, of: Opened, facts: Made) -> None:
    """Write records, in the order of the set."""
    columns: Mapping[str, Any] = {
        "image_id": pa.array(of.set.ids, pa.string()),
        "wnid": pa.array(
            np.asarray(of.set.wnids)[np.searchsorted(of.set.classes, of.set.labels)], pa.string()
        ),
        "class_index": pa.array(of.set.labels, pa.int64()),
        "rank": pa.array(records["rank"].astype(np.int64)),
        "top5": _rows(records["top5"].astype(np.int64)),
        "probability": pa.array(records["probability"]),
        "top_probability": pa.array(records["top_probability"]),
    }
    if facts.logits:
        columns = {**columns, "logits": _rows(records["logits"])}
    table = pa.table(columns).replace_schema_metadata({METADATA: json.dumps(asdict(facts)).encode()})
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        pq.write_table(table, file, compression="zstd")


def _rows(values: np.ndarray[Any, Any]) -> pa.Array:
    flat = pa.array(np.ascontiguousarray(values).reshape(-1))
    return pa.FixedSizeListArray.from_arrays(flat, values.shape[1])


def read(path: Path) -> pd.DataFrame:
    """Predictions without logits: the columns of ``evaluation.stages.PREDICTIONS``."""
    names = [name for name in pq.read_schema(path).names if name != "logits"]
    frame: pd.DataFrame = pq.read_table(path, columns=names).to_pandas()
    return frame


def right(path: Path) -> tuple[int, int]:
    """How many images are right, and how many there are."""
    ranks = pq.read_table(path, columns=["rank"])["rank"].to_numpy()
    return int((ranks == 0).sum()), len(ranks)
