"""Which pairs are kept depends neither on the order in which they are found nor on how often they are put together."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.neighbours import Pairs

# One distance a pair, few of them, so that ties are common.
known = st.dictionaries(
    st.tuples(st.integers(0, 3), st.integers(0, 9)), st.sampled_from([0.0, 0.5, 1.0, 2.0]), max_size=30
)


def pairs(items: list[tuple[tuple[int, int], float]]) -> Pairs:
    row = np.array([r for (r, _), _ in items], dtype=np.int64)
    column = np.array([c for (_, c), _ in items], dtype=np.int64)
    return Pairs(row, column, np.array([d for _, d in items], dtype=np.float64))


@given(known, st.integers(0, 4), st.sampled_from([-1.0, 0.0, 0.7, 1.0]), st.data())
def test_keeping_depends_on_neither_order_nor_cuts(
    distances: dict[tuple[int, int], float], k: int, within: float, data: st.DataObject
) -> None:
    items = data.draw(st.permutations(list(distances.items())))
    kept = Pairs.none()
    while items:
        cut = data.draw(st.integers(1, len(items)))
        kept = Pairs.joined([kept, pairs(items[:cut])]).nearest(k, within)
        items = items[cut:]
    expected = []
    for row in range(4):
        near = sorted((d, c) for (r, c), d in distances.items() if r == row)
        expected += [(row, c, d) for rank, (d, c) in enumerate(near) if rank < k or d <= within]
    found = kept.nearest(k, within)
    rank = found.ranks()
    assert (
        list(zip(found.row.tolist(), found.column.tolist(), found.distance.tolist(), strict=True)) == expected
    )
    for row in range(4):
        assert rank[found.row == row].tolist() == list(range((found.row == row).sum()))


@given(
    st.sets(st.tuples(st.integers(0, 9), st.integers(0, 9))),
    st.sets(st.integers(0, 9)),
    st.sets(st.integers(0, 9)),
)
def test_pairs_that_do_not_count_are_found_in_every_tile(
    left_out: set[tuple[int, int]], rows: set[int], columns: set[int]
) -> None:
    down, across = (np.array(sorted(some), dtype=np.int64) for some in (rows, columns))
    row, column = Excluded.of(10, left_out).inside(down, across)
    found = sorted(zip(down[row].tolist(), across[column].tolist(), strict=True))
    assert found == sorted((r, c) for r, c in left_out if r in rows and c in columns)
