"""Neighbours do not depend on how the work is cut into tiles."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from imagenetv2.duplicates import features, pixels
from imagenetv2.duplicates.neighbours import Nearest

levels = st.sampled_from([0, 1, 127, 128, 254, 255])
images = st.integers(1, 9).flatmap(
    lambda count: arrays(np.uint8, (count, 7), elements=levels | st.integers(0, 255))
)


@settings(deadline=None)
@given(images, st.integers(1, 12), st.integers(1, 10), st.data())
def test_l2_equals_sorting_all_pairs(values: np.ndarray, k: int, tile: int, data: st.DataObject) -> None:
    candidates = np.array(sorted(data.draw(st.sets(st.integers(0, len(values) - 1)))), dtype=np.int64)
    never = np.array([data.draw(st.sampled_from([-1, int(c)])) for c in candidates], dtype=np.int64)
    found = pixels.search(values, candidates, never, k, tile)
    whole = values.astype(np.int64)
    for row, (own, left_out) in enumerate(zip(candidates, never, strict=True)):
        order = sorted(
            (int(((whole[own] - other) ** 2).sum()), j) for j, other in enumerate(whole) if j != left_out
        )
        place = found.index[row] >= 0
        assert found.index[row][place].tolist() == [j for _, j in order[:k]]
        assert found.distance[row][place].tolist() == [d for d, _ in order[:k]]


@settings(deadline=None)
@given(images, st.integers(1, 12), st.integers(1, 10))
def test_fc7_does_not_depend_on_tiles(values: np.ndarray, k: int, tile: int) -> None:
    rows = values.astype(np.float32) / 7
    every = np.arange(len(rows))
    whole, cut = features.search(rows, every, every, k), features.search(rows, every, every, k, tile)
    assert np.array_equal(whole.index, cut.index)
    assert np.array_equal(whole.distance, cut.distance)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, np.inf]), min_size=1, max_size=20),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_merging_depends_on_neither_order_nor_cuts(distances: list[float], k: int, random: object) -> None:
    indices = list(range(len(distances)))
    random.shuffle(indices)  # type: ignore[attr-defined]
    nearest = Nearest.none(1, k)
    for index in indices:
        nearest = nearest.merged(np.array([[distances[index]]]), np.array([index]))
    finite = sorted((d, i) for i, d in enumerate(distances) if np.isfinite(d))[:k]
    assert [i for i in nearest.index[0].tolist() if i >= 0] == [i for _, i in finite]
