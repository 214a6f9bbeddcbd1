"""A released study as the analysis takes it."""

from __future__ import annotations

from imagenetv2.analysis.settings import Sets
from imagenetv2.analysis.study import Study
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import ranks


def study(job: Job) -> Study:
    """Predictions of the models that are usable on every set. Raises InputError where there is none."""
    labels, record = job.settings(Sets).names, job.read("record/predictions")
    models = ranks.common(record)
    if not models:
        raise InputError(
            f"{record.folder}: no model has usable predictions on every set; faults.parquet there says why of each."
        )
    known = record.table("models").drop_duplicates("model").set_index("model")["family"]
    sets = {name: ranks.predictions(record, name) for name in labels}
    return Study(labels, sets, {m: str(known[m]) for m in models}, {})
