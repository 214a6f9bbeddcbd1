"""Files of the original data set with split and class: from a folder, or from an embedded world."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from imagenetv2.benchmark.class_sources import WNID
from imagenetv2.errors import InputError

SPLITS = ("train", "val", "test")
NEEDED = ("train", "val")


@dataclass(frozen=True, order=True)
class Original:
    """One file of the original data set; sorts by class, split and name."""

    wnid: str
    split: str
    file: str


def listing(root: Path, wnids: Sequence[str], *, numbered: bool = True) -> list[Original]:
    """All files below ``root/<split>/<class>/``, sorted; ``wnids`` are in the order of the class index.

    A class folder is named by WordNet ID, or by class index where ``numbered``; the order of folders never says
    anything. Well-formed WordNet IDs that aren't among ``wnids`` are left out; hidden files are too.
    Raises InputError for any other name, and where train or val is missing.
    """
    found = []
    for split in SPLITS:
        folder = root / split
        if not folder.is_dir():
            if split in NEEDED:
                raise InputError(
                    f"reference.path: {root} has no folder {split}; it must hold train and val, one folder a class in each."
                )
            continue
        for child in sorted(folder.iterdir()):
            if child.name.startswith("."):
                continue
            wnid = class_of(child, wnids, numbered=numbered)
            if wnid in wnids:
                found += [
                    Original(wnid, split, file.relative_to(root).as_posix())
                    for file in sorted(child.rglob("*"))
                    if file.is_file() and not file.name.startswith(".")
                ]
    return sorted(found)


def class_of(folder: Path, wnids: Sequence[str], *, numbered: bool) -> str:
    """The WordNet ID that a class folder's name stands for; InputError where it stands for none."""
    name = folder.name
    if folder.is_dir() and WNID.fullmatch(name):
        return name
    if folder.is_dir() and re.fullmatch(r"\d+", name, re.ASCII):
        if not numbered:
            raise InputError(
                f"reference.path: {folder} is named by class index, but classes.only numbers the classes anew; "
                "name the folders by WordNet ID."
            )
        if int(name) < len(wnids):
            return wnids[int(name)]
        raise InputError(
            f"reference.path: {folder} is named by a class index, but there are only {len(wnids)} classes; "
            "name the folder by its WordNet ID or remove it."
        )
    kind = "is named neither by a WordNet ID nor by a class index" if folder.is_dir() else "is no folder"
    raise InputError(
        f"reference.path: {folder} {kind}; below each split there must be one folder a class, such as n01440764."
    )


def check_classes(counts: Mapping[str, int], wnids: Sequence[str]) -> None:
    """Raises InputError naming classes without any decodable validation image."""
    empty = [wnid for wnid in wnids if not counts.get(wnid)]
    if empty:
        more = f" and {len(empty) - 3} more" if len(empty) > 3 else ""
        raise InputError(
            f"the original data set has no validation image of {', '.join(empty[:3])}{more}; add images to "
            "val/ below reference.path, or leave the class out with classes.only."
        )
