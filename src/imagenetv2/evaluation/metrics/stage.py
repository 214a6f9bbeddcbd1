"""The stage ``metrics``: what predictions say beyond top-1, without a model and without images."""

from __future__ import annotations

import pandas as pd

from imagenetv2.evaluation.metrics.by_class import by_class
from imagenetv2.evaluation.metrics.subsets import subsets
from imagenetv2.evaluation.metrics.summary import summary
from imagenetv2.evaluation.settings import Metrics
from imagenetv2.evaluation.stages import SETS
from imagenetv2.job import Job
from imagenetv2.testsets import timm_tables

KEY = ["image_id", "wnid"]


def run(job: Job) -> None:
    """Write ``metrics.parquet`` and ``per_class.parquet``."""
    settings, wnids = job.settings(Metrics), job.read("classes").table("classes")["wnid"].tolist()
    groups = subsets(settings.subsets, settings.subset_files, wnids)
    files = _files(job) if wnids == list(timm_tables.imagenet_wnids()) else None
    whole, single = [], []
    for name in SETS:
        for model, artifact in job.reads(f"predictions/{name}").items():
            predictions = artifact.table("predictions")
            found = summary(
                predictions,
                settings.level,
                bin_images=settings.bin_images,
                bins=settings.bins,
                names=_names(predictions, files) if name == "original" and files is not None else None,
                subsets=groups,
            )
            whole.append(found.assign(set=name, model=model))
            single.append(by_class(predictions, settings.level).assign(set=name, model=model))
    job.out.table("metrics", pd.concat(whole, ignore_index=True))
    job.out.table("per_class", pd.concat(single, ignore_index=True))
    job.log.info("metrics: %d sets, %d models", len(SETS), len(whole) // len(SETS))


def _files(job: Job) -> pd.Series[str]:
    """The file that each validation image was read from, by image and class."""
    table = job.read("reference").table("reference")
    files: pd.Series[str] = table[table["split"] == "val"].set_index(KEY)["source_file"]
    return files


def _names(predictions: pd.DataFrame, files: pd.Series[str]) -> list[str]:
    return files.reindex(pd.MultiIndex.from_frame(predictions[KEY])).fillna("").tolist()
