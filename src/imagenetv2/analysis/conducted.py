"""A study that was run here as the analysis takes it."""

from __future__ import annotations

from imagenetv2.analysis.accuracies import ORIGINAL, Predictions, stack
from imagenetv2.analysis.settings import Families, Sets
from imagenetv2.analysis.sources import Sources, annotated
from imagenetv2.analysis.study import Study
from imagenetv2.errors import InputError
from imagenetv2.job import Job


def study(job: Job, tables: Sources, minimum_votes: int) -> Study:
    """Predictions of all models and the votes on the images. Raises InputError for predictions on other images."""
    labels = job.settings(Sets).names
    return Study(
        labels,
        {name: _predictions(job, name) for name in labels},
        job.settings(Families).names,
        {ORIGINAL: annotated(tables.frequencies, minimum_votes), **tables.images},
    )


def _predictions(job: Job, name: str) -> Predictions:
    found = job.reads(f"predictions/{name}")
    try:
        return stack({model: artifact.table("predictions") for model, artifact in found.items()})
    except ValueError as error:
        raise InputError(
            f"{job.data / 'predictions' / name}: {error}; delete that folder and run snakemake."
        ) from error
