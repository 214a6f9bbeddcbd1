"""Lines, their intervals and influence against SciPy, statsmodels and loops."""

from __future__ import annotations

import io
import json
import tarfile
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy import stats

from imagenetv2.analysis.lines import fits, order
from imagenetv2.analysis.lines.influence import influence
from imagenetv2.analysis.lines.influence import table as influence_table
from imagenetv2.analysis.lines.least_squares import fit, sampled, weighted
from imagenetv2.analysis.lines.points import observed
from imagenetv2.analysis.lines.resampling import model_weights, resampled_lines
from imagenetv2.analysis.resamples import resamples
from imagenetv2.analysis.results import BANDS, FITS, INFLUENCE, ORDER
from imagenetv2.analysis.study import Study
from tests.unit.small_study import study

Floats = np.typing.NDArray[np.float64]


def accuracies(models: int = 9, seed: int = 3) -> tuple[Floats, Floats]:
    rng = np.random.default_rng(seed)
    x = np.sort(rng.uniform(30, 95, models))
    return x, 1.1 * x - 15 + rng.normal(0, 2, models)


def test_a_line_is_that_of_linregress_and_statsmodels() -> None:
    x, y = accuracies()
    found = fit(x, y)
    wanted, model = stats.linregress(x, y), sm.OLS(y, sm.add_constant(x)).fit()
    assert found is not None
    assert (found.slope, found.offset) == (
        pytest.approx(wanted.slope, rel=1e-12),
        pytest.approx(wanted.intercept, rel=1e-12),
    )
    assert found.r2 == pytest.approx(model.rsquared, rel=1e-12)
    assert found.residual == pytest.approx(np.sqrt(model.mse_resid), rel=1e-12)


def test_where_there_is_no_line_or_no_residual() -> None:
    assert fit(np.array([50.0]), np.array([40.0])) is None
    assert fit(np.full(3, 50.0), np.arange(3.0)) is None
    two = fit(np.array([40.0, 60.0]), np.array([30.0, 55.0]))
    assert two is not None and two.slope == pytest.approx(1.25) and two.residual is None
    level = fit(np.array([40.0, 60.0, 70.0]), np.full(3, 0.1))
    assert level is not None and level.slope == pytest.approx(0) and level.r2 is None


def test_weighted_lines_are_those_through_repeated_points() -> None:
    x, y = accuracies(6)
    x[3] = x[2]  # so that no line is defined where these two alone are drawn
    ys = np.stack([y, y[::-1]])
    weights = np.random.default_rng(1).multinomial(6, np.full(6, 1 / 6), 200).astype(float)
    weights[0], weights[1], weights[2] = (0, 0, 6, 0, 0, 0), (0, 0, 2, 4, 0, 0), (0, 0, 0, 5, 1, 0)
    lines = weighted(x, ys, weights)
    wide = np.broadcast_to(x, weights.shape), np.broadcast_to(ys[:, None], (2, *weights.shape))
    assert lines == pytest.approx(sampled(*wide, weights), rel=1e-9, nan_ok=True)
    for row, w in enumerate(weights.astype(int)):
        a = np.repeat(x, w)
        for kind in range(2):
            if np.ptp(a) == 0:
                assert np.isnan(lines[kind, :, row]).all()
                continue
            wanted = np.polyfit(a, np.repeat(ys[kind], w), 1)
            assert lines[kind, :, row] == pytest.approx(wanted, rel=1e-8)
    assert np.isnan(lines[:, :, :2]).all() and np.isfinite(lines[:, :, 2]).all()


def test_lines_of_resampled_accuracies_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(2)
    x, ys = rng.uniform(40, 80, (50, 7)), rng.uniform(30, 70, (2, 50, 7))
    x[4] = 55.0
    ys[1, 5, 2] = np.nan
    lines = sampled(x, ys)
    for row in range(50):
        for kind in range(2):
            if row == 4 or (row, kind) == (5, 1):
                assert np.isnan(lines[kind, :, row]).all()
            else:
                assert lines[kind, :, row] == pytest.approx(np.polyfit(x[row], ys[kind, row], 1), rel=1e-8)


def test_influence_is_that_of_statsmodels_and_of_refitting() -> None:
    x, y = accuracies(12)
    found = influence(x, y)
    assert found is not None
    wanted = sm.OLS(y, sm.add_constant(x)).fit().get_influence()
    assert found.leverage == pytest.approx(wanted.hat_matrix_diag, rel=1e-10)
    assert found.cook == pytest.approx(wanted.cooks_distance[0], rel=1e-9)
    for i in range(12):
        assert (found.slope[i], found.offset[i]) == pytest.approx(
            tuple(np.polyfit(np.delete(x, i), np.delete(y, i), 1)), rel=1e-9
        )


def test_a_model_that_alone_makes_the_line_cannot_be_left_out() -> None:
    x, y = np.array([50.0, 50.0, 50.0, 70.0]), np.array([40.0, 41.0, 39.0, 66.0])
    found = influence(x, y)
    assert found is not None
    assert found.leverage[3] == pytest.approx(1)
    assert np.isnan(found.slope[3]) and np.isnan(found.offset[3]) and np.isnan(found.cook[3])
    assert np.isfinite(found.slope[:3]).all()
    assert influence(x[:3], y[:3]) is None
    exact = influence(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
    assert exact is not None and np.isnan(exact.cook).all() and np.isnan(exact.slope).all()


SAMPLES = 3000


@cache
def tables(cores: int = 1, seed: int = 1) -> tuple[Study, pd.DataFrame, pd.DataFrame]:
    made = study(models=9)
    images, classes = (resamples(made, over, SAMPLES, seed, cores) for over in ("images", "classes"))
    return made, *fits.tables(made, images, classes, 0.9, seed, cores)


def test_tables_are_as_declared_and_do_not_depend_on_cores() -> None:
    made, lines, bands = tables()
    assert FITS.to_arrow(lines).equals(FITS.to_arrow(tables(3)[1]))
    assert BANDS.to_arrow(bands).equals(BANDS.to_arrow(tables(3)[2]))
    assert not lines["slope_low"].equals(tables(1, 2)[1]["slope_low"])
    assert len(lines) == 2 * 3 * 3 * 4 and len(bands) == 2 * 3 * 3 * 2 * fits.GRID
    assert set(lines["group"]) == set(made.groups())
    assert (lines["resamples"] > 0.95 * SAMPLES).all()
    assert (lines["slope_low"] < lines["slope"]).all() and (lines["slope"] < lines["slope_high"]).all()


def row(lines: pd.DataFrame, **key: str) -> pd.Series:
    found = lines[np.logical_and.reduce([lines[k] == v for k, v in key.items()])]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("scale", ["linear", "probit", "logit"])
def test_rows_hold_the_line_through_the_observed_accuracies(scale: str) -> None:
    made, lines, _ = tables()
    old, new = made.right("original").mean(axis=1), made.right("top_images").mean(axis=1)
    shape = {"linear": lambda p: 100 * p, "probit": stats.norm.ppf, "logit": stats.logistic.ppf}[scale]
    members = made.groups()["family 1"]
    wanted = stats.linregress(shape(old[members]), shape(new[members]))
    found = row(lines, set="top_images", scale=scale, group="family 1", over="classes")
    assert found["models"] == 4
    assert (found["slope"], found["offset"]) == pytest.approx((wanted.slope, wanted.intercept), rel=1e-9)
    assert found["r2"] == pytest.approx(wanted.rvalue**2, rel=1e-9)


def test_the_interval_over_models_is_that_of_scipy() -> None:
    made, lines, _ = tables()
    x, y = (100 * made.right(s).mean(axis=1) for s in ("original", "matched_frequency"))

    def slope(a: Floats, b: Floats, axis: int) -> Floats:
        a, b = a - a.mean(axis=axis, keepdims=True), b - b.mean(axis=axis, keepdims=True)
        return (a * b).sum(axis=axis) / (a * a).sum(axis=axis)

    wanted = stats.bootstrap(
        (x, y), slope, paired=True, confidence_level=0.9, n_resamples=SAMPLES, method="percentile", rng=7
    ).confidence_interval
    found = row(lines, set="matched_frequency", scale="linear", group="all", over="models")
    width = wanted.high - wanted.low
    assert found["slope_low"] == pytest.approx(wanted.low, abs=0.08 * width)
    assert found["slope_high"] == pytest.approx(wanted.high, abs=0.08 * width)


@pytest.mark.parametrize("over", ["images", "classes", "both"])
def test_the_other_intervals_are_those_of_a_plain_bootstrap(over: str) -> None:
    made, lines, _ = tables()
    old, new = made.right("original"), made.right("matched_frequency")
    classes = [
        p.images["class_index"].to_numpy() for p in (made.sets["original"], made.sets["matched_frequency"])
    ]
    rng, slopes = np.random.default_rng(11), []
    for _ in range(1500):
        models = rng.integers(0, 9, 9) if over == "both" else np.arange(9)
        if over == "classes":
            drawn = rng.integers(0, 10, 10)
            picks = [np.concatenate([np.flatnonzero(c == d) for d in drawn]) for c in classes]
        else:
            picks = [rng.integers(0, right.shape[1], right.shape[1]) for right in (old, new)]
        x, y = (right[models][:, pick].mean(axis=1) for right, pick in zip((old, new), picks, strict=True))
        slopes.append(np.polyfit(x, y, 1)[0])
    low, high = np.quantile(slopes, [0.05, 0.95])
    found = row(lines, set="matched_frequency", scale="linear", group="all", over=over)
    assert (found["slope_low"], found["slope_high"]) == pytest.approx((low, high), abs=0.1 * (high - low))


def test_bands_are_quantiles_of_the_lines_in_percent() -> None:
    made, lines, bands = tables()
    points = observed(made)["probit"]
    weights = model_weights(made.groups(), SAMPLES, 1)
    drawn = resampled_lines(points, made.groups(), "probit", weights, None)["top_images", "all"]
    key = {"set": "top_images", "scale": "probit", "group": "all", "over": "models"}
    band = bands[np.logical_and.reduce([bands[k] == v for k, v in key.items()])]
    grid = np.linspace(points["original"].min(), points["original"].max(), fits.GRID)
    ends = np.quantile(drawn.slopes[:, None] * grid + drawn.offsets[:, None], [0.05, 0.95], axis=0)
    assert band["original"].to_numpy() == pytest.approx(100 * stats.norm.cdf(grid))
    assert band["low"].to_numpy() == pytest.approx(100 * stats.norm.cdf(ends[0]))
    assert band["high"].to_numpy() == pytest.approx(100 * stats.norm.cdf(ends[1]))
    line = row(lines, **key)
    assert band["line"].to_numpy() == pytest.approx(
        100 * stats.norm.cdf(line["slope"] * grid + line["offset"])
    )
    width = np.diff(ends, axis=0)[0]
    assert 0 < int(width.argmin()) < len(width) - 1


def test_two_models_have_no_interval_over_models() -> None:
    made = study(models=2, families=1)
    images, classes = (resamples(made, over, 200, 0) for over in ("images", "classes"))
    lines, bands = fits.tables(made, images, classes, 0.95, 0)
    FITS.to_arrow(lines)
    assert bands.empty and len(BANDS.to_arrow(bands)) == 0
    over_models = lines["over"].isin(["models", "both"])
    assert lines.loc[over_models, "slope_low"].isna().all() and lines["residual"].isna().all()
    assert lines.loc[~over_models, "slope_low"].notna().all()


def test_models_that_do_not_differ_have_no_line() -> None:
    made = study(models=4, skill=0)
    for predictions in made.sets.values():
        predictions.ranks[:] = predictions.ranks[:1]
    images, classes = (resamples(made, over, 200, 0) for over in ("images", "classes"))
    lines, bands = fits.tables(made, images, classes, 0.95, 0)
    assert len(FITS.to_arrow(lines)) == len(BANDS.to_arrow(bands)) == 0
    influences = influence_table(made)
    INFLUENCE.to_arrow(influences)
    assert set(influences["without"]) == {"family"} and influences["slope"].isna().all()
    orders = order.table(made, images, 0.95)
    ORDER.to_arrow(orders)
    assert orders["kendall"].isna().all() and orders["kendall_low"].isna().all()
    assert (orders["moved"] == 0).all()


def test_influence_has_every_model_and_family() -> None:
    made = study(models=9, families=3)
    table = influence_table(made)
    INFLUENCE.to_arrow(table)
    assert len(table) == 2 * 3 * (9 + 3)
    family = table[table["without"] == "family"]
    assert family["leverage"].isna().all() and family["slope"].notna().all()
    kept = np.array([made.families[m] != "family 2" for m in made.models])
    x, y = (100 * made.right(s).mean(axis=1)[kept] for s in ("original", "top_images"))
    found = row(family, set="top_images", scale="linear", left_out="family 2")
    assert (found["slope"], found["offset"]) == pytest.approx(tuple(np.polyfit(x, y, 1)), rel=1e-9)
    alone = influence_table(study(families=1))
    assert set(alone["without"]) == {"model"}


def test_orders_are_those_of_scipy_on_every_sample() -> None:
    made = study(models=7)
    images = resamples(made, "images", 60, 4)
    found = order.correlations(made, made.groups(), images)
    members = made.groups()["family 0"]
    for sample in range(60):
        old, new = (images.top1[s][sample, members] for s in ("original", "top_images"))
        wanted = stats.kendalltau(old, new).statistic, stats.spearmanr(old, new).statistic
        assert found["top_images", "family 0"][sample] == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_order_intervals_do_not_depend_on_cores() -> None:
    made = study(models=7)
    images = resamples(made, "images", 250, 4)
    table = order.table(made, images, 0.9)
    assert ORDER.to_arrow(table).equals(ORDER.to_arrow(order.table(made, images, 0.9, 3)))
    whole = table[table["group"] == "all"].iloc[0]
    assert whole["kendall_low"] <= whole["kendall_high"] <= 1
    old, new = made.right("original").mean(axis=1), made.right(whole["set"]).mean(axis=1)
    assert whole["kendall"] == pytest.approx(stats.kendalltau(old, new).statistic)


PUBLISHED = {
    "imagenetv2-b-33": (1.11, -20.26),
    "imagenetv2-a-44": (1.10, -10.34),
    "imagenetv2-c-12": (0.96, 5.35),
}


@pytest.mark.packs
def test_lines_of_the_released_networks(packs: Path) -> None:
    """Published: slopes 1.11, 1.10 and 0.96 over 64 networks; offset −20.2, which is −20.26 from the predictions."""
    shares = released(packs)
    old = shares["imagenet-validation-original"]
    networks = sorted(m for m in old if not m.startswith("fv_"))
    assert len(networks) == 64
    x = np.array([old[m] for m in networks])
    for name, (slope, offset) in PUBLISHED.items():
        found = fit(x, np.array([shares[name][m] for m in networks]))
        assert found is not None
        assert round(found.slope, 2) == slope
        assert found.offset == pytest.approx(offset, abs=0.005)
        assert found.r2 is not None and found.r2 > 0.99
    everyone = np.ones(64, bool)
    weights = model_weights({"all": everyone}, 20_000, 0)
    points = {"original": x, "new": np.array([shares["imagenetv2-b-33"][m] for m in networks])}
    slopes = resampled_lines(points, {"all": everyone}, "linear", weights, None)["new", "all"].slopes
    assert np.quantile(slopes, [0.025, 0.975]) == pytest.approx([1.078, 1.188], abs=0.003)


def released(packs: Path) -> dict[str, dict[str, float]]:
    """Top-1 accuracy in percent by list and model."""
    wanted = {"imagenet-validation-original", *PUBLISHED}
    labels: dict[str, Floats] = {}
    first: dict[str, dict[str, Floats]] = {name: {} for name in wanted}
    classes: dict[str, int] = {}
    with tarfile.open(packs / "record.tar.gz") as archive:
        for member in archive:
            path = Path(member.name)
            file = archive.extractfile(member) if member.isfile() else None
            if file is None:
                continue
            if path.parent.name == "datasets" and path.stem in wanted:
                labels[path.stem] = np.array([wnid for _, wnid in json.load(file)["image_filenames"]])
            elif path.name == "class_info.json":
                classes = {c["wnid"]: c["cid"] for c in json.load(file)}
            elif path.parent.parent.name == "predictions" and path.parent.name in wanted:
                first[path.parent.name][path.stem] = np.load(io.BytesIO(file.read()))[:, 0]
    index = {name: np.array([classes[w] for w in wnids]) for name, wnids in labels.items()}
    return {
        name: {m: float(100 * (top == index[name]).mean()) for m, top in models.items()}
        for name, models in first.items()
    }
