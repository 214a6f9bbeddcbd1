"""What must hold of the statistics for any numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from imagenetv2.analysis import fits, ranks
from imagenetv2.analysis.bootstrap import averages
from imagenetv2.analysis.figures.frequencies import shares

percent = st.integers(0, 10_000).map(lambda v: v / 100)
points = st.lists(st.tuples(percent, percent), min_size=2, max_size=12)


@given(points)
@settings(max_examples=150, deadline=None)
def test_a_line_leaves_residuals_that_do_not_lean(values: list[tuple[float, float]]) -> None:
    x, y = np.array(values).T
    slope, offset = fits.line(x, y)
    if np.ptp(x) == 0:
        assert np.isnan(slope[0])
        return
    residuals = y - slope[0] * x - offset[0]
    assert abs(residuals.sum()) < 1e-6
    assert abs((residuals * (x - x.mean())).sum()) < 1e-6


@given(points)
@settings(max_examples=100, deadline=None)
def test_weights_count_like_repeated_models(values: list[tuple[float, float]]) -> None:
    x, y = np.array(values).T
    weights = (np.arange(x.size) % 3).astype(float)
    whole = weights.astype(int)
    if whole.sum() == 0 or np.ptp(np.repeat(x, whole)) == 0:
        return
    slope, offset = fits.line(x, y, weights[None])
    again = fits.line(np.repeat(x, whole), np.repeat(y, whole))
    assert slope[0] == pytest.approx(again[0][0], rel=1e-6, abs=1e-6)
    assert offset[0] == pytest.approx(again[1][0], rel=1e-6, abs=1e-4)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=10), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_orders_are_those_of_scipy(old: list[int], seed: int) -> None:
    x = np.array(old, float)
    y = np.random.default_rng(seed).integers(0, 5, x.size).astype(float)
    names = [f"m{i}" for i in range(x.size)]
    found = ranks.agreement(x, y, names)
    assert sorted(ranks.places(x, names)) == list(range(1, x.size + 1))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert found.kendall is None
        return
    assert found.kendall == pytest.approx(stats.kendalltau(x, y).statistic, abs=1e-9)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 1000))
@settings(max_examples=60, deadline=None)
def test_resampled_averages_stay_within_the_sample(values: list[float], seed: int) -> None:
    sample = np.array(values)
    drawn = averages(sample, 50, np.random.default_rng(seed))
    assert drawn.shape == (50,)
    assert sample.min() - 1e-12 <= drawn.min() and drawn.max() <= sample.max() + 1e-12


@given(st.lists(st.tuples(st.integers(0, 20), st.integers(1, 20)), min_size=1, max_size=50))
@settings(max_examples=60, deadline=None)
def test_every_frequency_is_in_one_bar(votes: list[tuple[int, int]]) -> None:
    frequencies = np.array([min(k, n) / n for k, n in votes])
    assert shares(frequencies).sum() == pytest.approx(100)
