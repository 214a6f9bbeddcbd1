"""The stage ``models/<name>``: train a model, or find a pretrained one and note what it is."""

from __future__ import annotations

import hashlib
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Fitted, Training, Weights, describe, train
from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.evaluation.outputs import imagenet_wnids, output_columns
from imagenetv2.evaluation.pictures import pictures
from imagenetv2.evaluation.settings import Model
from imagenetv2.job import Job
from imagenetv2.randomness import generator

if TYPE_CHECKING:
    import pandas as pd

WEIGHTS = "weights.safetensors"


def run(job: Job) -> None:
    """Write ``model.json`` and ``weights.safetensors``, which is empty for a pretrained model."""
    from safetensors.numpy import save

    model = job.settings(Model)
    classes = job.read("classes").table("classes")
    wnids = classes["wnid"].tolist()
    if KINDS[model.kind].trained:
        images = training(model, classes, job.read("reference"), job.seed)
        job.log.info("%s: %d training images of %d classes", model.name, len(images.labels), len(wnids))
        fitted = train(model, images)
        outputs, columns = len(wnids), list(range(len(wnids)))
    else:
        fitted = describe(model)
        outputs = int(fitted.facts["outputs"])
        indices = classes["class_index"].tolist()
        columns = output_columns(model.name, outputs, wnids, indices, imagenet_wnids())
    data = save(_contiguous(fitted.weights)) if fitted.weights else b""
    job.out.path(WEIGHTS).write_bytes(data)
    job.out.json("model.json", _facts(model, fitted, data) | {"outputs": outputs, "columns": columns})


def read(artifact: Artifact) -> tuple[dict[str, Any], Weights]:
    """Facts and weights of a ``models/<name>`` artifact."""
    from safetensors.numpy import load_file

    path = artifact.path(WEIGHTS)
    weights = load_file(path) if path.stat().st_size else {}
    facts: dict[str, Any] = artifact.json("model.json")
    return facts, weights


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


def _facts(model: Model, fitted: Fitted, data: bytes) -> dict[str, Any]:
    own = {
        "kind": model.kind,
        "version": version(fitted.facts["library"]),
        "weights_sha256": hashlib.sha256(data).hexdigest() if data else None,
    }
    return {**fitted.facts, **own}


def _contiguous(weights: Weights) -> dict[str, Any]:
    return {name: np.ascontiguousarray(value) if value.ndim else value for name, value in weights.items()}
