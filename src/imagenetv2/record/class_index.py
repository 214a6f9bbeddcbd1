"""Which class has which index: from a record's list of classes, whose indices may be wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import WNID
from imagenetv2.record.reader import short, some, whole


def entries(
    file: str, items: Sequence[tuple[int, Mapping[str, Any]]]
) -> tuple[list[dict[str, Any]], list[Fault]]:
    """Entries with a WordNet ID of their own, in the order of the file, and what is wrong with the others."""
    kept: list[dict[str, Any]] = []
    seen: set[str] = set()
    faults = []
    for place, item in items:
        wnid = item.get("wnid")
        if not isinstance(wnid, str) or not wnid:
            reason = "a class without WordNet ID cannot be referred to"
            faults.append(Fault(file, f"item {place}", "class without id", short(item), LEFT_OUT, reason))
        elif wnid in seen:
            reason = "its first entry counts; a class has one index"
            faults.append(Fault(file, wnid, "class repeated", f"again as item {place}", LEFT_OUT, reason))
        else:
            kept.append(dict(item))
            seen.add(wnid)
            if not WNID.fullmatch(wnid):
                faults.append(Fault(file, wnid, "WordNet ID malformed", "not n and eight digits", REPORTED))
    return kept, faults


def indices(file: str, classes: Sequence[Mapping[str, Any]]) -> tuple[list[int], list[Fault]]:
    """Index of each class, a permutation of 0 … n − 1, from their fields ``cid``.

    Indices are corrected where they are texts, where all are off by the same number, and where some are missing or
    repeated: then by the alphabetical order of WordNet IDs, which is the order of ImageNet's classes.
    """
    n = len(classes)
    stated = [whole(c.get("cid")) for c in classes]
    faults = _texts(file, classes)
    numbers = [s for s in stated if s is not None]
    if len(numbers) == n and sorted(numbers) != list(range(n)):
        least = min(numbers)
        if sorted(numbers) == list(range(least, least + n)):
            faults.append(
                Fault(
                    file,
                    "cid",
                    "class indices shifted",
                    f"they run from {least} to {least + n - 1}",
                    CORRECTED,
                    f"all {n} follow each other without a gap, so that they start at 0 once shifted",
                )
            )
            numbers = [k - least for k in numbers]
    if len(numbers) == n and sorted(numbers) == list(range(n)):
        return numbers, faults + _order(file, classes, numbers)
    return _alphabetical(file, classes, stated, faults)


def _texts(file: str, classes: Sequence[Mapping[str, Any]]) -> list[Fault]:
    readable = [
        str(c["wnid"])
        for c in classes
        if not isinstance(c.get("cid"), int) and whole(c.get("cid")) is not None
    ]
    if not readable:
        return []
    detail = f"{len(readable)} of {len(classes)} are no whole numbers: {some(readable)}"
    return [
        Fault(
            file, "cid", "number of another type", detail, CORRECTED, "each has the value of a whole number"
        )
    ]


def _order(file: str, classes: Sequence[Mapping[str, Any]], numbers: Sequence[int]) -> list[Fault]:
    faults = []
    if list(numbers) != sorted(numbers):
        moved = [
            str(c["wnid"]) for place, (c, k) in enumerate(zip(classes, numbers, strict=True)) if place != k
        ]
        faults.append(
            Fault(
                file,
                "cid",
                "classes out of order",
                f"{len(moved)} are not at the place of their index: {some(moved)}",
                CORRECTED,
                f"their indices are each of 0 to {len(classes) - 1} once",
            )
        )
    by_index = [str(c["wnid"]) for _, c in sorted(zip(numbers, classes, strict=True), key=lambda p: p[0])]
    odd = [w for w, usual in zip(by_index, sorted(by_index), strict=True) if w != usual]
    if odd:
        detail = (
            f"{len(odd)} of {len(by_index)} have another index than in the order of WordNet IDs: {some(odd)}"
        )
        faults.append(Fault(file, "cid", "class indices not in the order of WordNet IDs", detail, REPORTED))
    return faults


def _alphabetical(
    file: str, classes: Sequence[Mapping[str, Any]], stated: Sequence[int | None], faults: list[Fault]
) -> tuple[list[int], list[Fault]]:
    place = {w: k for k, w in enumerate(sorted(str(c["wnid"]) for c in classes))}
    right = [place[str(c["wnid"])] for c in classes]
    agree = sum(a == b for a, b in zip(right, stated, strict=True))
    times = Counter(stated)
    evidence = f"the order of WordNet IDs is ImageNet's, and {agree} of {len(classes)} indices agree with it"
    for c, index, now in zip(classes, stated, right, strict=True):
        if index != now:
            what = "missing" if index is None else f"{index}, named {times[index]} times"
            faults.append(
                Fault(file, str(c["wnid"]), "class index wrong", f"{what}; now {now}", CORRECTED, evidence)
            )
    return right, faults
