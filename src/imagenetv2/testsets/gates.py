"""What must hold of a set before use: its classes, how many images each has, and that no file is empty."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from imagenetv2.errors import InputError
from imagenetv2.testsets.class_table import ClassTable
from imagenetv2.testsets.known import KNOWN, VALIDATION, Known
from imagenetv2.testsets.names import is_training

USUAL = (10, 50)
"""Images a class of sets with equally many: where nearly all classes have one of these, the others are wrong."""
NEARLY = 0.9
BY_ARCHIVE = "by its archive's SHA-256"
BY_IMAGES = "by the names of its images"
BY_NAME = "by its name and counts only"
BY_CLASSES = "by its classes and counts only"


@dataclass
class Gate:
    """Faults that end it, or are remarks where only a part of a set is meant to be there.

    Attributes:
        where: the set, for messages.
        partial: whether missing classes and wrong counts are remarks.
        remarks: those so far.
    """

    where: str
    partial: bool
    remarks: list[str] = field(default_factory=list)

    def lacks(self, fault: str, remedy: str) -> None:
        """Raise InputError, or keep the fault as a remark."""
        if not self.partial:
            raise InputError(f"{self.where}: {fault}; {remedy}, or evaluate it as a part (--partial).")
        self.remarks.append(fault)


def recognised(
    counts: Counter[int], named: Known | None, validation: bool, table: ClassTable
) -> tuple[Known | None, str]:
    """The published set that this is, or is meant to be, by file names, folder names, or its classes; and by which.

    Args:
        counts: images of each class index.
        named: by the names of folders and archives.
        validation: whether all images are named like ImageNet's validation images.
        table: the classes.
    """
    if not table.is_imagenet:
        return None, ""
    if validation:
        return VALIDATION, BY_IMAGES
    if named is not None:
        return named, BY_NAME
    present = tuple(sorted(counts))
    found = next((k for k in KNOWN if k.subset is not None and k.classes == present), None)
    return found, BY_CLASSES if found is not None else ""


def not_training(ids: Sequence[str], named: Known | None, where: str) -> None:
    """Raise InputError where what is named like the validation set holds images that are named like training images."""
    if named is VALIDATION and (found := next((name for name in ids if is_training(name)), None)):
        raise InputError(
            f"{where}: it is named like ImageNet's validation set, but {found} is a training image by its name; name the "
            "validation images."
        )


def classes(counts: Counter[int], known: Known | None, table: ClassTable, gate: Gate) -> tuple[int, ...]:
    """Class indices that the set is about, once none is extra or missing."""
    expected = known.classes if known is not None else tuple(range(len(table.wnids)))
    of = f"{len(expected)} classes of {known.name if known is not None else table.source}"
    extra = sorted(set(counts) - set(expected))
    if extra:
        raise InputError(
            f"{gate.where}: {len(extra)} class folders are extra, the first is of {table.shown(extra[0])}, which is "
            f"not among the {of}; remove them, or rename the set."
        )
    missing = [index for index in expected if not counts[index]]
    if missing:
        some = ", ".join(table.shown(index) for index in missing[:3])
        gate.lacks(
            f"{len(missing)} of the {of} are missing, the first {'are' if len(missing) > 1 else 'is'} {some}",
            "complete it",
        )
    return expected


def images(counts: Counter[int], known: Known | None, table: ClassTable, gate: Gate) -> None:
    """How many images there are, in each class and in all; 50 a class for validation, 10 for ImageNetV2."""
    each = known.per_class if known is not None else _usual(counts, table)
    if each is not None:
        wrong = [index for index in sorted(counts) if counts[index] != each]
        if wrong:
            some = ", ".join(f"{table.shown(i)} has {counts[i]}" for i in wrong[:3])
            gate.lacks(
                f"{len(wrong)} classes have another number of images than {each}: {some}",
                "add what is missing and remove what is extra",
            )
    total = sum(counts.values())
    if known is not None and total != known.images and not gate.remarks:
        gate.lacks(f"it has {total:,} images, but {known.name} has {known.images:,}", "complete it")


def _usual(counts: Counter[int], table: ClassTable) -> int | None:
    usual, often = Counter(counts.values()).most_common(1)[0]
    every = len(counts) == len(table.wnids) and table.is_imagenet
    return usual if every and usual in USUAL and often >= NEARLY * len(counts) else None


def not_empty(empty: Sequence[str], where: str) -> None:
    """Raise InputError where there are files that hold nothing."""
    if empty:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        raise InputError(
            f"{where}: {len(empty)} of its files are empty: {', '.join(empty[:3])}{more}; download or copy them again."
        )
