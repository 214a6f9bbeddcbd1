"""Lines of new on original accuracy against scipy and against loops."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import linregress, norm

from imagenetv2.analysis import fits


def accuracies(models: int = 9) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x = np.sort(rng.uniform(30, 95, models))
    return x, 1.1 * x - 15 + rng.normal(0, 2, models)


def test_a_line_is_that_of_linregress() -> None:
    x, y = accuracies()
    wanted = linregress(x, y)
    slope, offset = fits.line(x, y)
    assert slope[0] == pytest.approx(wanted.slope, rel=1e-12)
    assert offset[0] == pytest.approx(wanted.intercept, rel=1e-12)
    found = fits.summary(x, y, 0.95, 200, np.random.default_rng(0))
    assert found["r2"] == pytest.approx(wanted.rvalue**2, rel=1e-9)
    residuals = y - wanted.slope * x - wanted.intercept
    assert found["residual"] == pytest.approx(np.sqrt((residuals**2).sum() / 7), rel=1e-9)


def test_resampled_lines_are_those_of_a_loop() -> None:
    x, y = accuracies(6)
    drawn = np.random.default_rng(1).multinomial(6, np.full(6, 1 / 6), size=60).astype(float)
    slopes, offsets = fits.line(x, y, drawn)
    for weights, slope, offset in zip(drawn.astype(int), slopes, offsets, strict=True):
        a, b = np.repeat(x, weights), np.repeat(y, weights)
        if np.ptp(a) == 0:
            assert np.isnan(slope)
            continue
        wanted = linregress(a, b)
        assert (slope, offset) == (pytest.approx(wanted.slope), pytest.approx(wanted.intercept))


def test_the_bootstrap_interval_is_that_of_a_loop() -> None:
    x, y = accuracies(8)
    found = fits.summary(x, y, 0.9, 4000, np.random.default_rng(5))
    rng, slopes = np.random.default_rng(6), []
    while len(slopes) < 4000:
        pick = rng.integers(0, 8, 8)
        if np.ptp(x[pick]) > 0:
            slopes.append(np.polyfit(x[pick], y[pick], 1)[0])
    assert found["slope_interval"] == pytest.approx(np.quantile(slopes, [0.05, 0.95]), abs=0.02)


def test_the_band_encloses_the_line_and_is_narrowest_inside() -> None:
    x, y = accuracies()
    found = fits.summary(x, y, 0.95, 2000, np.random.default_rng(0))
    low, high = np.array(found["band"]["low"]), np.array(found["band"]["high"])
    line = found["slope"] * np.array(found["band"]["original"]) + found["offset"]
    assert np.all(low <= line) and np.all(line <= high)
    width = high - low
    assert 0 < int(width.argmin()) < len(width) - 1


@pytest.mark.parametrize(("x", "y"), [([50.0], [40.0]), ([50.0, 50.0, 50.0], [1.0, 2.0, 3.0])])
def test_no_line_where_the_models_do_not_differ(x: list[float], y: list[float]) -> None:
    found = fits.summary(np.array(x), np.array(y), 0.95, 100, np.random.default_rng(0))
    assert found["slope"] is None and found["offset"] is None


def test_two_models_have_a_line_but_no_interval() -> None:
    found = fits.summary(np.array([40.0, 60.0]), np.array([30.0, 55.0]), 0.95, 100, np.random.default_rng(0))
    assert found["slope"] == pytest.approx(1.25)
    assert found["slope_interval"] is None and found["residual"] is None
    assert found["degenerate_resamples"] > 0


def test_probit_is_the_normal_quantile_half_an_image_from_the_ends() -> None:
    shares = np.array([0.0, 0.25, 0.9, 1.0])
    wanted = norm.ppf([0.5 / 40, 0.25, 0.9, 1 - 0.5 / 40])
    assert fits.probit(shares, 40) == pytest.approx(wanted, rel=1e-12)
