"""What a sampling rule is given for one class, and what it gives back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from imagenetv2.settings import Section

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, slots=True)
class Candidate:
    """A candidate for one class: its votes as counts, and its fate among near-duplicates.

    ``component`` names the others of which at most one is taken (see ``staying``); empty where there are none.
    """

    image_id: str
    shown: int
    selected: int
    fate: str
    component: str = ""


@dataclass(frozen=True, slots=True)
class Chosen:
    """An image in a revision: columns of ``images.parquet`` that a rule decides."""

    image_id: str
    bin: int
    own_bin: int
    entered: int
    how: str


@dataclass(frozen=True, slots=True)
class Pool:
    """A class: its candidates by image_id, and votes (selected, shown) of its validation images."""

    wnid: str
    candidates: tuple[Candidate, ...]
    validation: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Request:
    """One class of one revision, to be filled.

    Attributes:
        wnid: WordNet ID of the class.
        revision: number of the revision, from 0.
        eligible: the candidates that may be taken, by image_id.
        previous: the class in the previous revision, in its order; empty in revision 0.
        validation: votes (selected, shown) of its validation images with enough votes.
        wanted: images wanted.
        settings: the rule's section.
        rng: the generator of this rule, revision and class.
    """

    wnid: str
    revision: int
    eligible: tuple[Candidate, ...]
    previous: tuple[Chosen, ...]
    validation: tuple[tuple[int, int], ...]
    wanted: int
    settings: Section
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Drawn:
    """A filled class; ``why`` says what held it back where it has fewer images than wanted."""

    images: tuple[Chosen, ...]
    why: str = ""


def choose(rng: np.random.Generator, items: list[str], count: int) -> list[str]:
    """Draw without replacement; the result depends on the set of items, not on their order."""
    among = sorted(items)
    return [among[i] for i in rng.choice(len(among), size=count, replace=False)] if count else []


def pools(
    wnids: list[str], candidates: pd.DataFrame, frequencies: pd.DataFrame, fates: pd.DataFrame
) -> dict[str, Pool]:
    """One pool a class, in the order of ``wnids``, from the tables of those names.

    A candidate without a row in ``frequencies`` has no votes. Validation images are the reference images that
    workers were asked about for their own class. Raises ValueError for a candidate without a fate.
    """
    columns = ("image_id", "wnid", "selected", "shown", "origin", "negative")
    votes: dict[tuple[str, str], tuple[int, int]] = {}
    validation: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for image, wnid, selected, shown, origin, negative in rows(frequencies, columns):
        votes[image, wnid] = (selected, shown)
        if origin == "reference" and not negative:
            validation[wnid].append((image, selected, shown))
    fate = {
        (image, wnid): (name, component)
        for image, wnid, name, component in rows(fates, ("image_id", "wnid", "fate", "component"))
    }
    members: dict[str, list[Candidate]] = defaultdict(list)
    for image, wnid in rows(candidates, ("image_id", "wnid")):
        if (image, wnid) not in fate:
            raise ValueError(f"duplicates/fates.parquet has no row for candidate {image} of {wnid}")
        selected, shown = votes.get((image, wnid), (0, 0))
        members[wnid].append(Candidate(image, shown, selected, *fate[image, wnid]))
    return {
        wnid: Pool(
            wnid,
            tuple(sorted(members[wnid], key=lambda c: c.image_id)),
            tuple((selected, shown) for _, selected, shown in sorted(validation[wnid])),
        )
        for wnid in wnids
    }


def rows(frame: pd.DataFrame, columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    """The values of some columns, row by row."""
    return zip(*(frame[c].tolist() for c in columns), strict=True)
