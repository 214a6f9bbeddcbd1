"""Lists of images that models were evaluated on, and the orders in which a file's rows may stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from imagenetv2.record.sheets import Ints

UNKNOWN = -1


@dataclass(frozen=True)
class Listing:
    """A list of images, each once.

    Attributes:
        name: of the list, which is also the folder of its predictions.
        ids: of the images.
        wnids: of their classes.
        classes: their class indices, shape (images,).
        entries: for each entry of the list in the record the place of its image in ``ids``; -1 for an entry that is
            left out, such as the second of an image listed twice.
        own_ids: whether an id means another image in another list.
    """

    name: str
    ids: tuple[str, ...]
    wnids: tuple[str, ...]
    classes: Ints
    entries: Ints
    own_ids: bool = False

    @cached_property
    def places(self) -> dict[tuple[str, str], int]:
        """Place of each image with its class."""
        return {image: i for i, image in enumerate(zip(self.ids, self.wnids, strict=True))}

    def common(self, other: Listing) -> tuple[Ints, Ints]:
        """Places, here and in another list, of the images that both have under one class."""
        if self.own_ids or other.own_ids:
            return np.empty(0, np.int64), np.empty(0, np.int64)
        small, large = sorted((self.places, other.places), key=len)
        shared = [image for image in small if image in large]
        here, there = ([p[i] for i in shared] for p in (self.places, other.places))
        return np.array(here, np.int64), np.array(there, np.int64)

    def rows(self, count: int) -> Ints | None:
        """Image of each row of a file of ``count`` rows in the order of the list; None where the number differs."""
        if count == len(self.entries):
            return self.entries
        return np.arange(count) if count == len(self.ids) else None

    def orders(self, count: int) -> Iterator[tuple[str, Ints]]:
        """Other orders in which ``count`` rows may stand: what they are called, and the image of each row."""
        rows = self.rows(count)
        if rows is None:
            return
        known = np.flatnonzero(rows >= 0)
        ids, wnids = np.array(self.ids)[rows[known]], np.array(self.wnids)[rows[known]]
        classes = self.classes[rows[known]]
        sortings = {
            "the list backwards": np.arange(len(known))[::-1],
            "by name of the image": np.argsort(ids, kind="stable"),
            "by WordNet ID and name of the image": np.lexsort((ids, wnids)),
            "by WordNet ID as listed": np.argsort(wnids, kind="stable"),
            "by class index and name of the image": np.lexsort((ids, classes)),
            "by class index as listed": np.argsort(classes, kind="stable"),
            "one row too late": np.roll(np.arange(len(known)), 1),
            "one row too early": np.roll(np.arange(len(known)), -1),
        }
        for name, sorting in sortings.items():
            for text, order in ((name, sorting), (f"{name}, backwards applied", np.argsort(sorting))):
                found = np.full(count, UNKNOWN)
                found[known] = rows[known[order]]
                yield text, found


def listing(
    name: str, entries: Sequence[tuple[str, str]], indices: Mapping[str, int], *, last: bool = False
) -> Listing:
    """A list from its entries, image and class each.

    Args:
        entries: as in the record.
        indices: class index by WordNet ID; entries of other classes are left out.
        last: of an image listed twice keep the last entry, not the first.
    """
    kept: dict[str, int] = {}
    for place, (image, wnid) in enumerate(entries):
        if wnid in indices and (last or image not in kept):
            kept[image] = place
    places = sorted(kept.values())
    found = np.full(len(entries), UNKNOWN)
    found[places] = np.arange(len(places))
    ids, wnids = tuple(entries[p][0] for p in places), tuple(entries[p][1] for p in places)
    return Listing(name, ids, wnids, np.array([indices[w] for w in wnids], np.int64), found)


def doubled(entries: Sequence[tuple[str, str]]) -> dict[str, list[int]]:
    """Places of the images that are listed more than once; an entry without a name is no image."""
    places: dict[str, list[int]] = {}
    for place, (image, _) in enumerate(entries):
        places.setdefault(image, []).append(place)
    return {image: found for image, found in places.items() if image and len(found) > 1}
