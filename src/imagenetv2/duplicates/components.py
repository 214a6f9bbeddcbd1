"""Connected components."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

T = TypeVar("T", str, int)


def components(items: Iterable[T], edges: Sequence[tuple[T, T]]) -> list[list[T]]:
    """Components of the graph over ``items`` and the ends of ``edges``, each sorted, by their smallest item."""
    seen = set(items)
    for edge in edges:
        seen.update(edge)
    names = sorted(seen)
    place = {name: i for i, name in enumerate(names)}
    ends = np.array([(place[a], place[b]) for a, b in edges], dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=False)
    members: dict[int, list[T]] = {}
    for name, label in zip(names, labels.tolist(), strict=True):
        members.setdefault(label, []).append(name)
    return sorted(members.values())
