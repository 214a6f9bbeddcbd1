"""What is left to do: which blocks there are, and which models look at which part of each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from imagenetv2.errors import InputError
from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running.blocks import BLOCKS, Block, Gate, Span
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable, Task


@dataclass
class Progress:
    """How far one task is.

    Attributes:
        task: the task.
        ledger: its records.
        done: records that were there at first.
        seen, right: images so far, and those whose true class came first.
    """

    task: Task
    ledger: Ledger
    done: int
    seen: int
    right: int

    @classmethod
    def of(cls, task: Task, logits: bool) -> Progress:
        """From what is in the ledger. Raises InputError where it holds more than there are images."""
        ledger = Ledger(task.ledger, record_type(len(task.columns), logits))
        records, images = ledger.mend(), len(task.images.ids)
        done = len(records)
        if done > images:
            raise InputError(
                f"{task.ledger} holds records of {done} images, but {task.images.name} has {images}; delete it and "
                "run again."
            )
        return cls(task, ledger, done, done, int((records["rank"] == 0).sum()))


@dataclass(frozen=True)
class Part:
    """Images ``start`` to ``stop`` of a task's set, which are the rows of a block from ``row``."""

    progress: Progress
    start: int
    stop: int
    row: int


@dataclass(eq=False)
class Item:
    """One model that looks at one block."""

    block: Block
    model: Runnable
    parts: list[Part] = field(default_factory=list)

    @property
    def images(self) -> int:
        """How many."""
        return sum(part.stop - part.start for part in self.parts)


def items(tasks: Sequence[Task], resources: Resources, size: int, gate: Gate) -> list[list[Item]]:
    """For each block the models that look at it; blocks of images that nobody needs are not there.

    Args:
        tasks: any.
        resources: for memory, and whether logits are kept.
        size: images a pass: blocks hold full passes where memory allows.
        gate: for the blocks.
    """
    groups: dict[Cut, list[Progress]] = {}
    for task in tasks:
        groups.setdefault(task.model.cut, []).append(Progress.of(task, resources.logits))
    found: list[list[Item]] = []
    for cut, group in groups.items():
        for spans in _blocks(_needed(group), _capacity(cut, resources.memory, size)):
            found.append(_looks(Block(len(found), cut, spans, gate), group))
    return found


def _needed(group: Sequence[Progress]) -> list[tuple[LabelledImages, int]]:
    """Each set with its first image that some model has not seen."""
    first: dict[int, tuple[LabelledImages, int]] = {}
    for progress in group:
        images = progress.task.images
        first[id(images)] = (images, min(progress.done, first.get(id(images), (images, progress.done))[1]))
    return list(first.values())


def _capacity(cut: Cut, memory: int, size: int) -> int:
    """Images a block."""
    height, width = cut.size
    images = max(1, memory // BLOCKS // (3 * height * width))
    return images - images % size if images > size else images


def _blocks(needed: Sequence[tuple[LabelledImages, int]], capacity: int) -> Iterator[list[Span]]:
    spans: list[Span] = []
    row = 0
    for images, start in needed:
        while start < len(images.ids):
            stop = min(len(images.ids), start + capacity - row)
            spans.append(Span(images, start, stop, row))
            row += stop - start
            start = stop
            if row == capacity:
                yield spans
                spans, row = [], 0
    if spans:
        yield spans


def _looks(block: Block, group: Sequence[Progress]) -> list[Item]:
    found: dict[str, Item] = {}
    for progress in group:
        for span in block.spans:
            start = max(span.start, progress.done)
            if span.images is progress.task.images and start < span.stop:
                model = progress.task.model
                item = found.setdefault(model.name, Item(block, model))
                item.parts.append(Part(progress, start, span.stop, span.row + start - span.start))
    return list(found.values())
