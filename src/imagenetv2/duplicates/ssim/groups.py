"""Which images a candidate is compared with under ssim, and the search over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.duplicates.collection import Collection
from imagenetv2.duplicates.engine import Engine, Indices
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.duplicates.search import Plan, Skipped, search, steps
from imagenetv2.duplicates.work import Work
from imagenetv2.progress import bar

SHARED = "shared"


@dataclass(frozen=True)
class Group:
    """Candidates that are searched together, and among which images; indices of images, ascending.

    ``name`` is that of their class, or ``SHARED`` for all candidates and the references that all of them have.
    """

    name: str
    rows: Indices
    references: Indices


@dataclass(frozen=True)
class Groups:
    """All groups, each made when its turn comes: what all candidates share first, then by WordNet ID.

    A candidate for several classes is in several groups; its references are the union. Of a class no reference is
    shared, so that no pair of a candidate of one class is in two groups.

    Attributes:
        candidates: all of them.
        shared: references of every candidate.
        members: candidates of each class.
        own: of each class the images that are references of the candidates of classes near it, and not shared.
        among: whether the other candidates of a class are references, and not shared.
        near: classes whose ``own`` are references, for each class; for one that is not named its own.
    """

    candidates: Indices
    shared: Indices
    members: Mapping[str, Indices]
    own: Mapping[str, Indices]
    among: bool
    near: Mapping[str, Sequence[str]]

    def __iter__(self) -> Iterator[Group]:
        """Without those of whose images none are to be compared."""
        if len(self.shared):
            yield Group(SHARED, self.candidates, self.shared)
        for wnid, members in self.members.items():
            own = [self.own[name] for name in self.near.get(wnid, (wnid,)) if name in self.own]
            references = np.unique(np.concatenate([members if self.among else members[:0], *own]))
            if len(members) and len(references):
                yield Group(wnid, members, references)

    def without(self, left_out: npt.NDArray[np.bool_]) -> Groups:
        """Without some images, by a mask over all."""

        def kept(some: Indices) -> Indices:
            return some[~left_out[some]]

        return replace(
            self,
            candidates=kept(self.candidates),
            shared=kept(self.shared),
            members={wnid: kept(some) for wnid, some in self.members.items()},
            own={wnid: kept(some) for wnid, some in self.own.items()},
        )


def near(classes: pd.DataFrame, count: int) -> dict[str, list[str]]:
    """Each class and its so many WordNet-nearest ones, by WordNet ID."""
    pairs = zip(classes["wnid"].tolist(), classes["neighbours"].tolist(), strict=True)
    return {wnid: [wnid, *list(nearest)[:count]] for wnid, nearest in pairs}


def groups(
    images: Collection,
    reference: pd.DataFrame,
    candidates: pd.DataFrame,
    near: Mapping[str, Sequence[str]],
    *,
    everything: bool,
) -> Groups:
    """Which candidates are compared with which images.

    The references are the training images of the classes ``near`` the class, and its other candidates;
    ``everything`` adds all validation and test images and all candidates.
    """
    place = pd.Series(np.arange(len(images.ids)), index=images.ids)
    is_shared = np.zeros(len(images.ids), dtype=bool)
    if everything:
        others = reference.loc[reference["split"] != "train", "image_id"]
        is_shared[place[others].to_numpy(np.int64)] = True
        is_shared[images.candidates] = True
    trained = _members(place, reference[reference["split"] == "train"])
    return Groups(
        candidates=images.candidates,
        shared=np.flatnonzero(is_shared),
        members=_members(place, candidates),
        own={wnid: some[~is_shared[some]] for wnid, some in trained.items()},
        among=not everything,
        near=near,
    )


def _members(place: pd.Series[int], rows: pd.DataFrame) -> dict[str, Indices]:
    """Ascending indices of the images of each class."""
    classes = rows.groupby("wnid", sort=True)["image_id"]
    return {str(wnid): np.unique(place[names].to_numpy()) for wnid, names in classes}


def search_groups(
    engine: Engine, groups: Groups, excluded: Excluded, plan: Plan, work: Work
) -> tuple[Pairs, Skipped]:
    """Of each candidate the k nearest among the references of all its groups, and all within ``plan.within``.

    A pair that is in several groups, as its candidate is in several classes, is searched, and counted, in each.
    """
    found, skipped = [], Skipped()
    total = sum(steps(len(g.rows), len(g.references), plan, work.within(g.name)) for g in groups)
    with bar("ssim", total) as shown:
        for group in groups:
            pairs, counted = search(
                engine, group.rows, group.references, excluded, plan, work.within(group.name), shown=shown
            )
            found.append(pairs)
            skipped.add(counted)
    return Pairs.joined(found).nearest(plan.k, plan.within), skipped
