"""What must hold of lines, bootstrap counts and orders for any numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.lines import order
from imagenetv2.analysis.lines.influence import influence
from imagenetv2.analysis.lines.least_squares import fit, sampled, weighted
from imagenetv2.analysis.multinomial import Multinomial, collapse

percent = st.integers(0, 10_000).map(lambda v: v / 100)
points = st.lists(st.tuples(percent, percent), min_size=3, max_size=12)
factor = st.floats(0.1, 10) | st.floats(-10, -0.1)
shift = st.floats(-100, 100)


@given(points, factor, shift, factor, shift)
@settings(max_examples=100, deadline=None)
def test_a_line_moves_with_its_axes(
    values: list[tuple[float, float]], a: float, b: float, c: float, d: float
) -> None:
    x, y = np.array(values).T
    line, moved = fit(x, y), fit(a * x + b, c * y + d)
    assume(line is not None and moved is not None)
    assert line is not None and moved is not None
    slope = c * line.slope / a
    size = 1e-7 * (1 + abs(slope) * (abs(b) + 100 * abs(a)) + abs(c) * 100 + abs(d))
    assert moved.slope == pytest.approx(slope, rel=1e-7, abs=1e-7)
    assert moved.offset == pytest.approx(c * line.offset + d - slope * b, abs=size)
    if line.r2 is not None and moved.r2 is not None:
        assert moved.r2 == pytest.approx(line.r2, abs=1e-7)


@given(points, st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_a_line_does_not_depend_on_the_order_of_models_nor_on_doubling_them(
    values: list[tuple[float, float]], random: np.random.Generator
) -> None:
    shuffled = list(values)
    random.shuffle(shuffled)
    lines = [fit(*np.array(v).T) for v in (values, shuffled, values * 2)]
    if lines[0] is None:
        assert lines == [None] * 3
        return
    for line in lines[1:]:
        assert line is not None
        assert (line.slope, line.offset) == pytest.approx(
            (lines[0].slope, lines[0].offset), rel=1e-7, abs=1e-7
        )
        assert (line.r2 is None) == (lines[0].r2 is None)


@given(points, st.data())
@settings(max_examples=100, deadline=None)
def test_weights_count_like_repeated_models(values: list[tuple[float, float]], data: st.DataObject) -> None:
    x, y = np.array(values).T
    times = np.array(data.draw(st.lists(st.integers(0, 3), min_size=x.size, max_size=x.size)))
    assume(times.sum() > 0)
    line = fit(np.repeat(x, times), np.repeat(y, times))
    w = times[None].astype(float)
    for found in (weighted(x, y[None], w), sampled(x[None], y[None, None], w)):
        if line is None:
            assert np.isnan(found).all()
        else:
            assert found[0, :, 0] == pytest.approx((line.slope, line.offset), rel=1e-6, abs=1e-5)


@given(points)
@settings(max_examples=100, deadline=None)
def test_leverage_sums_to_two_and_leaving_out_is_refitting(values: list[tuple[float, float]]) -> None:
    x, y = np.array(values).T
    found = influence(x, y)
    if found is None:
        assert np.ptp(x) == 0
        return
    assert found.leverage.sum() == pytest.approx(2)
    for i in range(x.size):
        line = fit(np.delete(x, i), np.delete(y, i))
        if line is None:
            assert np.isnan(found.slope[i])
        else:
            assert found.slope[i] == pytest.approx(line.slope, rel=1e-5, abs=1e-5)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.floats(0.01, 0.999))
@settings(max_examples=150, deadline=None)
def test_an_interval_is_two_quantiles(values: list[float], level: float) -> None:
    wanted = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    assert interval(np.array(values), level) == pytest.approx(tuple(wanted), rel=1e-9, abs=1e-9)


@given(st.lists(st.integers(1, 40), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_every_bootstrap_sample_is_as_large_as_the_sample(copies: list[int], seed: int) -> None:
    ordered = np.sort(np.array(copies))
    drawn = Multinomial(ordered).draw(40, np.random.default_rng(seed))
    assert drawn.shape == (40, len(copies)) and drawn.min() >= 0
    assert np.all(drawn.sum(axis=1) == sum(copies))
    assert np.array_equal(drawn, np.rint(drawn))


@given(st.lists(st.lists(st.booleans(), min_size=3, max_size=3), min_size=1, max_size=60))
@settings(max_examples=100, deadline=None)
def test_collapsing_keeps_every_item(rows: list[list[bool]]) -> None:
    columns, copies = collapse(np.array(rows))
    assert copies.sum() == len(rows) and np.all(np.diff((copies > 1).astype(int)) >= 0)
    assert sorted(np.repeat(columns, copies, axis=0).tolist()) == sorted(rows)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2, max_size=9))
@settings(max_examples=100, deadline=None)
def test_correlations_change_sign_when_an_order_is_reversed(values: list[tuple[int, int]]) -> None:
    old, new = (order.comparisons(np.array(v, float)[None]) for v in zip(*values, strict=True))
    for statistic in (order.kendall, order.spearman):
        assert statistic(old, -new) == pytest.approx(-statistic(old, new), nan_ok=True)
        assert statistic(old, new) == pytest.approx(statistic(new, old), nan_ok=True)
        own = statistic(old, old)[0]
        assert np.isnan(own) or own == pytest.approx(1)
