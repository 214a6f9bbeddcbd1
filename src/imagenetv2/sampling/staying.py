"""What stays of each component of near-duplicates, given which images are blacklisted.

The stage ``duplicates`` orders the entries of a component without knowing any blacklist, nor how many votes an image
needs. Here the first in that order stays that has enough votes and whose image is not blacklisted, and no other. So an
entry that stays goes on staying while the blacklist grows, until it is blacklisted itself, and a component is lost only
when none of its images may be used.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

FREE, DROPPED, UNREVIEWED = "free", "dropped", "unreviewed"


@dataclass(frozen=True, slots=True)
class Component:
    """Candidates of which at most one is taken.

    Attributes:
        order: (image_id, WordNet ID) of its entries in the order in which they would stay, without those that have too
            few votes; empty where none may stay, since an original image is among them.
        wnids: all classes that an image of it is a candidate for.
        undecided: whether a verdict is still missing, so that none of them may be taken yet.
    """

    order: tuple[tuple[str, str], ...]
    wnids: frozenset[str]
    undecided: bool

    def fate(self, image_id: str, wnid: str, blacklist: Set[str]) -> str:
        """What becomes of one of its entries: free, dropped or unreviewed."""
        first = next((entry for entry in self.order if entry[0] not in blacklist), None)
        if first != (image_id, wnid):
            return DROPPED
        return UNREVIEWED if self.undecided else FREE


Row = tuple[str, str, str, str, int]


def components(rows: Iterable[Row], few: Set[tuple[str, str]] = frozenset()) -> dict[str, Component]:
    """The components by name, from rows (image_id, wnid, component, fate, place) of the table of fates.

    Candidates that are in none are left out. ``few`` names the entries (image_id, wnid) with too few votes, which never
    stay.
    """
    members: dict[str, list[tuple[int, str, str, str]]] = defaultdict(list)
    for image, wnid, component, fate, place in rows:
        if component:
            members[component].append((place, image, wnid, fate))
    return {
        name: Component(
            tuple(
                (image, wnid)
                for place, image, wnid, _ in sorted(entries)
                if place >= 0 and (image, wnid) not in few
            ),
            frozenset(wnid for _, _, wnid, _ in entries),
            any(fate == UNREVIEWED for _, _, _, fate in entries),
        )
        for name, entries in members.items()
    }


def touched(
    known: Mapping[str, Component], images: Mapping[str, Iterable[str]], new: Iterable[str]
) -> set[str]:
    """WordNet IDs of the classes for whose candidates something may change when ``new`` images are blacklisted.

    ``images`` names the components that each image is in.
    """
    return {wnid for image in new for name in images.get(image, ()) for wnid in known[name].wnids}
