"""Which image of a component stays, and for which class."""

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


Counts = Mapping[tuple[str, Fraction], int]


def levels(good: Sequence[float]) -> list[Fraction]:
    """The configured frequencies as the decimal fractions that were written, highest first."""
    return sorted({exact(value) for value in good}, reverse=True)


def good_counts(entries: Iterable[Entry], good: Sequence[float]) -> dict[tuple[str, Fraction], int]:
    """How many candidates of each class reach each level, in the whole pool."""
    counts: dict[tuple[str, Fraction], int] = {}
    for entry in entries:
        for level in levels(good):
            if entry.frequency >= level:
                counts[entry.wnid, level] = counts.get((entry.wnid, level), 0) + 1
    return counts


def choose(inside: Sequence[Entry], good: Sequence[float], counts: Counts) -> tuple[Entry, str]:
    """The entry of a component that stays, and why in words.

    Classes whose best image of the component reaches the highest level that any reaches can have it; of these
    the one with the fewest candidates at that level in the pool, then the higher best frequency, then the smaller
    WordNet ID. Where no class reaches a level, the class with the highest best frequency, then the smaller
    WordNet ID. In the class the image with the highest frequency, then more votes, then the smaller id.
    """
    best: dict[str, Entry] = {}
    for entry in sorted(inside, key=lambda e: (-e.frequency, -e.shown, e.image_id)):
        best.setdefault(entry.wnid, entry)
    for level in levels(good):
        able = [entry for entry in best.values() if entry.frequency >= level]
        if able:
            kept = min(able, key=lambda e: (counts.get((e.wnid, level), 0), -e.frequency, e.wnid))
            count = counts.get((kept.wnid, level), 0)
            why = f"class {kept.wnid} has the fewest candidates at {float(level):g} or more ({count})"
            return kept, _reason(inside, kept, why if len(able) > 1 else "no other class could keep one")
    kept = min(best.values(), key=lambda e: (-e.frequency, e.wnid))
    return kept, _reason(inside, kept, f"no class reaches {float(levels(good)[-1]):g}" if good else "")


def _reason(inside: Sequence[Entry], kept: Entry, why: str) -> str:
    classes = {entry.wnid for entry in inside}
    votes = f"selected by {kept.selected} of {kept.shown} workers"
    within = sum(entry.wnid == kept.wnid for entry in inside) > 1
    parts = [f"kept of {len(inside)} in its component"]
    if len(classes) > 1 and why:
        parts.append(why)
    parts.append(f"{votes}, the most for its class" if within else votes)
    return "; ".join(parts)
