"""Predictions as the published study released them: a folder a list, a file a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.record import npy
from imagenetv2.record.datasets import FOLDER as LISTS
from imagenetv2.record.datasets import pairs
from imagenetv2.record.faults import LEFT_OUT
from imagenetv2.record.listings import Listing, doubled, listing
from imagenetv2.record.prediction_checks import values
from imagenetv2.record.prediction_checks.rows import align
from imagenetv2.record.published_sets import published
from imagenetv2.record.reader import Reader
from imagenetv2.record.sheets import Raw, Sheet

FOLDER = "data/predictions"
SUFFIX = ".npy"


def read(
    reader: Reader, indices: Mapping[str, int]
) -> tuple[list[Sheet], dict[str, Listing], dict[str, str]]:
    """Predictions of every model on every list that has any, the lists, and the list of each set.

    Args:
        reader: the record; faults of its lists go to it.
        indices: class index by WordNet ID.

    Raises InputError where there are no predictions at all, or none for the original images.
    """
    files = folders(reader)
    entries, invalid = {}, set()
    for name in sorted(files):
        value = reader.value(f"{LISTS}/{name}.json", dict, optional=True) or {}
        if found := pairs(value):
            entries[name] = found
        else:
            _without_list(reader, name)
        if value.get("is_valid", True) is not True:
            invalid.add(name)
    sets = published({n: len(files[n]) for n in entries}, invalid)
    if "original" not in sets:
        raise InputError(
            f"{reader.source.path}: {FOLDER} holds no predictions for a list of original images; give the path of a "
            "whole record."
        )
    forms = [
        form for name in entries for form in _forms(reader, name, files[name], len(entries[name]), entries)
    ]
    listings = {name: _listing(reader, name, entries[name], indices, forms) for name in entries}
    count = len(indices)
    sheets = [s if v is None else align(s, v, listings, count) for s, v in forms]
    return sheets, listings, sets


def place(name: str) -> str:
    """Where predictions for a list lie in the record."""
    return f"{FOLDER}/{name}"


def folders(reader: Reader) -> dict[str, list[str]]:
    """Files of predictions by list; other files below that folder are reported."""
    found: dict[str, list[str]] = {}
    for file in reader.source.names(FOLDER):
        parts = file.removeprefix(f"{FOLDER}/").split("/")
        if len(parts) == 2 and file.endswith(SUFFIX):
            found.setdefault(parts[0], []).append(file)
        else:
            reader.fault(file, "file", "no file of predictions", f"not <list>/<model>{SUFFIX}")
    return found


def _without_list(reader: Reader, name: str) -> None:
    detail = f"the record holds no images in {LISTS}/{name}.json"
    reader.fault(
        f"{FOLDER}/{name}", name, "predictions without list", detail, LEFT_OUT, "their images are not known"
    )


Form = tuple[Sheet, Raw | None]


def _forms(
    reader: Reader,
    name: str,
    files: Iterable[str],
    images: int,
    entries: Mapping[str, Sequence[tuple[str, str]]],
) -> list[Form]:
    """Each file of a list as whole numbers, rows as they are in it."""
    counts = {images, len({i for i, _ in entries[name]})}
    found: list[Form] = []
    for file in files:
        sheet = Sheet(name, file.rsplit("/", 1)[-1].removesuffix(SUFFIX), file)
        try:
            found.append(values.form(sheet, npy.parse(reader.source.read(file)), counts))
        except npy.Unreadable as error:
            found.append(
                (sheet.left_out("file unreadable", str(error), "no array can be read from it"), None)
            )
    return found


def _listing(
    reader: Reader,
    name: str,
    entries: Sequence[tuple[str, str]],
    indices: Mapping[str, int],
    forms: Sequence[Form],
) -> Listing:
    """The list with each image once; of an image listed twice stays the entry that makes more predictions right."""
    file = f"{LISTS}/{name}.json"
    for image, wnid in entries:
        if wnid not in indices:
            evidence = "an image of no known class cannot be right or wrong"
            reader.fault(file, image, "class unknown", f"WordNet ID {wnid}", LEFT_OUT, evidence)
    twice = doubled(entries)
    first = listing(name, entries, indices)
    if not twice:
        return first
    last = listing(name, entries, indices, last=True)
    right = [sum(_hits(t, v) for s, v in forms if v is not None and s.listing == name) for t in (first, last)]
    chosen = last if right[1] > right[0] else first
    for image, places in twice.items():
        rows = f"entries {', '.join(map(str, places))}"
        evidence = (
            f"a set holds an image once; with the {'last' if chosen is last else 'first'} entry kept {max(right):,} "
            f"predictions of all models are right, with the other {min(right):,}"
        )
        reader.fault(
            file,
            image,
            "image doubled",
            f"{rows}; its row is taken out of all predictions",
            LEFT_OUT,
            evidence,
        )
    return chosen


def _hits(target: Listing, found: Raw) -> int:
    rows = target.rows(len(found))
    if rows is None:
        return 0
    known = rows >= 0
    return int(np.count_nonzero(found[known] == target.classes[rows[known]][:, None]))
