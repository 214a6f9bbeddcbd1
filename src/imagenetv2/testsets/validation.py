"""ImageNet's validation images, whose numbers tell their classes: a second witness to every label."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from imagenetv2.errors import InputError
from imagenetv2.testsets import timm_tables
from imagenetv2.testsets.class_table import ClassTable
from imagenetv2.testsets.devkit import IMAGES, DevelopmentKit
from imagenetv2.testsets.names import PREFIX, validation_number

ENOUGH = 10
"""Images with ReaL labels that a class folder must have to be judged by them."""
NONE = 6
"""Of so many images in several classes one has a label of its class at least: with nine in ten that do, all miss
by chance once in a million sets."""
OWN, OTHER, ALL = 0.1, 0.5, 0.5
"""A folder is suspect where its class is a ReaL label of fewer than ``OWN`` of its images while another is one of
``OTHER`` or more. With the true labels of all 50,000 images the smallest share of an own class is 0.175 (848,
tape player), where the most frequent other one has 0.45; over all images the share is 0.90."""


def numbers(ids: Sequence[str]) -> list[int] | None:
    """The number of each image, from 1; None where not all are validation images."""
    found = [validation_number(name) for name in ids]
    return [n for n in found if n is not None] if found and None not in found else None


def require_distinct(found: Sequence[int], names: Sequence[str], where: str) -> None:
    """Raise InputError where a number is no validation image's, or two files have one."""
    first: dict[int, str] = {}
    for number, name in zip(found, names, strict=True):
        if not 1 <= number <= IMAGES:
            raise InputError(f"{where}: {name} has a number outside 1 to {IMAGES:,}; remove it.")
        if number in first:
            raise InputError(
                f"{where}: {first[number]} and {name} are the same validation image; remove the one that is misplaced."
            )
        first[number] = name


def require_truth(
    found: Sequence[int], indices: Sequence[int], kit: DevelopmentKit, table: ClassTable, where: str
) -> None:
    """Raise InputError where labels are not those of the development kit."""
    truth = kit.class_indices(table)
    wrong = [(n, index) for n, index in zip(found, indices, strict=True) if truth[n - 1] != index]
    if wrong:
        number, index = wrong[0]
        raise InputError(
            f"{where}: {len(wrong):,} of {len(found):,} validation images lie in a folder of another class than {kit.where} "
            f"says, the first is {PREFIX}{number:08d}, in that of {table.shown(index)} and not {table.shown(truth[number - 1])}; "
            "sort the images into folders again."
        )


def require_real(found: Sequence[int], indices: Sequence[int], table: ClassTable, where: str) -> None:
    """Raise InputError where labels contradict the ReaL labels of the same images, which timm carries.

    Needs no development kit. Finds folders that were permuted, not single images.
    """
    real = timm_tables.real_labels()
    total, fitting, said = Counter[int](), Counter[int](), dict[int, Counter[int]]()
    for number, index in zip(found, indices, strict=True):
        if fit := real[number - 1]:
            total[index] += 1
            fitting[index] += index in fit
            said.setdefault(index, Counter()).update(fit)
    suspects = {
        i: best for i in sorted(total) if (best := _suspect(total[i], fitting[i], said[i])) is not None
    }
    if suspects:
        raise InputError(_sentence(suspects, total, fitting, said, table, where))
    few = total.total() >= ENOUGH and fitting.total() < ALL * total.total()
    if few or (total.total() >= NONE and len(total) > 1 and not fitting.total()):
        raise InputError(
            f"{where}: of {total.total():,} validation images only {fitting.total():,} have a ReaL label of the class "
            "that they are said to be of, where nine in ten should; the classes are permuted: sort the images again."
        )


def _suspect(total: int, fitting: int, said: Counter[int]) -> int | None:
    best, often = max(said.items(), key=lambda item: (item[1], -item[0]))
    return best if total >= ENOUGH and fitting < OWN * total and often >= OTHER * total else None


def _sentence(
    suspects: Mapping[int, int],
    total: Counter[int],
    fitting: Counter[int],
    said: Mapping[int, Counter[int]],
    table: ClassTable,
    where: str,
) -> str:
    index, best = next(iter(suspects.items()))
    return (
        f"{where}: {len(suspects)} class folders hold images of other classes by their ReaL labels, the first is that of "
        f"{table.shown(index)}: {fitting[index]} of {total[index]} images have a ReaL label of this class, "
        f"{said[index][best]} of {table.shown(best)}; the folders are permuted: sort the images again."
    )
