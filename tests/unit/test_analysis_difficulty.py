"""The Gaussian model of difficulty and skill, on studies that follow it and on numbers from elsewhere."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn.decomposition import PCA

from imagenetv2.analysis import results
from imagenetv2.analysis.difficulty import deming, difficulty
from imagenetv2.analysis.difficulty_spread import below, spread
from imagenetv2.analysis.resamples import resamples
from tests.unit.gaussian_study import gaussian_study

LARGE = {"original": (0.2, 1.5, 20_000), "new": (0.9, 1.0, 10_000)}
SLOPE = np.hypot(1.5, 1) / np.hypot(1.0, 1)
OFFSET = (0.2 - 0.9) / np.hypot(1.0, 1)


def test_the_parameters_that_made_a_study_are_found() -> None:
    study = gaussian_study(seed=5, models=12, sets=LARGE)
    table = difficulty(study, resamples(study, "images", 1_000, 1), 0.999)
    results.DIFFICULTY.to_arrow(table)
    assert table["group"].tolist() == ["all", "even", "odd"]
    truth = {
        "probit_slope": SLOPE,
        "probit_offset": OFFSET,
        "spread": 1 / SLOPE,
        "shift": 0.7 / np.hypot(1.5, 1),
        "difficulty_original": 1.5,
        "difficulty_new": 1.0,
        "agreement_slope": SLOPE,
    }
    for row in table.to_dict("records"):
        for name, value in truth.items():
            assert row[f"{name}_low"] < value < row[f"{name}_high"], (row["group"], name)
            assert row[f"{name}_low"] < row[name] < row[f"{name}_high"]
            assert row[f"{name}_high"] - row[f"{name}_low"] < 0.5
    whole = table.iloc[0]
    old, new = (study.right(s).mean(axis=1) for s in ("original", "new"))
    assert whole["change"] == pytest.approx((new - old).mean(), abs=0.003)
    assert whole["residual"] < 0.01
    line = stats.linregress(100 * old, 100 * stats.norm.cdf(SLOPE * stats.norm.ppf(old) + OFFSET))
    assert (whole["slope"], whole["offset"]) == (
        pytest.approx(line.slope, abs=0.03),
        pytest.approx(line.intercept, abs=2),
    )


def test_errors_in_both_accuracies_do_not_flatten_the_line() -> None:
    """Least squares of few images are flat."""
    slopes, flat = [], []
    for seed in range(60):
        study = gaussian_study(
            seed, 16, {"original": (0.2, 1.5, 200), "new": (0.9, 1.0, 200)}, np.linspace(0.6, 1.4, 16)
        )
        table = difficulty(study, resamples(study, "images", 10, 1), 0.95)
        slopes.append(table["probit_slope"].iloc[0])
        x, y = (stats.norm.ppf(study.right(s).mean(axis=1)) for s in ("original", "new"))
        flat.append(stats.linregress(x, y).slope)
    assert np.median(slopes) == pytest.approx(SLOPE, abs=0.08)
    assert np.median(flat) < SLOPE - 0.2


def test_deming_is_the_first_principal_axis() -> None:
    """Of points whose coordinates are scaled to errors of the same size."""
    rng = np.random.default_rng(3)
    x = rng.normal(0, 1, 30)
    y = 1.3 * x - 0.4 + rng.normal(0, 0.3, 30)
    for ratio in (0.25, 1.0, 5.0):
        axis = PCA(1).fit(np.column_stack([x, y / np.sqrt(ratio)])).components_[0]
        slope, offset = deming(x, y, ratio)
        assert slope == pytest.approx(axis[1] / axis[0] * np.sqrt(ratio))
        assert offset == pytest.approx(y.mean() - slope * x.mean())
    assert np.isnan(deming(x, -y, 1.0)).all()


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.85, 0.999])
def test_two_normal_variables_lie_below_as_often_as_scipy_says(correlation: float) -> None:
    at = np.array([-2.5, -0.4, 0, 0, 0.7, 3.1])
    a, b = (v.ravel() for v in np.meshgrid(at, at))
    normal = stats.multivariate_normal([0, 0], [[1, correlation], [correlation, 1]], allow_singular=True)
    assert below(a, b, correlation) == pytest.approx(normal.cdf(np.column_stack([a, b])), abs=1e-6)


def test_the_error_of_the_spread_is_that_of_the_bootstrap() -> None:
    right = gaussian_study(seed=2, models=6, sets={"original": (0.3, 1.4, 800)}).right("original")
    found = spread(right)
    rng = np.random.default_rng(0)
    drawn = [spread(right[:, rng.integers(0, 800, 800)]).share for _ in range(300)]
    assert found.error == pytest.approx(np.std(drawn), rel=0.15)


def test_a_spread_that_is_not_there_is_missing() -> None:
    rng = np.random.default_rng(1)
    alone = rng.random((1, 50)) < 0.5
    opposed = np.stack([alone[0], ~alone[0]])
    nested = np.arange(50) < np.array([[10], [20], [30]])
    for right in (alone, opposed, nested):
        assert np.isnan(spread(right).share)


def test_groups_without_a_rising_line_have_no_row() -> None:
    study = gaussian_study(models=9, skills=np.full(9, 1.0), sets={"original": (0, 1, 60), "new": (0, 1, 60)})
    table = difficulty(study, resamples(study, "images", 50, 1), 0.95)
    results.DIFFICULTY.to_arrow(table)
    two = gaussian_study(models=2)
    assert difficulty(two, resamples(two, "images", 10, 1), 0.95).empty
