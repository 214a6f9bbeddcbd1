"""Connected components of images."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


def components(images: Iterable[str], edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Components of the graph over ``images`` and the ends of ``edges``, each sorted, by their smallest id."""
    names = sorted({*images, *(end for edge in edges for end in edge)})
    place = {name: i for i, name in enumerate(names)}
    ends = np.array([(place[a], place[b]) for a, b in edges], dtype=np.int64).reshape(-1, 2)
    graph = coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(len(names), len(names)))
    _, labels = connected_components(graph, directed=False)
    members: dict[int, list[str]] = {}
    for name, label in zip(names, labels.tolist(), strict=True):
        members.setdefault(label, []).append(name)
    return sorted(members.values())
