"""Effective robustness, the lines that it is measured from, and the published tables behind them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from imagenetv2.analysis import results, scales
from imagenetv2.analysis.published_lines import published
from imagenetv2.analysis.resamples import Resamples, resamples
from imagenetv2.analysis.robustness import robustness
from imagenetv2.analysis.sampled_lines import OwnLine, of_points, paper
from imagenetv2.analysis.settings import Analysis, Line, line_tables
from imagenetv2.errors import InputError
from imagenetv2.settings import versioned
from tests.unit.gaussian_study import gaussian_study

RUN = Line(name="run", kind="run")
PAPER = Line(name="paper", kind="paper")


def own_csv(folder: Path, text: str, **fields: object) -> Line:
    path = folder / "table.csv"
    path.write_text(text, "utf-8")
    return Line(name="own", kind="csv", paths=(path,), **fields)


def test_effective_robustness_is_what_the_others_line_leaves() -> None:
    study = gaussian_study()
    images = resamples(study, "images", 400, 1)
    effects, lines = robustness(study, images, [RUN], {}, 0.95, 7)
    results.ROBUSTNESS.to_arrow(effects)
    results.LINES.to_arrow(lines)
    old, new = (100 * study.right(s).mean(axis=1) for s in ("original", "top_images"))
    rows = effects[effects["set"] == "top_images"].set_index("model").loc[list(study.models)]
    for j, row in enumerate(rows.itertuples()):
        others = np.arange(9) != j
        line = stats.linregress(old[others], new[others])
        assert row.predicted == pytest.approx(line.slope * old[j] + line.intercept)
        assert row.effective == pytest.approx(new[j] - row.predicted)
        assert row.effective_low < row.effective < row.effective_high
    whole = lines.set_index("set").loc["top_images"]
    assert whole["slope"] == pytest.approx(stats.linregress(old, new).slope)
    assert whole["models"] == 9
    again = robustness(study, images, [RUN], {}, 0.95, 7, cores=3)
    pd.testing.assert_frame_equal(effects, again[0])


def test_a_family_is_measured_from_another_familys_line() -> None:
    study = gaussian_study()
    images = resamples(study, "images", 200, 1)
    line = Line(name="odd", kind="run", group="odd", scale="probit")
    effects, lines = robustness(study, images, [line], {}, 0.95, 7)
    odd = study.groups()["odd"]
    x, y = (stats.norm.ppf(study.right(s).mean(axis=1)) for s in ("original", "top_images"))
    fit = stats.linregress(x[odd], y[odd])
    row = effects[(effects["set"] == "top_images") & (effects["model"] == "m2")].iloc[0]
    assert row["predicted"] == pytest.approx(100 * stats.norm.cdf(fit.slope * x[2] + fit.intercept))
    assert lines["models"].tolist() == [4, 4]
    with pytest.raises(InputError, match="purple; name one of all, even, odd"):
        robustness(study, images, [Line(name="odd", kind="run", group="purple")], {}, 0.95, 7)


def test_intervals_count_images_and_models(tmp_path: Path) -> None:
    """A line known exactly leaves the model's own sampling error; one of few models adds its own."""
    study = gaussian_study()
    images = resamples(study, "images", 4_000, 1)
    exact = "model,original,new\n" + "\n".join(f"m{i},{i},{i / 2 + 10}" for i in range(20, 90))
    loose = "model,original,new\n" + "\n".join(
        f"m{i},{i},{i / 2 + 10 + 8 * (-1) ** i}" for i in range(50, 56)
    )
    widths = {}
    for name, text in (("exact", exact), ("loose", loose)):
        line = own_csv(tmp_path, text)
        table = published(line)
        assert table is not None
        effects, lines = robustness(study, images, [line], {"own": table}, 0.95, 7)
        widths[name] = (effects["effective_high"] - effects["effective_low"]).to_numpy()
    p, q = (study.right(s).mean(axis=1) for s in ("original", "matched_frequency"))
    error = 100 * np.sqrt(0.25 * p * (1 - p) / 500 + q * (1 - q) / 300)
    assert widths["exact"] == pytest.approx(2 * 1.96 * error, rel=0.1)
    assert (widths["loose"] > 1.2 * widths["exact"]).all()
    assert lines["source"].tolist() == ["a table of accuracies"]


def test_the_papers_line_has_the_stated_slope_and_interval() -> None:
    study = gaussian_study()
    _, lines = robustness(study, resamples(study, "images", 20_000, 1), [PAPER], {}, 0.95, 7)
    row = lines.iloc[0]
    assert (row["set"], row["slope"], row["offset"]) == ("matched_frequency", 1.11, -20.2)
    assert (row["slope_low"], row["slope_high"]) == (
        pytest.approx(1.07, abs=2e-3),
        pytest.approx(1.19, abs=2e-3),
    )
    drawn = paper(100, np.random.default_rng(0))
    assert np.ptp(drawn.slopes * 75.6 + drawn.offsets) < 1e-9


def test_a_line_for_a_set_that_is_not_there() -> None:
    study = gaussian_study(sets={"original": (0, 1, 50), "v4": (0, 1, 50)})
    images = resamples(study, "images", 10, 1)
    effects, lines = robustness(study, images, [PAPER], {}, 0.95, 7)
    assert effects.empty and lines.empty
    with pytest.raises(InputError, match="no new set matched_frequency; set one of v4"):
        robustness(study, images, [Line(name="x", kind="csv", paths=("x.csv",))], {}, 0.95, 7)


def test_two_models_or_equal_accuracies_have_no_line() -> None:
    for study in (gaussian_study(models=2), gaussian_study(skills=[-9] * 9)):
        images = resamples(study, "images", 20, 1)
        effects, lines = robustness(study, images, [RUN], {}, 0.95, 7)
        assert effects.empty and lines.empty
        results.ROBUSTNESS.to_arrow(effects)


def test_own_lines_are_weighted_least_squares_without_the_model() -> None:
    rng = np.random.default_rng(4)
    x, y = rng.normal(70, 5, 6), rng.normal(60, 5, 6)
    xs, ys = x + rng.normal(0, 1, (30, 6)), y + rng.normal(0, 1, (30, 6))
    weights = rng.multinomial(6, np.full(6, 1 / 6), 30)
    own = OwnLine(x, y, xs.T, ys.T, weights.T)
    for model in (None, 0, 5):
        line = own.without(model)
        kept = np.arange(6) != model
        assert (line.slope, line.offset) == pytest.approx(tuple(np.polyfit(x[kept], y[kept], 1)))
        for s in range(30):
            w = weights[s] * kept
            if np.count_nonzero(w) < 2:
                assert np.isnan(line.slopes[s])
                continue
            wanted = np.polyfit(xs[s], ys[s], 1, w=np.sqrt(w))
            assert (line.slopes[s], line.offsets[s]) == (pytest.approx(wanted[0]), pytest.approx(wanted[1]))


def test_lines_of_points_have_the_bootstrap_of_scipy() -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(75, 6, 80)
    y = 1.1 * x - 20 + rng.normal(0, 1, 80)
    line = of_points(x, y, 20_000, np.random.default_rng(2))
    assert (line.slope, line.offset) == pytest.approx(tuple(np.polyfit(x, y, 1)))
    wanted = stats.bootstrap(
        (x, y), lambda a, b: stats.linregress(a, b).slope, paired=True, n_resamples=2_000, vectorized=False,
        method="percentile", rng=np.random.default_rng(3),
    ).confidence_interval  # fmt: skip
    assert np.quantile(line.slopes, [0.025, 0.975]) == pytest.approx(list(wanted), abs=0.008)
    assert np.isnan(of_points(np.ones(4), np.arange(4.0), 10, rng).slopes).all()


@pytest.mark.parametrize("scale", scales.SCALES)
def test_axes_lead_back_to_percent(scale: str) -> None:
    share = np.array([0.0, 0.2, 0.5, 0.97, 1.0])
    back = scales.percent(scales.forward(share, 100, scale), scale)
    clipped = share if scale == "linear" else np.clip(share, 0.005, 0.995)
    assert back == pytest.approx(100 * clipped)


def test_axes_are_those_of_scipy() -> None:
    share = np.array([0.2, 0.5, 0.97])
    assert scales.forward(share, 1000, "probit") == pytest.approx(stats.norm.ppf(share))
    assert scales.forward(share, 1000, "logit") == pytest.approx(stats.logistic.ppf(share))
    for wrong in (scales.forward, lambda v, _, s: scales.percent(v, s)):
        with pytest.raises(ValueError, match="not cubic"):
            wrong(share, 10, "cubic")


def test_tables_with_commas_blanks_and_sizes_are_read(tmp_path: Path) -> None:
    old, new = tmp_path / "old.csv", tmp_path / "new.csv"
    old.write_text(
        'model,img_size,top1,param_count\na,224,80.5,"1,013.01"\na,288,81.5,1\nb,224,,2\nNA,224,70,3\nc,"1,024",60,1\n'
    )
    new.write_text('model,img_size,top1\nNA,224,58.25\na,288,70\na,224,69\nb,224,50\nz,224,1\nc,"1,024",49\n')
    table = published(Line(name="t", kind="timm", paths=(old, new)))
    assert table is not None
    assert table.models == ("NA 224", "a 224", "a 288", "c 1,024")
    assert table.original.tolist() == pytest.approx([0.7, 0.805, 0.815, 0.6])
    assert table.new.tolist() == pytest.approx([0.5825, 0.69, 0.70, 0.49])
    assert published(RUN) is None


def test_only_standard_models_of_the_testbed_count(tmp_path: Path) -> None:
    table, kinds = tmp_path / "t.csv", tmp_path / "k.json"
    column = "imagenetv2-top-images-format-val"
    table.write_text(f"model,val,{column}\na,70,71\nb,60,61\nc,50,\nd,40,45\ne,30,33\nf,90,91\n")
    kinds.write_text(
        '{"a": "STANDARD", "b": "STANDARD", "c": "STANDARD", "d": "ROBUST_INTV", "e": "STANDARD"}'
    )
    found = published(Line(name="t", kind="testbed", set="top_images", paths=(table, kinds)))
    assert found is not None
    assert found.models == ("a", "b", "e")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,original\na,1\n", "has no column new"),
        ("model,original,new\na,1,2\na,3,4\n", "model a occurs more than once"),
        ("model,original,new\na,1,2\nb,x3,4\n", "column original: 'x3' is no percentage"),
        ("model,original,new\na,1,2\nb,3,104\n", "column new: '104' is no percentage"),
        ("model,original,new\na,1,2\nb,3,4\nc,,4\n", "2 models have accuracies on both sets"),
        ("", "can't be read as a CSV table"),
    ],
)
def test_wrong_tables_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message) as error:
        published(own_csv(tmp_path, text))
    assert "table.csv" in str(error.value)


def test_wrong_types_and_sets_of_the_testbed_are_named(tmp_path: Path) -> None:
    table, kinds = tmp_path / "t.csv", tmp_path / "k.json"
    table.write_text("model,val,imagenetv2-matched-frequency-format-val\na,70,71\n")
    for text, message in (("[1]", "no types by model"), ("{", "can't be read as JSON")):
        kinds.write_text(text)
        with pytest.raises(InputError, match=message):
            published(Line(name="t", kind="testbed", paths=(table, kinds)))
    with pytest.raises(InputError, match="has no set v4"):
        published(Line(name="t", kind="testbed", set="v4", paths=(table, kinds)))
    with pytest.raises(InputError, match=r"missing\.csv"):
        published(Line(name="t", kind="csv", paths=(tmp_path / "missing.csv",)))


def test_settings_of_lines() -> None:
    settings = Analysis(lines=(RUN, Line(name="t", kind="timm", paths=("a.csv", "b.csv"))))
    assert line_tables(settings) == {
        "analysis.lines.1.paths.0": Path("a.csv"),
        "analysis.lines.1.paths.1": Path("b.csv"),
    }
    assert "a.csv" not in str(versioned(settings))
    for wrong, message in (
        ({"lines": (RUN, RUN)}, "given twice"),
        ({"lines": ({"name": "x", "kind": "timm", "paths": ("a",)},)}, "needs 2 paths, not 1"),
        ({"lines": ({"name": "x", "kind": "paper", "scale": "logit"},)}, "linear axes"),
    ):
        with pytest.raises(ValidationError, match=message):
            Analysis.model_validate(wrong)


@pytest.mark.packs
def test_published_tables_have_their_models_and_lines(packs: Path) -> None:
    folder = packs / "model-results"
    timm = (folder / "timm-results-imagenet.csv", folder / "timm-results-imagenetv2-matched-frequency.csv")
    found = published(Line(name="timm", kind="timm", paths=timm))
    assert found is not None
    assert len(found.models) == 1556
    assert stats.linregress(100 * found.original, 100 * found.new).slope == pytest.approx(1.144, abs=1e-3)
    testbed = (folder / "testbed-robustness_top1s.csv", folder / "testbed-model_types.json")
    for name, slope in (("matched_frequency", 1.112), ("threshold", 1.078), ("top_images", 0.942)):
        found = published(Line(name="testbed", kind="testbed", set=name, paths=testbed))
        assert found is not None
        assert len(found.models) == 87
        assert stats.linregress(100 * found.original, 100 * found.new).slope == pytest.approx(slope, abs=1e-3)


def test_resamples_in_which_no_line_is_defined_leave_intervals_missing() -> None:
    study = gaussian_study(models=3)
    same = {name: np.full((50, 3), 0.5, np.float32) for name in study.labels}
    sizes = {name: np.full(50, 10) for name in study.labels}
    effects, lines = robustness(study, Resamples("images", {1: same}, sizes), [RUN], {}, 0.95, 7)
    assert effects["effective_low"].isna().all() and lines["slope_high"].isna().all()
    assert effects["effective"].notna().all()
    results.ROBUSTNESS.to_arrow(effects)
