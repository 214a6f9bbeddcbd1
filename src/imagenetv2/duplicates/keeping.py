"""Which image of a component stays, for which class, and which one where that may not be used."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from imagenetv2.decimals import exact


class Entry(NamedTuple):
    """A candidate for one class, with its votes."""

    image_id: str
    wnid: str
    selected: int
    shown: int

    @property
    def frequency(self) -> Fraction:
        """Selection frequency, exactly; 0 for an image that nobody was asked about."""
        return Fraction(self.selected, self.shown) if self.shown else Fraction(0)

    def reaches(self, level: Fraction) -> bool:
        """Whether its frequency is at least that; without making a fraction, which is slow in a large pool."""
        if not self.shown:
            return level <= 0
        return self.selected * level.denominator >= level.numerator * self.shown


Counts = Mapping[tuple[str, Fraction], int]


def levels(good: Sequence[float]) -> list[Fraction]:
    """The configured frequencies as the decimal fractions that were written, highest first."""
    return sorted({exact(value) for value in good}, reverse=True)


def good_counts(entries: Iterable[Entry], good: Sequence[float]) -> dict[tuple[str, Fraction], int]:
    """How many candidates of each class reach each level, in the whole pool."""
    reached = levels(good)
    counts: dict[tuple[str, Fraction], int] = {}
    for entry in entries:
        for level in reached:
            if entry.reaches(level):
                counts[entry.wnid, level] = counts.get((entry.wnid, level), 0) + 1
    return counts


def order(
    inside: Iterable[Entry], good: Sequence[float], counts: Counts, override: str | None = None
) -> list[Entry]:
    """The entries of a component in the order in which they would stay; the first is the one that does.

    Classes whose best image of the component reaches the highest level that any reaches can have it; of these
    the one with the fewest candidates at that level in the pool, then the higher best frequency, then the smaller
    WordNet ID. Where no class reaches a level, the class with the highest best frequency, then the smaller
    WordNet ID. In the class the image with the highest frequency, then more votes, then the smaller id. Entries of
    the image ``override`` come before all others.

    What stays of some of the entries is the first of these in the order of all: the entry that would stay is still
    of a class that reaches the highest level, with the smallest count, and the best of its class, whatever else is
    taken away. So the same order says what stays when those before are not to be used.
    """
    reached = levels(good)

    def place(entry: Entry) -> tuple[bool, int, int, Fraction, str, int, str]:
        rank = next((n for n, level in enumerate(reached) if entry.reaches(level)), len(reached))
        rivals = counts.get((entry.wnid, reached[rank]), 0) if rank < len(reached) else 0
        first = entry.image_id == override
        return not first, rank, rivals, -entry.frequency, entry.wnid, -entry.shown, entry.image_id

    return sorted(inside, key=place)
