"""How many photographs each synonym may bring: the budget of each rung, split and passed on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from imagenetv2.candidates.records import Photo


@dataclass(frozen=True)
class Admitted:
    """A photograph that is in, the synonym that brought it and the rung (from 0) that let it in."""

    query: str
    rung: int
    photo: Photo


def split(budget: int, shares: int) -> list[int]:
    """The budget in equal whole shares; what remains goes to the first ones."""
    whole, rest = divmod(budget, shares)
    return [whole + (i < rest) for i in range(shares)]


def climb(results: Mapping[str, Iterator[Photo]], ladder: Sequence[int]) -> list[Admitted]:
    """Photographs of a class, rung by rung; each once, by the first synonym that brings it.

    ``results`` are each synonym's photographs, earliest upload first; they are read no further than needed. Rung r
    fills the class up to ``ladder[r]``: its budget is split evenly over the synonyms, and what a synonym can't
    use goes to those that have more (the released code lost it).
    """
    waiting = dict(results)
    admitted: dict[str, Admitted] = {}
    for rung, wanted in enumerate(ladder):
        while waiting and len(admitted) < wanted:
            shares = split(wanted - len(admitted), len(waiting))
            for (query, photos), share in zip(list(waiting.items()), shares, strict=True):
                if _take(query, photos, share, rung, admitted) < share:
                    del waiting[query]
    return list(admitted.values())


def _take(query: str, photos: Iterator[Photo], share: int, rung: int, admitted: dict[str, Admitted]) -> int:
    taken = 0
    while taken < share:
        photo = next(photos, None)
        if photo is None:
            break
        if photo.photo_id not in admitted:
            admitted[photo.photo_id] = Admitted(query, rung, photo)
            taken += 1
    return taken
