"""A data folder with models and their predictions, for tests; run as a module it evaluates, as the command would."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2 import job as jobs
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.evaluation.batch import Batch, evaluate, prepare
from imagenetv2.evaluation.kinds.nearest_centroid import NearestCentroid
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.graph import stages
from imagenetv2.stages import Stage
from tests.conftest import FAKE_VERSION, write_artifact
from tests.unit.evaluation_sets import classes_table, reference

ENTRIES = [
    {"name": "centroid", "kind": "nearest_centroid", "side": 8},
    {"name": "fourier", "kind": "random_features", "side": 8, "components": 20},
    {"name": "larger", "kind": "nearest_centroid", "side": 12},
]


class World:
    """A data folder with trained models."""

    def __init__(self, data: Path, *, there: bool = False, **evaluation: Any) -> None:
        self.data = data
        config = Config.model_validate({"models": ENTRIES, "evaluation": evaluation})
        self.stages = stages(config)
        self.versions = dict.fromkeys(self.stages, FAKE_VERSION)
        if there:
            return
        write_artifact(data, self.stages["classes"], {"classes.parquet": classes_table()})
        write_artifact(data, self.stages["reference"], reference(4, 6))
        self.run(self.models)

    @property
    def models(self) -> list[Stage]:
        return [self.stages[f"models/{entry['name']}"] for entry in ENTRIES]

    @property
    def predictions(self) -> list[Stage]:
        return [self.stages[f"predictions/original/{entry['name']}"] for entry in ENTRIES]

    def run(self, wanted: list[Stage], force: bool = False, **options: Any) -> list[str]:
        many = Batch(self.versions, self.data, 1, force, options)
        return (prepare if wanted[0].name.startswith("models/") else evaluate)(wanted, many)

    def folder(self, stage: Stage) -> Path:
        return jobs.folder(self.data, stage.name, FAKE_VERSION)

    def tables(self) -> list[pd.DataFrame]:
        return self.tables_of(self.predictions)

    def tables_of(self, wanted: list[Stage]) -> list[pd.DataFrame]:
        return [pd.read_parquet(self.folder(stage) / "predictions.parquet") for stage in wanted]


def broken(self: NearestCentroid, batch: Any) -> Any:
    """In place of the outputs of a model."""
    return np.full((len(batch), 3), np.nan)


def main(data: Path, *options: str) -> int:
    """Evaluate all models, of which those that are nearest centroids may be ``broken``; prints images decoded."""
    found: list[int] = []
    plain = Pictures._pixels

    def counted(self: Pictures, index: int) -> Any:
        found.append(index)
        return plain(self, index)

    Pictures._pixels = counted  # type: ignore[method-assign]
    if "broken" in options:
        NearestCentroid.outputs = broken  # type: ignore[method-assign]
    world = World(data, there=True)
    try:
        world.run(world.predictions[:1] if "first" in options else world.predictions)
    except InputError as error:
        print(error)
        return 1
    finally:
        print(f"{len(found)} images were decoded.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), *sys.argv[2:]))
