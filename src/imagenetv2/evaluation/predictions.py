"""The stage ``predictions/<set>/<model>``: what a model says of each image of a set."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
import pandas as pd

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Array, Compute, load
from imagenetv2.evaluation.models import read
from imagenetv2.evaluation.pictures import Pictures, pictures
from imagenetv2.evaluation.ranking import leading, true_probabilities, true_ranks
from imagenetv2.evaluation.settings import Evaluation, Model
from imagenetv2.images import Pixels
from imagenetv2.job import Job
from imagenetv2.pooling import chunks, in_order, threads
from imagenetv2.progress import progress
from imagenetv2.sampling.frozen import require_frozen

ORIGINAL = "original"
KEY = ["image_id", "wnid"]


def run(job: Job) -> None:
    """Write ``predictions.parquet``; a set that is not frozen is refused before anything is decoded."""
    model, evaluation = job.settings(Model), job.settings(Evaluation)
    labels, images = image_set(job, job.stage.name.split("/")[1])
    classes = job.read("classes").table("classes")
    facts, weights = read(job.read(f"models/{model.name}"))
    classifier = load(model, facts, weights, Compute(evaluation.device, job.cores))
    batches = batched(images, classifier.prepare, evaluation.batch, job.cores)
    count = -(-len(images) // evaluation.batch)
    outputs = (classifier.outputs(batch) for batch in progress(batches, job.stage.name, total=count))
    found = predict(model.name, outputs, labels, classes["class_index"].to_numpy(np.int64), facts["columns"])
    job.out.table("predictions", found)
    job.log.info("%s: %d of %d right", job.stage.name, int((found["rank"] == 0).sum()), len(found))


def image_set(job: Job, name: str) -> tuple[pd.DataFrame, Pictures]:
    """Image, WordNet ID and class index of each image of a set, sorted by key, and the images in that order."""
    if name == ORIGINAL:
        source = job.read("reference")
        table = source.table("reference")
        table = table[table["split"] == "val"]
    else:
        dataset, source = job.read(f"datasets/{name}"), job.read("candidates")
        require_frozen(dataset)
        pool = source.table("candidates")[[*KEY, "file", "width", "height"]]
        table = dataset.table("images").merge(pool, on=KEY, how="left", validate="one_to_one")
        lost = table.loc[table["file"].isna(), "image_id"]
        if len(lost):
            raise InputError(
                f"{dataset.folder}: image {lost.iloc[0]} is not among the candidates; delete the folder and run "
                "snakemake."
            )
    if table.empty:
        raise InputError(
            f"the set {name} holds no images, so nothing can be evaluated; see its tables for why."
        )
    table = table.sort_values(KEY, ignore_index=True)
    total = 3 * int((table["width"] * table["height"]).sum())
    images = pictures(source.path("images.zip"), tuple(table["file"]), total)
    return table[[*KEY, "class_index"]], images


def batched(
    images: Sequence[Pixels], prepare: Callable[[Pixels], Array], size: int, cores: int
) -> Iterator[Array]:
    """Prepared images, stacked, in their order; the last batch may be short.

    With more than one core, the next batch is prepared while one is in use.
    """
    with threads(cores) as pool:
        prepared = in_order(pool, lambda i: prepare(images[i]), range(len(images)), ahead=max(size, cores))
        for batch in chunks(prepared, size):
            yield np.stack(batch)


def predict(
    model: str,
    outputs: Iterator[Array],
    labels: pd.DataFrame,
    class_index: Array,
    columns: Sequence[int],
) -> pd.DataFrame:
    """The table of predictions.

    Args:
        model: its name, for errors.
        outputs: batches of outputs, images × outputs, that follow each other in the order of ``labels``.
        labels: image_id, wnid and class_index of each image.
        class_index: class index of each class, ascending.
        columns: the output of each class.

    Raises:
        InputError: an output is not finite.
        ValueError: there are more or fewer outputs than images.
    """
    places = {int(index): place for place, index in enumerate(class_index)}
    true = np.array([places[int(index)] for index in labels["class_index"]], np.int64)
    ranks, first, probability, done = [], [], [], 0
    for batch in outputs:
        own = true[done : done + len(batch)]
        if len(own) != len(batch):
            raise ValueError(f"{model} gave outputs for more than the {len(true)} images")
        chosen = batch[:, list(columns)]
        _require_finite(model, chosen, labels["image_id"].iloc[done : done + len(batch)])
        ranks.append(true_ranks(chosen, own))
        first.extend(class_index[leading(chosen, 5)].tolist())
        probability.append(true_probabilities(chosen, own))
        done += len(batch)
    if done != len(true):
        raise ValueError(f"{model} gave outputs for {done} of {len(true)} images")
    return labels.assign(
        rank=np.concatenate(ranks), top5=first, probability=np.concatenate(probability)
    ).reset_index(drop=True)


def _require_finite(model: str, outputs: Array, images: pd.Series[str]) -> None:
    wrong = ~np.isfinite(outputs).all(axis=1)
    if wrong.any():
        names = images.to_numpy()[wrong].tolist()
        raise InputError(
            f"models: {model}: its outputs for {', '.join(names[:3])} ({len(names)} images of a batch) are not "
            "finite numbers; correct its weights, or lower learning_rate where it is trained here."
        )
