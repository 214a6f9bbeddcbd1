"""The stage ``models/<name>``: train a model, or find a pretrained one and note what it is."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import (
    Classifier,
    Compute,
    Facts,
    Training,
    Weights,
    load,
    outline,
    train,
)
from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.evaluation.outputs import output_columns
from imagenetv2.evaluation.pictures import pictures
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.running.tasks import Runnable
from imagenetv2.evaluation.settings import Model
from imagenetv2.job import Job
from imagenetv2.libraries import version_of
from imagenetv2.randomness import generator
from imagenetv2.testsets import timm_tables

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS = "weights.safetensors"
FOLLOWING = ("metrics", "analysis", "report")
"""Stages that hold what all predictions say; their versions do not tell weights that a library fetched apart."""


def run(job: Job) -> None:
    """Write ``model.json`` and ``weights.safetensors``, which is empty for a pretrained model."""
    from safetensors.numpy import save

    model = job.settings(Model)
    classes = job.read("classes").table("classes")
    wnids = classes["wnid"].tolist()
    facts: Facts
    weights: Weights = {}
    if KINDS[model.kind].trained:
        images = training(model, classes, job.read("reference"), job.seed)
        job.log.info("%s: %d training images of %d classes", model.name, len(images.labels), len(wnids))
        fitted = train(model, images)
        facts, weights = fitted.facts, fitted.weights
        outputs, columns = len(wnids), list(range(len(wnids)))
    else:
        facts = outline(model)
        outputs = int(facts["outputs"])
        columns = output_columns(
            model.name, outputs, wnids, classes["class_index"].tolist(), timm_tables.imagenet_wnids()
        )
        facts = {**facts, "state_sha256": load(model, facts, {}, Compute()).digest}
    data = save(_contiguous(weights)) if weights else b""
    job.out.path(WEIGHTS).write_bytes(data)
    job.out.json("model.json", _facts(model, facts, data) | {"outputs": outputs, "columns": columns})


def facts_of(artifact: Artifact) -> dict[str, Any]:
    """What ``run`` noted in ``model.json``."""
    facts: dict[str, Any] = artifact.json("model.json")
    return facts


def weights_of(artifact: Artifact) -> Weights:
    """Weights of a trained model; empty for a pretrained one."""
    from safetensors.numpy import load_file

    path = artifact.path(WEIGHTS)
    return load_file(path) if path.stat().st_size else {}


def digest(facts: Facts) -> str | None:
    """Of the weights that ``model.json`` names."""
    found: str | None = facts.get("state_sha256") or facts.get("weights_sha256")
    return found


def folders(artifact: Artifact, name: str) -> str:
    """All folders that hold something of the weights of a ``models/<name>`` artifact, in words."""
    data = artifact.folder.parents[2]
    named = (f"models/{name}", f"predictions/*/{name}", f"stores/work/predictions/*/{name}", *FOLLOWING)
    *first, last = (str(data / each) for each in named)
    return f"the folders {', '.join(first)} and {last}, as far as they are there"


def runnable(model: Model, artifact: Artifact) -> Runnable:
    """The model of a ``models/<name>`` artifact, to be loaded when its turn comes.

    Loading raises InputError where its weights are not those that were noted.
    """
    facts = facts_of(artifact)

    def loaded(compute: Compute) -> Classifier:
        classifier = load(model, facts, weights_of(artifact), compute)
        noted = facts.get("state_sha256")
        if noted is not None and classifier.digest != noted:
            raise InputError(
                f"models: {model.name}: its weights or its code are not those with the digest {noted[:10]} that model.json "
                f"names; to take the new ones, remove {folders(artifact, model.name)}."
            )
        return classifier

    return Runnable(model.name, Preprocessing.from_json(facts["preprocessing"]).cut, loaded)


def training(model: Model, classes: pd.DataFrame, reference: Artifact, seed: int) -> Training:
    """The training split. Raises InputError where a class has no images in it."""
    table = reference.table("reference")
    table = table[table["split"] == "train"]
    position = {wnid: i for i, wnid in enumerate(classes["wnid"])}
    labels = np.array([position[wnid] for wnid in table["wnid"]], np.int64)
    bare = [wnid for wnid, i in position.items() if not np.any(labels == i)]
    if bare:
        raise InputError(
            f"reference: {len(bare)} classes have no training images, such as {bare[0]}, so {model.name} cannot be "
            "trained; add some to the train split or take the class out with classes.only."
        )
    total = 3 * int((table["width"] * table["height"]).sum())
    images = pictures(reference.path("images.zip"), tuple(table["file"]), total)
    return Training(images, labels, len(position), generator(seed, f"models/{model.name}"))


def _facts(model: Model, facts: Facts, data: bytes) -> dict[str, Any]:
    own = {
        "kind": model.kind,
        "weights_sha256": hashlib.sha256(data).hexdigest() if data else None,
    }
    return {"version": version_of(facts["library"]), **facts, **own}


def _contiguous(weights: Weights) -> dict[str, Any]:
    return {name: np.ascontiguousarray(value) if value.ndim else value for name, value in weights.items()}
