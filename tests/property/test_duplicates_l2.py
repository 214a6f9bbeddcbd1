"""l2: whatever the images, tiles, blocks, shards and cores, a search equals sorting all integer distances."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.duplicates import engine as protocol
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.l2.cpu import Engine
from imagenetv2.duplicates.search import Plan, search
from tests.property.duplicates_strategies import plans, varied
from tests.unit.duplicates_pixels import Pixels, brute, hostile


@st.composite
def collections(draw: st.DrawFn) -> Pixels:
    """Images of any side."""
    return varied(draw, hostile(draw(st.sampled_from([1, 2, 5, 16, 19, 32]))), most=12, noise=3)


@settings(deadline=None)
@given(collections(), st.integers(0, 5), st.data())
def test_search_equals_sorting_all_integer_distances(pixels: Pixels, k: int, data: st.DataObject) -> None:
    count = len(pixels)
    wanted = brute(pixels)
    index = st.integers(0, count - 1)
    rows = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    columns = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    left_out = data.draw(st.sets(st.tuples(index, index), max_size=6))
    # Cut-offs at a distance that occurs, and just below one.
    within = float(data.draw(st.sampled_from(sorted(set(wanted.ravel().tolist()))))) - data.draw(
        st.sampled_from([0, 1])
    )
    excluded = Excluded.of(count, left_out)
    engine: protocol.Engine = Engine(pixels)
    plan = Plan(k=k, within=within, **data.draw(plans()))  # type: ignore[arg-type]
    found, skipped = search(engine, rows, columns, excluded, plan)
    expected = []
    for row in rows.tolist():
        near = sorted((int(wanted[row, c]), c) for c in columns.tolist() if (row, c) not in left_out)
        expected += [(row, c, d) for rank, (d, c) in enumerate(near) if rank < k or d <= within]
    assert (
        list(zip(found.row.tolist(), found.column.tolist(), found.distance.tolist(), strict=True)) == expected
    )
    whole, counted = search(engine, rows, columns, excluded, Plan(k=k, within=within))
    assert np.array_equal(whole.distance, found.distance)
    assert skipped == counted


@settings(deadline=None)
@given(collections(), st.data())
def test_bounds_and_distances_of_a_pair_do_not_depend_on_the_others(
    pixels: Pixels, data: st.DataObject
) -> None:
    wanted = brute(pixels)
    every = np.arange(len(pixels))
    whole = Engine(pixels).bounds(every, every)
    assert (whole[0] <= wanted).all()
    index = st.integers(0, len(pixels) - 1)
    rows = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    columns = np.array(sorted(data.draw(st.sets(index, min_size=1))), dtype=np.int64)
    engine = Engine(pixels)
    some = engine.bounds(rows, columns)
    for part, all_of in zip(some, whole, strict=True):
        assert np.array_equal(part, all_of[np.ix_(rows, columns)])
    pairs = sorted(data.draw(st.sets(st.tuples(index, index), min_size=1)))
    column, row = np.array(pairs, dtype=np.int64).T.copy()
    limit = np.array([data.draw(st.sampled_from([0.0, 1.0, 1e5, np.inf])) for _ in pairs])
    found = engine.exact(row, column, limit)
    near = wanted[row, column] <= limit
    assert np.array_equal(found[near], wanted[row, column][near])
    assert (found[~near] > limit[~near]).all()
