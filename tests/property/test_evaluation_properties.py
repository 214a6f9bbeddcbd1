"""Ranks by brute force, and probabilities that are what they should be."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from imagenetv2.evaluation.ranking import leading, probabilities, rounded, true_ranks
from imagenetv2.intervals import clopper_pearson

FEW = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 3.0])
OUTPUTS = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=FEW)


def sorted_classes(row: np.ndarray) -> list[int]:
    return sorted(range(len(row)), key=lambda c: (-float(row[c]), c))


@given(OUTPUTS, st.data())
def test_rank_is_the_place_in_a_sort(outputs: np.ndarray, data: st.DataObject) -> None:
    true = np.array([data.draw(st.integers(0, outputs.shape[1] - 1)) for _ in outputs])
    ranks = true_ranks(outputs, true)
    assert ranks.tolist() == [sorted_classes(row).index(c) for row, c in zip(outputs, true, strict=True)]


@given(OUTPUTS, st.integers(1, 8))
def test_leading_is_the_head_of_a_sort_and_agrees_with_ranks(outputs: np.ndarray, k: int) -> None:
    first = leading(outputs, k)
    assert first.tolist() == [sorted_classes(row)[:k] for row in outputs]
    for place in range(first.shape[1]):
        assert (true_ranks(outputs, first[:, place]) == place).all()


@given(OUTPUTS, st.floats(-50, 50))
def test_probabilities_sum_to_one_and_ignore_a_shift(outputs: np.ndarray, shift: float) -> None:
    columns = [np.full(len(outputs), c) for c in range(outputs.shape[1])]
    total = sum(probabilities(outputs, c[:, None])[:, 0] for c in columns)
    np.testing.assert_allclose(total, 1, atol=1e-4)
    moved = probabilities(outputs.astype(np.float64) + shift, columns[0][:, None])
    np.testing.assert_allclose(moved, probabilities(outputs, columns[0][:, None]), rtol=2e-5)


@given(arrays(np.float64, 20, elements=st.floats(0, 1)))
def test_rounded_numbers_have_six_digits_and_are_near(values: np.ndarray) -> None:
    found = rounded(values)
    assert found.tolist() == [float(f"{value:.6g}") for value in found]
    np.testing.assert_allclose(found, values, rtol=5.000001e-6, atol=5e-324)


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_interval_holds_the_share_and_is_symmetric(successes: int, more: int, level: float) -> None:
    trials = successes + more
    low, high = clopper_pearson(successes, trials, level)
    assert low <= successes / trials <= high
    other_low, other_high = clopper_pearson(trials - successes, trials, level)
    assert float(other_low) == pytest.approx(1 - float(high), abs=1e-9)
    assert float(other_high) == pytest.approx(1 - float(low), abs=1e-9)
