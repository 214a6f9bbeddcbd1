"""Nearest neighbours between two sets of pictures from folders or archives, or within one, without a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from imagenetv2.duplicates.engine import Indices
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.folders import Folder
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels


@dataclass(frozen=True)
class Sets:
    """Pictures whose neighbours are wanted and those they are looked for in, one after the other.

    Without ``references`` the candidates are compared with each other. Indices follow the order of names within a
    set, so that equal distances are ordered by name.
    """

    candidates: Folder
    references: Folder | None = None

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def names(self) -> list[str]:
        """Names of all pictures."""
        return [name for folder in self._folders for name in folder.names]

    @property
    def bytes(self) -> int:
        """Of all files."""
        return sum(folder.bytes for folder in self._folders)

    def digest(self) -> str:
        """Tells whether these are the same files, unchanged (see ``Folder.digest``)."""
        return " ".join(folder.digest() for folder in self._folders)

    @property
    def _folders(self) -> list[Folder]:
        return [folder for folder in (self.candidates, self.references) if folder is not None]

    def pixels(self, i: int) -> Pixels:
        """Decode a picture. Raises UndecodableImageError saying why it is none."""
        own = len(self.candidates)
        if i < own or self.references is None:
            return self.candidates.pixels(i)
        return self.references.pixels(i - own)

    def part(self, i: int) -> str:
        """``candidates`` or ``references``."""
        return "candidates" if i < len(self.candidates) else "references"

    @property
    def damaged(self) -> list[int]:
        """Those of which it is known beforehand that they can't be read."""
        return [
            i for i, damaged in enumerate(x for folder in self._folders for x in folder.damaged) if damaged
        ]

    def readable(self, unreadable: Sequence[int]) -> tuple[Indices, Indices]:
        """Pictures whose neighbours are looked for and those among which, without the unreadable ones."""
        own = len(self.candidates)
        there = np.setdiff1d(np.arange(len(self)), np.asarray(unreadable, dtype=np.int64))
        rows = there[there < own]
        return rows, rows if self.references is None else there[there >= own]

    def excluded(self) -> Excluded:
        """A file is no neighbour of itself, also where it is in both sets."""
        if self.references is None:
            return Excluded.of(len(self), ((i, i) for i in range(len(self))))
        place = {identity: i for i, identity in enumerate(self.references.identities, len(self.candidates))}
        same = ((i, place[one]) for i, one in enumerate(self.candidates.identities) if one in place)
        return Excluded.of(len(self), same)

    def require_any(self, unreadable: dict[int, str]) -> None:
        """Raise InputError where a set has no picture at all."""
        rows, columns = self.readable(list(unreadable))
        for part, left in (("candidates", rows), ("references", columns)):
            inside = [i for i in range(len(self)) if self.part(i) == part]
            if len(left) == 0:
                found = "no files"
                if inside:
                    which = (
                        "the only file is no" if len(inside) == 1 else f"none of {len(inside):,} files is a"
                    )
                    why = f"{self.names[inside[0]]}: {unreadable[inside[0]]}"
                    found = f"{which} picture that can be read ({why})"
                raise InputError(f"{part}: {found}; name a folder, archive or file with pictures.")


def table(pairs: Pairs, names: Sequence[str], whole: bool) -> pd.DataFrame:
    """image, rank (0 is nearest), neighbour and distance, int64 where ``whole``; sorted by image and rank."""
    named = np.asarray(names, dtype=object)
    return pd.DataFrame(
        {
            "image": named[pairs.row],
            "rank": pairs.ranks(),
            "neighbour": named[pairs.column],
            "distance": pairs.distance.astype(np.int64) if whole else pairs.distance,
        }
    )


def unreadable_table(reasons: dict[int, str], sets: Sets) -> pd.DataFrame:
    """image, set (candidates or references) and reason."""
    rows = [(sets.names[i], sets.part(i), reason) for i, reason in sorted(reasons.items())]
    return pd.DataFrame(rows, columns=["image", "set", "reason"])


def nearest_pairs(pairs: Pairs, both: bool, count: int) -> Pairs:
    """The ``count`` pairs at the smallest distances; where ``both`` ways of a pair are there, one of them."""
    if both:
        low, high = np.minimum(pairs.row, pairs.column), np.maximum(pairs.row, pairs.column)
        pairs = Pairs(low, high, pairs.distance)
        pairs = pairs.take(np.lexsort((pairs.column, pairs.row))).distinct()
    return pairs.take(np.lexsort((pairs.column, pairs.row, pairs.distance))[:count])
