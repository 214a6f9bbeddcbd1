"""Precision, recall and cut-offs against scikit-learn and the plain definitions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, f1_score, precision_recall_curve

from imagenetv2.duplicates.labelled.curves import counts, curve, shortest

SKLEARN = settings(deadline=None, max_examples=30)
"""scikit-learn checks its arguments at length."""

Case = tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]


@st.composite
def labelled(draw: st.DrawFn) -> Case:
    """Distances with many ties, and labels of both kinds."""
    size = draw(st.integers(2, 60))
    distance = draw(st.lists(st.integers(0, 12), min_size=size, max_size=size))
    right = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    right[0], right[-1] = True, False
    scale = draw(st.sampled_from([1.0, 0.037, 1.3e7]))
    return np.array(distance) * scale, np.array(right)


@SKLEARN
@given(labelled())
def test_curve_and_average_precision_are_scikit_learns(case: Case) -> None:
    distance, right = case
    one = curve(distance, right)
    precision, recall, thresholds = precision_recall_curve(right, -distance)
    np.testing.assert_array_equal(one.cutoff, -thresholds[::-1])
    np.testing.assert_allclose(one.precision, precision[:-1][::-1])
    np.testing.assert_allclose(one.recall, recall[:-1][::-1])
    assert one.average_precision == pytest.approx(average_precision_score(right, -distance))


@given(labelled())
def test_the_best_cutoff_has_the_best_f1_of_all(case: Case) -> None:
    distance, right = case
    best = curve(distance, right).best()

    def f1(cutoff: float) -> Fraction:
        found = distance <= cutoff
        return Fraction(2 * int((found & right).sum()), int(found.sum()) + int(right.sum()))

    assert f1(best) == max(f1(d) for d in distance)
    assert all(f1(d) < f1(best) for d in distance if d < distance[distance <= best].max())


@given(labelled(), st.sampled_from([0.3, 0.5, 0.95, 1.0]))
def test_the_largest_cutoff_of_a_precision(case: Case, wanted: float) -> None:
    distance, right = case
    found = curve(distance, right).largest(wanted)
    reach = [d for d in distance if right[distance <= d].mean() >= wanted]
    if not reach:
        assert np.isnan(found)
    else:
        assert ((distance <= found) == (distance <= max(reach))).all()


@SKLEARN
@given(labelled(), st.floats(0, 1e9))
def test_counts_at_a_cutoff(case: Case, cutoff: float) -> None:
    distance, right = case
    of = counts(distance <= cutoff, right)
    assert of.f1 == pytest.approx(f1_score(right, distance <= cutoff, zero_division=0.0))
    assert (of.found, of.false) == (sum(right[distance <= cutoff]), sum(~right[distance <= cutoff]))
    assert (of.duplicates, of.different) == (right.sum(), (~right).sum())


@given(st.floats(0, 1e12), st.floats(0, 1e12) | st.just(float("inf")))
def test_a_short_number_lies_between(low: float, high: float) -> None:
    if low >= high:
        return
    found = shortest(low, high)
    assert low <= found < high


@pytest.mark.parametrize(
    ("low", "high", "found"),
    [
        (0.0, 5.0, 0.0),
        (70294817.0, 84e6, 8e7),
        (70294817.0, 79e6, 7.1e7),
        (0.04392, 0.04395, 0.04392),
        (0.043921, 0.04395, 0.04393),
        (99.5, 200.0, 100.0),
        (7.0, np.inf, 7.0),
        (7.3, np.inf, 8.0),
        (9.6, 9.9, 9.6),
    ],
)
def test_short_numbers(low: float, high: float, found: float) -> None:
    assert shortest(low, high) == found


def test_distances_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        curve(np.array([1.0, np.inf]), np.array([True, False]))
