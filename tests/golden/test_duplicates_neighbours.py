"""Neighbours of a few fixed images, as they were when they were last looked at.

After an intended change: raise the stage's algorithm version, look at what differs, and correct the JSON file.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from imagenetv2.job import Job
from tests.unit.duplicates_inputs import Image, inputs

FILE = Path(__file__).parent / "duplicates_neighbours.json"
# Images have the sides that are asked for, so that nothing is resized and only the metrics are fixed here.
CONFIG = {
    "neighbours": {"l2": {"k": 3, "side": 32}, "fc7": {"k": 3, "side": 32}, "ssim": {"k": 3, "side": 32}},
    "duplicates": {"cutoffs": {"l2": 2e5, "fc7": 300.0, "ssim": 0.15}},  # none is known for these sides
}


def image(kind: str) -> Image:
    down, across = np.indices((32, 32))
    patterns = {
        "ramp": down * 8,
        "ramp_brighter": np.minimum(down * 8 + 5, 255),
        "ramp_turned": across * 8,
        "board": (down // 4 + across // 4) % 2 * 255,
        "board_grey": 60 + (down // 4 + across // 4) % 2 * 120,
        "disc": np.where((down - 16) ** 2 + (across - 16) ** 2 < 100, 220, 40),
        "flat": np.full((32, 32), 128),
    }
    grey = patterns[kind]
    return np.stack([grey, grey // 2 + 40, 255 - grey], axis=2).astype(np.uint8)


def found(make_job: Callable[..., Job], metric: str) -> pd.DataFrame:
    originals = [(n, "train", "n1", image(n)) for n in ("ramp", "board", "flat")]
    pool = [(n, "n1", image(n)) for n in ("ramp_brighter", "ramp_turned", "board_grey", "disc")]
    job = make_job(f"neighbours/{metric}", config=CONFIG, inputs=inputs(originals, pool, {"n1": []}))
    importlib.import_module(job.stage.run.partition(":")[0]).run(job)
    return pd.read_parquet(job.out.folder / "neighbours.parquet")


@pytest.mark.parametrize("metric", ["l2", "fc7", "ssim"])
def test_neighbours(make_job: Callable[..., Job], metric: str) -> None:
    rows = found(make_job, metric)
    wanted = pd.DataFrame(json.loads(FILE.read_text("utf-8"))[metric])
    keys = ["image_id", "rank", "neighbour_id", "origin"]
    assert rows[keys].to_dict("records") == wanted[keys].to_dict("records")
    # fc7 is a network's output and differs in its last digits between machines.
    tolerance = {"l2": 0.0, "fc7": 1e-4, "ssim": 1e-10}[metric]
    np.testing.assert_allclose(rows["distance"], wanted["distance"], rtol=tolerance, atol=tolerance)
