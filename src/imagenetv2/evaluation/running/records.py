"""From the outputs of one pass to its records; outputs that are none fail the model."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.errors import InputError
from imagenetv2.evaluation.ranking import leading, probabilities, true_ranks
from imagenetv2.evaluation.running.ledger import TOP, Records, record_type
from imagenetv2.evaluation.running.tasks import Task

Outputs = npt.NDArray[np.floating]
NAMED = 3
LARGEST = float(np.finfo(np.float16).max)


def records(task: Task, outputs: Outputs, first: int, logits: bool) -> Records:
    """Records of the images ``first``, ``first`` + 1, … of a task's set.

    Args:
        task: whose outputs they are.
        outputs: images × outputs, checked.
        first: position of the first image.
        logits: whether all outputs of the set's classes are kept, as float16; those beyond its range, ± 65504,
            are kept as its largest and smallest number.
    """
    chosen = of_classes(task, outputs)
    true = task.images.true[first : first + len(chosen)]
    best = leading(chosen, TOP)
    found = np.empty(len(chosen), record_type(len(task.columns), logits))
    found["rank"] = true_ranks(chosen, true)
    found["top5"] = -1
    found["top5"][:, : best.shape[1]] = task.images.classes[best]
    both = probabilities(chosen, np.stack([true, best[:, 0]], axis=1))
    found["probability"], found["top_probability"] = both[:, 0], both[:, 1]
    if logits:
        found["logits"] = np.clip(chosen, -LARGEST, LARGEST)
    return found


def checked(task: Task, outputs: Any, images: int, first: int) -> Outputs:
    """The outputs of a pass. Raises InputError where their number is another or one is not finite.

    Args:
        task: whose outputs they are.
        outputs: what the model gave.
        images: how many images it was given.
        first: position of the first of them in the set.
    """
    found = np.asarray(outputs)
    if found.ndim != 2 or len(found) != images:
        shape = " × ".join(map(str, found.shape)) or "one number"
        raise InputError(
            f"models: {task.model.name}: it gives {shape} for {images} images, not a row of {task.outputs} outputs "
            "for each; correct the model."
        )
    if found.shape[1] != task.outputs:
        raise InputError(
            f"models: {task.model.name}: it gives {found.shape[1]} outputs an image, not {task.outputs}; take "
            "weights that were made for these classes."
        )
    # Also those of other classes: a model is whole or it is not, whatever the set.
    finite = np.isfinite(found).all(axis=1)
    if not finite.all():
        wrong = [task.images.ids[first + int(row)] for row in np.flatnonzero(~finite)]
        raise InputError(
            f"models: {task.model.name}: its outputs for {', '.join(wrong[:NAMED])} ({len(wrong)} of the "
            f"{images} images of a pass over {task.images.name}) are not finite numbers; correct its weights, or "
            "lower learning_rate where it is trained here."
        )
    return found


def of_classes(task: Task, outputs: Outputs) -> Outputs:
    """The output of each class of the set, images × classes."""
    if np.array_equal(task.columns, np.arange(outputs.shape[1])):
        return np.ascontiguousarray(outputs)
    return np.take(outputs, task.columns, axis=1)
