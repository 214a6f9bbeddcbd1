"""How far a fast mode is from mode reference: what both say of the same few images."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import Integers, LabelledImages, Resources, Task
from imagenetv2.images import Pixels

IMAGES = 64
"""Of each set: enough that a fault shows."""


@dataclass(frozen=True)
class Difference:
    """A fast mode beside mode reference.

    Attributes:
        images: of the sample.
        same_first: share of them with the same first class.
        largest: largest absolute difference of the true class's or the first class's probability.
    """

    images: int
    same_first: float
    largest: float


class Some(Sequence[Pixels]):
    """Some of a sequence of images, by position."""

    def __init__(self, of: Sequence[Pixels], positions: Integers) -> None:
        self._of, self._positions = of, positions

    def __len__(self) -> int:
        return len(self._positions)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return self._of[int(self._positions[index])]


def differences(tasks: Sequence[Task], resources: Resources, log: logging.Logger) -> list[Difference | None]:
    """Run samples in mode reference, and compare them with the records of a fast mode.

    Args:
        tasks: of which ``run`` filled the ledgers in the fast mode; records of the samples are kept beside them.
        resources: those of that run.
        log: as of ``run``.

    Returns:
        For each task; None where its ledger is not full, or the model fails in mode reference.
    """
    full = [task for task in tasks if _ledger(task, resources.logits).done == len(task.images.ids)]
    sets = {id(task.images): _sample(task.images) for task in full}
    samples = {id(task): _sampled(task, sets[id(task.images)]) for task in full}
    run(list(samples.values()), replace(resources, mode="reference", compile=False, logits=False), log)
    return [_difference(task, samples.get(id(task)), resources.logits) for task in tasks]


def positions(images: int) -> Integers:
    """At most ``IMAGES`` positions, evenly spread."""
    count = min(IMAGES, images)
    return np.arange(count, dtype=np.int64) * images // max(1, count)


def _sample(images: LabelledImages) -> LabelledImages:
    chosen = positions(len(images.ids))
    return LabelledImages(
        images.name,
        [images.ids[i] for i in chosen],
        images.true[chosen],
        images.classes,
        Some(images.pixels, chosen),
    )


def _sampled(task: Task, images: LabelledImages) -> Task:
    ledger = task.ledger.with_name(f"{task.ledger.name}.reference")
    return replace(task, images=images, ledger=ledger)


def _ledger(task: Task, logits: bool) -> Ledger:
    return Ledger(task.ledger, record_type(len(task.columns), logits))


def _difference(task: Task, sample: Task | None, logits: bool) -> Difference | None:
    if sample is None:
        return None
    reference = _ledger(sample, False).read()
    if len(reference) != len(sample.images.ids):
        return None
    fast = _ledger(task, logits).read()[positions(len(task.images.ids))]
    change = [np.abs(fast[name] - reference[name]) for name in ("probability", "top_probability")]
    return Difference(
        len(reference),
        float(np.mean(fast["top5"][:, 0] == reference["top5"][:, 0])),
        float(np.max(change)),
    )
