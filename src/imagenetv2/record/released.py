"""Predictions as the published study released them: a folder a list, a file a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.record import npy
from imagenetv2.record.datasets import FOLDER as LISTS
from imagenetv2.record.datasets import pairs
from imagenetv2.record.faults import LEFT_OUT
from imagenetv2.record.listings import Listing, doubled, listing
from imagenetv2.record.lists import ORIGINAL, identified, stem
from imagenetv2.record.prediction_checks import values, whole_list
from imagenetv2.record.prediction_checks.rows import align
from imagenetv2.record.published_sets import named, published
from imagenetv2.record.ranks import MISSING
from imagenetv2.record.reader import Reader
from imagenetv2.record.sheets import Raw, Sheet

FOLDER = "data/predictions"
SUFFIX = ".npy"
NO_LIST = "the record holds no list of that name that names images"
NO_FILES = "the record holds no predictions for it"
LAST = "it is the last revision of its set, and no earlier one is what was published"

Form = tuple[Sheet, Raw | None]


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
    entries = {}
    for name in sorted(files):
        if found := pairs(reader.value(f"{LISTS}/{name}.json", dict, optional=True) or {}):
            entries[name] = found
    forms = {name: _forms(reader, name, files[name], found) for name, found in entries.items()}
    unfit = _mended(reader, entries, forms, indices)
    sets = _sets(reader, files, entries, unfit)
    listings = {name: _listing(reader, name, entries[name], indices, forms[name]) for name in entries}
    count = len(indices)
    sheets = [s if v is None else align(s, v, listings, count) for name in entries for s, v in forms[name]]
    return sheets, listings, sets


def _sets(
    reader: Reader,
    files: Mapping[str, Sequence[str]],
    entries: Mapping[str, object],
    unfit: Mapping[str, str],
) -> dict[str, str]:
    """List of each set, the original first; a list without usable entries or without files is reported."""
    lists = published(named(reader.source))
    originals = [n for n in files if (which := identified(n)) is not None and which[0] == ORIGINAL]
    usable = [n for n in originals if n in entries]
    if not usable:
        reasons = (
            "; ".join(f"{n}: {unfit.get(n, NO_LIST)}" for n in sorted(originals))
            or "there is no folder of them"
        )
        raise InputError(
            f"{reader.source.path}: {FOLDER} holds no predictions for a list of original images ({reasons}); give the "
            "path of a whole record."
        )
    sets = {ORIGINAL: max(usable, key=lambda n: (len(files[n]), n))}
    sets |= {which: name for which, name in lists.items() if name in entries}
    for name in sorted(set(lists.values()) - set(entries)):
        if name not in unfit:
            where = place(name) if name in files else f"{LISTS}/{name}.json"
            reader.fault(where, name, MISSING, NO_LIST if name in files else NO_FILES, LEFT_OUT, LAST)
    for name in sorted(set(files) - set(entries) - set(lists.values()) - set(unfit)):
        reader.fault(
            place(name), name, "predictions without list", NO_LIST, LEFT_OUT, "their images are not known"
        )
    return sets


def _mended(
    reader: Reader,
    entries: dict[str, list[tuple[str, str]]],
    forms: Mapping[str, Sequence[Form]],
    indices: Mapping[str, int],
) -> dict[str, str]:
    """Puts right lists that most of their files do not fit, takes out those that cannot be, and says why of these."""
    plain = {name: listing(name, found, indices) for name, found in entries.items()}
    unfit = {}
    for name in sorted(entries):
        values_ = [v for _, v in forms[name] if v is not None]
        found = whole_list.mended(
            name, entries[name], values_, indices, plain, partial(_elsewhere, reader, name)
        )  # fmt: skip
        if found is None:
            continue
        reader.faults.append(found.fault(f"{LISTS}/{name}.json", name))
        if found.entries is None:
            unfit[name] = found.detail
            del entries[name]
        else:
            entries[name] = found.entries
    return unfit


def _elsewhere(reader: Reader, name: str) -> dict[str, str]:
    """Class of each image in the record's other lists; of several that of the last list."""
    other = Reader(reader.source)
    found: dict[str, str] = {}
    for file in reader.source.names(LISTS, ".json"):
        if stem(file) != name:
            found |= dict(pairs(other.value(file, dict) or {}))
    return found


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


def _forms(
    reader: Reader,
    name: str,
    files: Iterable[str],
    entries: Sequence[tuple[str, str]],
) -> list[Form]:
    """Each file of a list as whole numbers, rows as they are in it."""
    counts = {len(entries), len({i for i, _ in entries})}
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
        if image and wnid not in indices:
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
