"""What names of files and folders say: which are images, which are no part of a set, which class is meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence

from imagenetv2.testsets.class_table import WNID, ClassTable

IMAGES = (".jpeg", ".jpg", ".png", ".gif", ".bmp", ".tif", ".tiff", ".webp")
BESIDE = re.compile(
    r"(readme|license|licence|copying|attribution|changelog|checksums?|(md5|sha\d+)sums?|thumbs\.db|desktop\.ini)"
    r"([._-].*)?|.*\.(md5|sha1|sha256|sha512)",
    re.IGNORECASE,
)
INDEX = re.compile(r"\d+", re.ASCII)
VALIDATION = re.compile(r"ILSVRC2012_val_(\d{8})(_n\d{8})?(\.\w+)?", re.ASCII | re.IGNORECASE)
"""A validation image's file; some copies append the WordNet ID of its class."""
TRAINING = re.compile(r"n\d{8}_\d+(_n\d{8})?\.\w+", re.ASCII | re.IGNORECASE)
PREFIX = "ILSVRC2012_val_"
DEVKIT = "ILSVRC2012_devkit"


def is_beside(name: str) -> bool:
    """Whether a file lies beside a set without being part of it: hidden, a README, a list of checksums,
    the development kit."""
    if name.startswith(".") or "/." in name or "__MACOSX" in name.split("/") or DEVKIT in name:
        return True
    return not is_image(name) and bool(BESIDE.fullmatch(name, name.rfind("/") + 1))


def is_image(name: str) -> bool:
    """Whether a file is named like an image."""
    return name.lower().endswith(IMAGES)


def is_class(name: str) -> bool:
    """Whether a folder is named like a class: a class index or a WordNet ID."""
    return bool(INDEX.fullmatch(name) or WNID.fullmatch(name))


def class_of(name: str, table: ClassTable) -> int | None:
    """Class index that a folder's name stands for; None where it stands for none of the table."""
    if INDEX.fullmatch(name):
        return int(name) if int(name) < len(table.wnids) else None
    return table.index_of.get(name)


def suggestion(name: str, candidates: Sequence[int], table: ClassTable) -> str:
    """``, maybe meant: …`` for a folder whose name stands for no class, from classes that have no folder."""
    words = {
        word.strip().lower(): index
        for index in candidates
        for word in table.words[index].split(",")
        if word.strip()
    }
    plain = re.sub(r"[-_.]+", " ", name).strip().lower()
    for index in candidates:
        if table.wnids[index] in name:
            return f", maybe {table.wnids[index]}"
    if plain in words:
        return f", maybe {table.shown(words[plain])}"
    ids = [table.wnids[index] for index in candidates]
    near = difflib.get_close_matches(name, ids, 1, 0.75) if name[:1] in "nN" else []
    if near:
        return f", maybe {near[0]}"
    number = re.fullmatch(r"\D*(\d{1,4})\D*", name, re.ASCII)
    if number and int(number[1]) in candidates:
        return f", maybe {int(number[1])}"
    close = difflib.get_close_matches(plain, list(words), 1, 0.8)
    return f", maybe {table.shown(words[close[0]])}" if close else ""


def validation_number(name: str) -> int | None:
    """Number of an image of ImageNet's validation set, from 1, by its file name or id; None for other names."""
    found = VALIDATION.fullmatch(name, name.rfind("/") + 1)
    return int(found[1]) if found else None


def is_training(name: str) -> bool:
    """Whether a file or id is named like an image of ImageNet's training set."""
    return bool(TRAINING.fullmatch(name, name.rfind("/") + 1))
