"""Images with their class, from any layout; and the set that they make once the gates are passed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from imagenetv2.testsets import gates, validation
from imagenetv2.testsets.class_table import ClassTable
from imagenetv2.testsets.gates import Gate
from imagenetv2.testsets.known import Known
from imagenetv2.testsets.pictures import Decoded
from imagenetv2.testsets.testset import Files, TestSet


@dataclass(frozen=True, order=True, slots=True)
class Labelled:
    """One image before the gates; sorts by id.

    Attributes:
        id: ``<WordNet ID>/<name of the file>``.
        index: its class index.
        file: its name where it is stored.
        size: bytes of that file, or of the Parquet file that holds it.
    """

    id: str
    index: int
    file: str
    size: int


@dataclass(frozen=True)
class Judged:
    """What passed the gates: images, their table, the published set that they are and the classes it is about."""

    images: Sequence[Labelled]
    table: ClassTable
    known: Known | None
    recognised: str
    classes: tuple[int, ...]
    remarks: Sequence[str]

    def testset(self, name: str, layout: str, files: Files, *, hashed: bool = False) -> TestSet:
        """The set.

        Args:
            name: for one that is not published.
            layout: see ``TestSet``.
            files: the images by the same positions.
            hashed: whether its archive has the SHA-256 of the published one.
        """
        known = None if self.known is None else self.known.name
        return TestSet(
            name=known or name,
            layout=layout,
            known=known,
            ids=tuple(image.id for image in self.images),
            labels=np.array([image.index for image in self.images], np.int64),
            classes=np.array(self.classes, np.int64),
            wnids=tuple(self.table.wnids[index] for index in self.classes),
            digest=_digest(self.images),
            remarks=tuple(self.remarks),
            pixels=Decoded(files),
            recognised=gates.BY_ARCHIVE if hashed else self.recognised,
            state=files.state,
        )


def judge(
    images: Sequence[Labelled],
    table: ClassTable,
    named: Known | None,
    gate: Gate,
    *,
    listed: bool = False,
    training: bool = False,
) -> Judged:
    """Put images through the gates that need no more than their names, sizes and classes.

    Args:
        images: all of them.
        table: the classes.
        named: the published set that names of folders and archives tell of.
        gate: takes the remarks.
        listed: whether a manifest says what there is, so that numbers of images need not be guessed at.
        training: whether it is a training split by its own name, and so no published test set.

    Raises:
        InputError: a gate is not passed.
    """
    counts = Counter(image.index for image in images)
    numbers = None if listed else validation.numbers([image.id for image in images])
    known, how = None, ""
    if not listed and not training:
        gates.not_training([image.id for image in images], named, gate.where)
        known, how = gates.recognised(counts, named, numbers is not None, table)
    classes = gates.classes(counts, known, table, gate)
    if not listed:
        gates.images(counts, known, table, gate)
    gates.not_empty([image.file for image in images if image.size == 0], gate.where)
    if numbers is not None:
        validation.require_distinct(numbers, [image.file for image in images], gate.where)
    if numbers is not None and table.is_imagenet:
        validation.require_real(numbers, [image.index for image in images], table, gate.where)
    return Judged(images, table, known, how, classes, gate.remarks)


def _digest(images: Sequence[Labelled]) -> str:
    lines = (f"{image.id}\t{image.size}\t{image.index}\n" for image in images)
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def printable(name: str) -> str:
    """A file name that is no text in UTF-8, with its bytes written out."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
