"""fc7: nothing is missed and nothing depends on how the work is cut, whatever the features are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.fc7.cpu import Engine
from imagenetv2.duplicates.fc7.rounding import rounded
from imagenetv2.duplicates.search import Plan, search

usual = st.floats(-100, 100, width=32) | st.sampled_from([0.0, 1.0, 1.0000001192092896, 100.0])
hostile = usual | st.floats(width=32, allow_nan=False, allow_infinity=False)
shapes = st.tuples(st.integers(1, 9), st.integers(1, 9))


def features(elements: st.SearchStrategy[float]) -> st.SearchStrategy[np.ndarray]:
    return shapes.flatmap(lambda shape: arrays(np.float32, shape, elements=elements))


def exactly(x: np.ndarray, y: np.ndarray) -> Fraction:
    return sum(
        ((Fraction(float(a)) - Fraction(float(b))) ** 2 for a, b in zip(x, y, strict=True)), Fraction()
    )


@settings(deadline=None)
@given(features(hostile))
def test_distances_and_bounds_against_fractions(rows: np.ndarray) -> None:
    engine, every = Engine(rows), np.arange(len(rows))
    lower, _ = engine.bounds(every, every)
    for i in every:
        stored = engine.exact(np.full(len(rows), i), every, np.full(len(rows), np.inf))
        for j in every:
            true = exactly(rows[i], rows[j])
            if true > Fraction(10) ** -200:
                assert abs(Fraction(stored[j]) - true) <= true * Fraction(501, 10**8)
            assert (stored[j] == 0) == (true == 0)
            assert lower[i, j] <= stored[j]


@settings(deadline=None)
@given(
    features(usual) | features(hostile),
    st.integers(0, 12),
    st.none() | st.floats(0, 1e5),
    st.tuples(st.integers(1, 5), st.integers(1, 5)),
    st.integers(1, 6),
    st.integers(1, 6),
    st.sampled_from([0, 2**20]),
    st.data(),
)
def test_search_equals_sorting_all_pairs(
    rows: np.ndarray, k: int, within: float | None, tile: tuple[int, int], block: int, shard: int, cache: int,
    data: st.DataObject,
) -> None:  # fmt: skip
    limit = -1.0 if within is None else within
    some = np.array(sorted(data.draw(st.sets(st.integers(0, len(rows) - 1)))), dtype=np.int64)
    left_out = [(int(i), int(i)) for i in some if data.draw(st.booleans())]
    every, engine = np.arange(len(rows)), Engine(rows)
    plan = Plan(k, limit, block=block, shard=shard, tile=tile, cache=cache, cores=2)
    found, skipped = search(engine, some, every, Excluded.of(len(rows), left_out), plan)
    wanted = []
    for i in some:
        distance = engine.exact(np.full(len(rows), i), every, np.full(len(rows), np.inf)).tolist()
        order = sorted((d, j) for j, d in enumerate(distance) if (i, j) not in left_out)
        wanted += [(int(i), j, d) for place, (d, j) in enumerate(order) if place < k or d <= limit]
    assert (
        list(zip(found.row.tolist(), found.column.tolist(), found.distance.tolist(), strict=True)) == wanted
    )
    assert skipped.pairs == len(some) * len(rows) - len(left_out)


@settings(deadline=None)
@given(st.lists(st.just(0.0) | st.floats(1e-17, 1e27) | st.floats(1e-200, 1e200), min_size=1))
def test_rounding_is_pythons_own_but_for_halves(values: list[float]) -> None:
    for value, found in zip(values, rounded(np.array(values)).tolist(), strict=True):
        wanted = float(f"{value:.5e}")
        half = abs(Fraction(value) - Fraction(wanted)) * Fraction(10**9 + 1, 10**9)
        slack = Fraction(0) if 1e-17 <= value <= 1e27 else Fraction(value) * Fraction(10) ** -15
        assert found == wanted or abs(Fraction(found) - Fraction(value)) <= half + slack
