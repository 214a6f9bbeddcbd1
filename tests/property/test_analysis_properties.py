"""What must hold of the statistics for any numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from imagenetv2.analysis import ranks
from imagenetv2.analysis.bootstrap import averages
from imagenetv2.analysis.figures.frequencies import shares


@given(st.lists(st.integers(0, 5), min_size=2, max_size=10), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_correlations_are_those_of_counted_pairs_and_of_ranks(old: list[int], seed: int) -> None:
    x = np.array(old, float)
    y = np.random.default_rng(seed).integers(0, 5, x.size).astype(float)
    names = [f"m{i}" for i in range(x.size)]
    found = ranks.agreement(x, y, names)
    assert sorted(ranks.places(x, names)) == list(range(1, x.size + 1))
    if np.ptp(x) == 0 or np.ptp(y) == 0:
        assert found.kendall is None
        return
    dx, dy = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    assert found.kendall == pytest.approx((dx * dy).sum() / np.sqrt((dx**2).sum() * (dy**2).sum()), abs=1e-9)
    assert found.spearman == pytest.approx(np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1], abs=1e-9)


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
