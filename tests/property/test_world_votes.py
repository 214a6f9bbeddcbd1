"""Votes in a random order are still the same votes; off-topic results keep their share."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.randomness import generator
from imagenetv2.world.folder import halves, tagged
from imagenetv2.world.recorded import Recorded, in_order
from imagenetv2.world.rendering.difficulty import Factors, clarity, selection
from imagenetv2.world.rendering.objects import KINDS

CLASSES = ["n1", "n2", "n3"]
shares = st.floats(0, 1)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12).filter(any), st.integers(0, 10))
def test_ordered_votes_are_the_counts(counts: list[int], seed: int) -> None:
    ordered = in_order(np.array(counts), generator(seed))
    assert ordered.sum(axis=1).tolist() == counts
    assert (ordered.sum(axis=0) == 1).all()


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.sampled_from(CLASSES), st.lists(st.integers(1, 9), min_size=3, max_size=3)), max_size=60
    ),
    st.floats(0, 0.6),
    st.integers(0, 3),
)
def test_halves_part_and_wrong_results_are_as_many_as_asked(
    rows: list[tuple[str, list[int]]], share: float, seed: int
) -> None:
    votes = [Recorded(f"{n}.jpg", w, np.array(c)) for n, (w, c) in enumerate(rows)]
    held, pooled = halves(votes, CLASSES, seed)
    assert sorted(r.image for r in (*held, *pooled)) == sorted(r.image for r in votes)
    listed = tagged(pooled, CLASSES, share, seed)
    assert [u.recorded.image for u in listed] == [r.image for r in pooled]
    for wnid in CLASSES:
        own = sum(r.wnid == wnid for r in pooled)
        assert abs(own - sum(r.wnid == wnid for r in held)) <= 1
        wrong = sum(wnid in u.tagged and u.recorded.wnid != wnid for u in listed)
        assert wrong == min(len(pooled) - own, int(own * share / (1 - share) + 0.5))


@given(
    st.builds(Factors, shares, shares, shares, shares, shares),
    st.sampled_from(list(KINDS)),
    st.sampled_from(list(KINDS)),
)
def test_probabilities_are_probabilities(factors: Factors, shown: str, asked: str) -> None:
    clear = clarity(factors)
    assert 0 < clear < 1
    assert 0 < selection(shown, asked, clear) < 1
    assert selection(shown, asked, clear, drawing=True) <= selection(shown, asked, clear)
