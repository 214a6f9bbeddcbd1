"""Distances between classes in WordNet's hierarchy of hypernyms."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Ancestors = Mapping[str, int]
"""WordNet IDs above a synset, itself included at 0, and the number of edges up to each."""


def chain(wnid: str, hypernyms: Sequence[str]) -> dict[str, int]:
    """Ancestors of a synset whose hypernyms are one way up, nearest first."""
    found = {wnid: 0}
    for edges, hypernym in enumerate(hypernyms, start=1):
        found.setdefault(hypernym, edges)
    return found


def ascend(wnid: str, parents: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Ancestors of a synset with any number of parents, by fewest edges; ordered by edges, then WordNet ID."""
    found, level, edges = {wnid: 0}, [wnid], 0
    while level:
        edges += 1
        level = sorted({p for child in level for p in parents.get(child, ())} - found.keys())
        found.update(dict.fromkeys(level, edges))
    return found


def distance(a: Ancestors, b: Ancestors) -> float:
    """Edges from one synset up to the common ancestor and down to the other on the shortest way; inf if none."""
    few, many = sorted((a, b), key=len)
    return min((edges + many[wnid] for wnid, edges in few.items() if wnid in many), default=math.inf)


def nearest(classes: Sequence[Ancestors], count: int) -> list[list[int]]:
    """For each class the positions of the ``count`` nearest others, nearest first, ties by position."""
    found = []
    for here, ancestors in enumerate(classes):
        ranked = sorted(
            (distance(ancestors, other), there) for there, other in enumerate(classes) if there != here
        )
        found.append([there for _, there in ranked[:count]])
    return found
