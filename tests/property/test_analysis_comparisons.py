"""What must hold of comparisons for any counts."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from imagenetv2.analysis import resampled_sums
from imagenetv2.analysis.multiplicity import holm
from imagenetv2.analysis.paired import interval, mcnemar
from imagenetv2.intervals import clopper_pearson, newcombe

levels = st.sampled_from([0.5, 0.9, 0.95, 0.999])
trials = st.integers(1, 60_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(st.lists(st.integers(0, 1000).map(lambda v: v / 1000), min_size=1, max_size=7))
@settings(max_examples=150, deadline=None)
def test_holm_is_bonferroni_of_every_set_of_tests(p: list[float]) -> None:
    """A test's adjusted probability is the largest that any set of tests with it has by Bonferroni."""
    sets = [s for size in range(1, len(p) + 1) for s in combinations(range(len(p)), size)]
    wanted = [max(min(1, len(s) * min(p[i] for i in s)) for s in sets if test in s) for test in range(len(p))]
    assert holm(p) == pytest.approx(wanted, abs=1e-12)


@given(trials, levels)
@settings(max_examples=150, deadline=None)
def test_clopper_pearson_is_that_of_statsmodels(count: tuple[int, int], level: float) -> None:
    low, high = clopper_pearson(*count, level)
    wanted = proportion_confint(*count, 1 - level, "beta")
    assert (float(low), float(high)) == pytest.approx(wanted, abs=1e-9)


@given(trials, trials, levels)
@settings(max_examples=150, deadline=None)
def test_newcombe_is_that_of_statsmodels(new: tuple[int, int], old: tuple[int, int], level: float) -> None:
    low, high = newcombe(*new, *old, level)
    wanted = confint_proportions_2indep(*new, *old, method="newcomb", compare="diff", alpha=1 - level)
    assert (float(low), float(high)) == pytest.approx(wanted, abs=1e-9)
    back = newcombe(*old, *new, level)
    assert (float(back[0]), float(back[1])) == pytest.approx((-float(high), -float(low)), abs=1e-12)


@given(st.integers(0, 3000), st.integers(0, 3000))
@settings(max_examples=150, deadline=None)
def test_mcnemar_is_the_binomial_test(only: int, other: int) -> None:
    wanted = stats.binomtest(only, only + other).pvalue if only + other else 1
    assert float(mcnemar(only, other)) == pytest.approx(wanted, rel=1e-7)
    assert mcnemar(only, other) == mcnemar(other, only)


@given(st.lists(st.integers(0, 8), min_size=1, max_size=12), st.integers(1, 12))
@settings(max_examples=100, deadline=None)
def test_sums_are_convolutions(counts: list[int], draws: int) -> None:
    chances = np.ones(1)
    for _ in range(draws):
        chances = np.convolve(chances, np.bincount(counts) / len(counts))
    sums = resampled_sums.of_counts(np.array(counts), draws)
    at = np.arange(chances.size) - sums.start[0]
    assert (at >= 0).all() or chances[at < 0].sum() < 1e-12
    seen = sums.cumulative[0][np.clip(at, 0, sums.cumulative.shape[1] - 1)]
    assert seen == pytest.approx(chances.cumsum(), abs=1e-9)


@given(
    st.integers(1, 40).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n), st.integers(0, n))), levels
)
@settings(max_examples=100, deadline=None)
def test_paired_intervals_are_quantiles_of_all_resamples(cells: tuple[int, int, int], level: float) -> None:
    images, only, other = cells[0], cells[1], min(cells[2], cells[0] - cells[1])
    low, high = interval(np.array([only]), np.array([other]), images, level)
    sums = np.arange(-images, images + 1)
    once = np.array([other, images - only - other, only]) / images
    chances = np.ones(1)
    for _ in range(images):
        chances = np.convolve(chances, once)
    for end, chance in ((low[0], (1 - level) / 2), (high[0], (1 + level) / 2)):
        at = round(end * images)
        assert chances[sums <= at].sum() >= chance - 1e-9
        assert chances[sums < at].sum() < chance + 1e-9
