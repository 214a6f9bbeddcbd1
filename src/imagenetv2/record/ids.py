"""Ids of images in a record: their forms, how the study's own come about, and damaged ones made whole."""

from __future__ import annotations

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Set
from functools import cached_property

from imagenetv2.record.faults import CORRECTED, REPORTED, Fault

ORIGINS = {
    "candidates": re.compile(r"[0-9a-f]{40}"),
    "train": re.compile(r"n\d{8}_\d+\.JPEG"),
    "val": re.compile(r"ILSVRC2012_val_\d{8}\.JPEG"),
    "test": re.compile(r"ILSVRC\d{4}_test_\d{8}\.JPEG"),
}
WNID = re.compile(r"n\d{8}")
LENGTH = 40
ENOUGH = 20
"""Digits in which a damaged id must agree with a whole one: so many agree by chance in no record of this size."""


def origin(image_id: str) -> str:
    """candidates, train, val or test; empty for an id that has none of their forms."""
    for name, pattern in ORIGINS.items():
        if pattern.fullmatch(image_id):
            return name
    return ""


def own_id(photo_id: str, engine: str = "flickr") -> str:
    """The study's own id of a photograph: SHA-1 of the search engine's id followed by the engine's name, in hex."""
    return hashlib.sha1(f"{photo_id}{engine}".encode(), usedforsecurity=False).hexdigest()


def agreement(image_id: str, other: str) -> tuple[int, int]:
    """How many characters two ids have in common at their beginnings and, of the rest, at their ends."""
    start = _common(image_id, other)
    return start, _common(image_id[start:][::-1], other[start:][::-1])


def _common(one: str, other: str) -> int:
    return next(
        (k for k, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


def mend(image_id: str, known: Iterable[str]) -> str | None:
    """The one whole id that a damaged one can have been; None where there is none, or more than one."""
    plain = image_id.strip().lower()
    if origin(plain) == "candidates":
        return plain
    fitting = {k for k in known if origin(k) == "candidates" and sum(agreement(plain, k)) >= ENOUGH}
    return fitting.pop() if len(fitting) == 1 else None


class Mender:
    """Makes damaged ids of one part of the record whole, and notes each once.

    Attributes:
        known: whole ids that other parts of the record name.
        faults: one a file and damaged id.
    """

    def __init__(self, known: Set[str]) -> None:
        self.known = known
        self.faults: list[Fault] = []
        self._mended: dict[tuple[str, str], str] = {}

    def __call__(self, file: str, image_id: str, subject: str = "") -> str:
        """The id made whole where there is evidence for it, otherwise as it is."""
        if origin(image_id):
            return image_id
        if (file, image_id) not in self._mended:
            self._mended[file, image_id] = self._mend(file, image_id, subject)
        return self._mended[file, image_id]

    @cached_property
    def _ends(self) -> dict[str, list[str]]:
        """Known ids by the half of what must agree that stands at either end: one of the two is whole."""
        found = defaultdict(list)
        for image_id in self.known:
            found[image_id[: ENOUGH // 2]].append(image_id)
            found[image_id[-(ENOUGH // 2) :]].append(image_id)
        return found

    def _mend(self, file: str, image_id: str, subject: str) -> str:
        plain = image_id.strip().lower()
        near = {*self._ends.get(plain[: ENOUGH // 2], ()), *self._ends.get(plain[-(ENOUGH // 2) :], ())}
        found = mend(image_id, near)
        start, end = re.match(r"[0-9a-f]*", plain), re.search(r"[0-9a-f]*$", plain)
        assert start is not None and end is not None
        where = f" in {subject}" if subject else ""
        detail = (
            f"{len(image_id)} characters{where}; hex digits are the first {len(start.group())} and the last "
            f"{len(end.group())}, and an id has {LENGTH}"
        )
        if found is None:
            self.faults.append(Fault(file, image_id, "id damaged", detail, REPORTED))
            return image_id
        evidence = f"{found} is the only id of the record that agrees with it in {ENOUGH} or more digits"
        if found == plain:
            evidence = "in small letters and without blanks it has the form of an id"
        self.faults.append(Fault(file, image_id, "id damaged", detail, CORRECTED, evidence))
        return found
