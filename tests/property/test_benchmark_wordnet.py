"""Distances in the hierarchy, against scipy's shortest paths."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import dijkstra

from imagenetv2.benchmark import wordnet


@st.composite
def hierarchies(draw: st.DrawFn) -> dict[str, list[str]]:
    """Parents of each node; node 0 is the root, parents have smaller numbers."""
    count = draw(st.integers(2, 9))
    return {
        str(child): [
            str(p) for p in draw(st.lists(st.integers(0, child - 1), min_size=1, max_size=3, unique=True))
        ]
        for child in range(1, count)
    }


def _upward(parents: dict[str, list[str]]) -> np.ndarray:
    count = len(parents) + 1
    edges = np.zeros((count, count))
    for child, above in parents.items():
        for parent in above:
            edges[int(child), int(parent)] = 1
    return np.asarray(dijkstra(csr_matrix(edges), unweighted=True))


@given(hierarchies())
def test_distance_is_the_shortest_way_up_and_down(parents: dict[str, list[str]]) -> None:
    up = _upward(parents)
    names = ["0", *parents]
    ancestors = [wordnet.ascend(name, parents) for name in names]
    for i, a in enumerate(ancestors):
        assert {int(k): v for k, v in a.items()} == {j: int(d) for j, d in enumerate(up[i]) if np.isfinite(d)}
        assert list(a.values()) == sorted(a.values())
        for j, b in enumerate(ancestors):
            assert wordnet.distance(a, b) == (up[i] + up[j]).min()


@given(hierarchies(), st.integers(1, 8))
def test_nearest_is_a_sorted_prefix_without_oneself(parents: dict[str, list[str]], count: int) -> None:
    up = _upward(parents)
    found = wordnet.nearest([wordnet.ascend(name, parents) for name in ["0", *parents]], count)
    for i, near in enumerate(found):
        way = (up[i] + up).min(1)
        order = [j for j in np.argsort(way, kind="stable").tolist() if j != i]
        assert near == order[:count]


def test_a_chain_counts_edges_and_strangers_are_infinitely_far() -> None:
    a, b = wordnet.chain("a", ["x", "y", "root"]), wordnet.chain("b", ["y", "root"])
    assert wordnet.distance(a, b) == 3
    assert wordnet.distance(a, a) == 0
    assert wordnet.distance(a, wordnet.chain("c", ["other"])) == float("inf")
