"""A released study as the analysis takes it."""

from __future__ import annotations

from imagenetv2.analysis.settings import Sets
from imagenetv2.analysis.study import Study
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import ranks


def study(job: Job) -> Study:
    """Predictions of the models that are usable on every set that has any; sets without are left out.

    Raises InputError where there is no such model, nothing on the original images, or no other set.
    """
    record = job.read("record/predictions")
    models = ranks.common(record)
    missing = ranks.missing(record, job.settings(Sets).names)
    labels = {name: label for name, label in job.settings(Sets).names.items() if name not in missing}
    for name, why in missing.items():
        job.log.warning("analysis: without %s (%s)", name, why)
    if len(labels) < 2:
        raise InputError(
            f"{record.folder}: no new set has usable predictions; faults.parquet there says why of each."
        )
    known = record.table("models").drop_duplicates("model").set_index("model")["family"]
    sets = {name: ranks.predictions(record, name) for name in labels}
    return Study(labels, sets, {m: str(known[m]) for m in models}, {})
