"""The stage ``predictions/<set>/<model>``: what a model says of each image of a set."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.artifacts import MANIFEST, Artifact
from imagenetv2.errors import InputError
from imagenetv2.evaluation.models import digest, facts_of, folders, runnable
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.evaluation.running.devices import device_name, devices
from imagenetv2.evaluation.running.ledger import Ledger, Records, record_type
from imagenetv2.evaluation.running.runner import run as run_tasks
from imagenetv2.evaluation.running.sample import Difference, differences
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Task
from imagenetv2.evaluation.settings import Evaluation, Mode, Model
from imagenetv2.evaluation.stages import SETS
from imagenetv2.job import Job, folder
from imagenetv2.libraries import NUMERICAL, versions_of
from imagenetv2.sampling.frozen import require_frozen
from imagenetv2.versions import digest_file

ORIGINAL = "original"
KEY = ["image_id", "wnid"]
PRECISION: Mapping[Mode, str] = {"reference": "float32", "bf16": "bfloat16", "fp16": "float16"}


@dataclass(frozen=True)
class Opened:
    """A set that may be evaluated.

    Attributes:
        labels: image_id, wnid and class_index of each image, sorted by key.
        images: the same, for a run.
    """

    labels: pd.DataFrame
    images: LabelledImages


class Opener:
    """Opens the sets of jobs, each once, so that models share their images."""

    def __init__(self) -> None:
        self._known: dict[tuple[Path, ...], Opened] = {}

    def __call__(self, job: Job) -> Opened:
        """The set of a job. Raises InputError where it is not frozen, not whole, or empty."""
        sources = tuple(job.read(read).folder for read in job.stage.reads if not read.startswith("models/"))
        if sources not in self._known:
            self._known[sources] = opened(job, job.stage.name.split("/")[1])
        return self._known[sources]


@dataclass(frozen=True)
class Work:
    """What a job has to do.

    Attributes:
        task: to be run.
        labels: of the set, see ``Opened``.
        weights: digest of the model's weights.
    """

    task: Task
    labels: pd.DataFrame
    weights: str | None


def run(job: Job) -> None:
    """Write ``predictions.parquet`` and what goes with it; finished records in ``job.work`` are not made again.

    A set that is not frozen is refused before anything is decoded.
    """
    work, how = work_of(job, Opener()), resources(job)
    if failures := run_tasks([work.task], how, job.log):
        raise failures[work.task.model.name]
    difference = None if how.mode == "reference" else differences([work.task], how, job.log)[0]
    write(job, work, how, difference)


def write(job: Job, work: Work, how: Resources, difference: Difference | None) -> None:
    """Write the files of a job whose ledger is full."""
    ledger = Ledger(work.task.ledger, record_type(len(work.task.columns), how.logits))
    records = ledger.read()
    found = table(work.labels, records)
    job.out.table("predictions", found)
    job.out.json("evaluated.json", evaluated(how, difference, work.weights, ledger.batch))
    if how.logits:
        np.save(job.out.path("logits.npy"), records["logits"])
    job.log.info("%s: %d of %d right", job.stage.name, int((found["rank"] == 0).sum()), len(found))


def work_of(job: Job, opener: Opener) -> Work:
    """What a job of a stage ``predictions/<set>/<model>`` has to do.

    Raises:
        InputError: the set is not frozen, or is not whole; or other predictions are by other weights.
    """
    model = job.settings(Model)
    artifact = job.read(f"models/{model.name}")
    facts, of = facts_of(artifact), opener(job)
    require_same_weights(job, own=False)
    task = Task(
        runnable(model, artifact),
        of.images,
        np.asarray(facts["columns"], np.int64),
        int(facts["outputs"]),
        job.work / ledger_name(artifact, devices(job.settings(Evaluation).device)[0]),
    )
    return Work(task, of.labels, digest(facts))


def ledger_name(artifact: Artifact, device: str) -> str:
    """Names the records of a model on a device: those of another model, device or library are not gone on with."""
    libraries = versions_of((*NUMERICAL, facts_of(artifact)["library"]))
    text = json.dumps(
        [digest_file(artifact.path("model.json")), device_name(device), libraries], sort_keys=True
    )
    return f"{hashlib.sha256(text.encode()).hexdigest()[:16]}.records"


def require_same_weights(job: Job, *, own: bool = True) -> None:
    """Raise InputError where finished predictions of the job's model, on any set, are by other weights.

    Versions do not tell weights that a library fetched apart. ``own`` looks at the job's own predictions, too.
    """
    model = job.settings(Model).name
    artifact = job.read(f"models/{model}")
    weights = digest(facts_of(artifact))
    for name in SETS:
        stage = f"predictions/{name}/{model}"
        found = Artifact(folder(job.data, stage, job.versions[stage]))
        if not (found.folder / MANIFEST).exists() or (stage == job.stage.name and not own):
            continue
        if found.json("evaluated.json").get("weights") != weights:
            raise InputError(
                f"models: {model}: {found.folder} was predicted with other weights than those that {artifact.folder} "
                f"names; remove {folders(artifact, model)}."
            )


def resources(job: Job) -> Resources:
    """What a job may use. Raises InputError where there is no such device."""
    settings = job.settings(Evaluation)
    return Resources(
        devices(settings.device),
        job.cores,
        memory=int(settings.memory * 1e9),
        batch=settings.batch,
        mode=settings.mode,
        compile=settings.compile,
        logits=settings.logits,
    )


def opened(job: Job, name: str) -> Opened:
    """The set of that name. Raises InputError where it is not frozen, not whole, or empty."""
    if name == ORIGINAL:
        source = job.read("reference")
        rows = source.table("reference")
        rows = rows[rows["split"] == "val"]
    else:
        dataset, source = job.read(f"datasets/{name}"), job.read("candidates")
        require_frozen(dataset)
        pool = source.table("candidates")[[*KEY, "file"]]
        rows = dataset.table("images").merge(pool, on=KEY, how="left", validate="one_to_one")
        lost = rows.loc[rows["file"].isna(), "image_id"]
        if len(lost):
            raise InputError(
                f"{dataset.folder}: image {lost.iloc[0]} is not among the candidates; delete the folder and run "
                "snakemake."
            )
    if rows.empty:
        raise InputError(
            f"the set {name} holds no images, so nothing can be evaluated; see its tables for why."
        )
    rows = rows.sort_values(KEY, ignore_index=True)
    classes = job.read("classes").table("classes")["class_index"].to_numpy(np.int64)
    true = np.searchsorted(classes, rows["class_index"].to_numpy(np.int64))
    pixels = Pictures(source.path("images.zip"), rows["file"].tolist())
    images = LabelledImages(name, rows["image_id"].tolist(), true, classes, pixels)
    return Opened(rows[[*KEY, "class_index"]], images)


def table(labels: pd.DataFrame, records: Records) -> pd.DataFrame:
    """The table of predictions, from the records of all images in the order of ``labels``.

    Raises ValueError where there are more or fewer of them.
    """
    if len(records) != len(labels):
        raise ValueError(f"there are records of {len(records)} images, not of {len(labels)}")
    found = labels.assign(
        rank=records["rank"].astype(np.int64),
        probability=records["probability"],
        top_probability=records["top_probability"],
    )
    # Fewer than five where there are fewer classes.
    found["top5"] = [[index for index in row if index >= 0] for row in records["top5"].tolist()]
    return found


def evaluated(
    how: Resources, difference: Difference | None, weights: str | None, batch: int | None
) -> dict[str, Any]:
    """How predictions were made, for ``evaluated.json``."""
    device = how.devices[0]
    return {
        "mode": how.mode,
        "precision": PRECISION[how.mode],
        "compiled": how.compile,
        "device": device_name(device),
        "weights": weights,
        "batch": batch,
        "sample": None if difference is None else asdict(difference),
    }
