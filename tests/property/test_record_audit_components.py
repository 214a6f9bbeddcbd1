"""Groups of near-duplicates against networkx."""

from __future__ import annotations

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.record.audit.near_duplicates import group_of

EDGES = st.lists(st.tuples(st.sampled_from("abcdefghij"), st.sampled_from("abcdefghij")), max_size=15)


@given(EDGES, st.randoms(use_true_random=False))
def test_components_are_those_of_networkx_in_any_order(edges: list[tuple[str, str]], random: object) -> None:
    graph = nx.Graph(edges)
    expected = {x: min(group) for group in nx.connected_components(graph) for x in group}
    assert group_of(edges) == expected
    random.shuffle(edges)  # type: ignore[attr-defined]
    assert group_of(edges) == expected
