"""Averages over groups, accuracy by bin, sampling error and paired tests, each against an independent count."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint, proportions_ztest

from imagenetv2.analysis import resampled_sums, results
from imagenetv2.analysis.accuracies import Predictions, accuracies
from imagenetv2.analysis.bins import bins
from imagenetv2.analysis.groups import groups
from imagenetv2.analysis.multiplicity import holm, written
from imagenetv2.analysis.paired import discordant, interval, mcnemar, paired
from imagenetv2.analysis.sampling_error import sampling_error
from imagenetv2.analysis.stages import ACCURACIES
from imagenetv2.analysis.study import Study
from imagenetv2.intervals import newcombe
from tests.unit.gaussian_study import gaussian_study

EDGES = (0.2, 0.4, 0.6, 0.8)


def test_accuracies_have_the_exact_intervals_of_statsmodels() -> None:
    study = gaussian_study()
    table = accuracies(study.sets, study.families, 0.9)
    ACCURACIES.to_arrow(table)
    for k in ("top1", "top5"):
        wanted = proportion_confint((table[k] * table["images"]).round(), table["images"], 0.1, "beta")
        assert np.allclose(table[[f"{k}_low", f"{k}_high"]], np.transpose(wanted))
    wide = table.pivot(index="model", columns="set", values=["top5", "rank"])
    changes = table[table["set"] == "top_images"].set_index("model")
    assert np.allclose(changes["change_top5"], wide["top5"]["top_images"] - wide["top5"]["original"])
    assert (changes["rank_change"] == wide["rank"]["original"] - wide["rank"]["top_images"]).all()
    assert (table.loc[table["set"] == "original", ["rank_change", "change_top5"]] == 0).all(axis=None)


def test_groups_are_averages_with_the_bootstrap_intervals_of_scipy() -> None:
    study = gaussian_study()
    table = groups(study, 0.95, 20_000, 3).set_index(["set", "group"])
    results.GROUPS.to_arrow(table.reset_index())
    assert set(table.index.get_level_values("group")) == {"all", "even", "odd"}
    even = study.groups()["even"]
    for k, name, change in ((1, "top1", "change"), (5, "top5", "change_top5")):
        shares = {s: study.sets[s].top(k)[even].mean(axis=0) for s in ("original", "top_images")}
        drawn = {
            s: stats.bootstrap(
                (v,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(i)
            )
            for i, (s, v) in enumerate(shares.items())
        }
        row = table.loc["top_images", "even"]
        assert row[name] == pytest.approx(shares["top_images"].mean(), abs=1e-11)
        assert row[change] == pytest.approx(
            shares["top_images"].mean() - shares["original"].mean(), abs=1e-11
        )
        assert row[f"{name}_low"] == pytest.approx(drawn["top_images"].confidence_interval.low, abs=0.003)
        assert row[f"{name}_high"] == pytest.approx(drawn["top_images"].confidence_interval.high, abs=0.003)
        both = drawn["top_images"].bootstrap_distribution - drawn["original"].bootstrap_distribution
        assert row[[f"{change}_low", f"{change}_high"]].tolist() == pytest.approx(
            np.quantile(both, [0.025, 0.975]).tolist(), abs=0.004
        )
    assert (table.loc["original"][["change", "change_low", "change_high"]] == 0).all(axis=None)
    pd.testing.assert_frame_equal(table, groups(study, 0.95, 20_000, 3).set_index(["set", "group"]))


def test_sums_of_resamples_have_the_convolved_distribution() -> None:
    counts = np.array([0, 0, 1, 5, 5, 2])
    chances = np.ones(1)
    for _ in range(6):
        chances = np.convolve(chances, np.bincount(counts) / 6)
    sums = resampled_sums.of_counts(counts, 6)
    at = np.arange(31) - sums.start[0]
    assert np.allclose(sums.cumulative[0][at], chances.cumsum())
    drawn = sums.draw(40_000, np.random.default_rng(0))[0]
    assert np.bincount(drawn, minlength=31) / 40_000 == pytest.approx(chances, abs=0.01)
    assert resampled_sums.of_counts(np.array([3, 3]), 2).draw(5, np.random.default_rng(0)).tolist() == [
        [6] * 5
    ]


def test_bins_count_images_with_votes() -> None:
    study = gaussian_study()
    table = bins(study, 0.95, 5_000, 1, EDGES)
    results.BINS.to_arrow(table)
    best = max(study.models, key=lambda m: study.right("original")[study.models.index(m)].sum())
    for name in study.labels:
        right = pd.DataFrame(study.right(name).T, columns=study.models)
        images = pd.concat([study.sets[name].images, right], axis=1).merge(study.frequencies[name])
        cut = pd.cut(images["frequency"], [0, *EDGES, 1.01], right=False, labels=False)
        for row in table[table["set"] == name].itertuples():
            inside = images[cut == row.bin]
            assert row.images == len(inside)
            if inside.empty:
                continue
            assert row.top1 == pytest.approx(inside[list(study.models)].to_numpy().mean())
            assert row.best == pytest.approx(inside[best].mean())
            assert row.top1_low <= row.top1 <= row.top1_high
    # The model makes images that people select rarely hard for models as well.
    original = table[table["set"] == "original"]["top1"]
    assert original.iloc[0] + 0.2 < original.iloc[-1]


def test_a_frequency_on_an_edge_belongs_to_the_upper_bin() -> None:
    study = gaussian_study(sets={"original": (0, 1, 60)})
    images = study.sets["original"].images
    shown = np.repeat([5, 10, 15, 20, 35, 45], 10)
    selected = shown // 5 * np.tile([0, 1, 2, 3, 4, 5, 0, 1, 2, 3], 6)
    votes = images[["image_id", "wnid"]].assign(frequency=selected / shown)
    table = bins(replace(study, frequencies={"original": votes}), 0.95, 100, 1, EDGES)
    assert table["images"].tolist() == [12, 12, 12, 12, 12]


def test_sets_without_votes_have_no_bins_and_empty_bins_no_accuracy() -> None:
    study = gaussian_study()
    votes = study.frequencies["original"]
    high = replace(study, frequencies={"original": votes[votes["frequency"] >= 0.4]})
    table = bins(high, 0.95, 100, 1, EDGES)
    assert table["set"].tolist() == ["original"] * 5
    assert table["images"].tolist()[:2] == [0, 0] and table["top1"].isna().tolist()[:3] == [True, True, False]
    results.BINS.to_arrow(bins(replace(study, frequencies={}), 0.95, 100, 1, EDGES))


def test_sampling_error_is_that_of_statsmodels() -> None:
    study = gaussian_study()
    table = sampling_error(study, 0.95)
    results.SAMPLING_ERROR.to_arrow(table)
    old = study.right("original").sum(axis=1)
    for name in study.new:
        rows = (
            table[(table["set"] == name) & (table["model"] != "average")]
            .set_index("model")
            .loc[list(study.models)]
        )
        right = study.right(name)
        for count, before, row in zip(right.sum(axis=1), old, rows.itertuples(), strict=True):
            z, p = proportions_ztest([count, before], [right.shape[1], 500])
            assert (row.z, row.p) == (pytest.approx(z), pytest.approx(p))
            low, high = confint_proportions_2indep(
                count, right.shape[1], before, 500, method="newcomb", compare="diff"
            )
            assert (row.change_low, row.change_high) == (pytest.approx(low), pytest.approx(high))
        assert np.allclose(rows["adjusted"], multipletests(rows["p"], method="holm")[1])
        share, share_old = right.mean(axis=0), study.right("original").mean(axis=0)
        average = table[(table["set"] == name) & (table["model"] == "average")].iloc[0]
        welch = stats.ttest_ind(share, share_old, equal_var=False)
        assert average["z"] == pytest.approx(welch.statistic)
        assert average["error"] == pytest.approx(np.hypot(stats.sem(share), stats.sem(share_old)))


def test_an_accuracy_of_all_or_none_has_an_interval_and_no_significance() -> None:
    low, high = newcombe(np.array([20, 0]), 20, np.array([30, 0]), 30, 0.95)
    assert (low < 0).all() and (high > 0).all()
    right = np.ones((2, 40), bool)
    images = pd.DataFrame({"image_id": [f"{i:02d}" for i in range(40)], "wnid": "n0", "class_index": 0})
    sets = {name: Predictions(("a", "b"), np.where(right, 0, 5), images) for name in ("original", "new")}
    table = sampling_error(Study({"original": "o", "new": "n"}, sets, {"a": "x", "b": "x"}, {}), 0.95)
    assert table["z"].isna().all() and (table["p"] == 1).all()


def test_half_widths_at_ten_thousand_images_are_about_a_point() -> None:
    right = np.array([6360, 7600])
    low, high = proportion_confint(right, 10_000, 0.05, "beta")
    new_low, new_high = newcombe(right, 10_000, np.array([38_000, 38_000]), 50_000, 0.95)
    assert (high - low) / 2 == pytest.approx([0.0095, 0.0084], abs=2e-4)
    assert (new_high - new_low) / 2 == pytest.approx([0.0102, 0.0092], abs=2e-4)


def test_pairs_are_those_of_statsmodels() -> None:
    study = gaussian_study(models=6)
    table = paired(study, 0.95)
    results.PAIRED.to_arrow(table)
    assert len(table) == 3 * 15
    old = study.right("original").mean(axis=1)
    for name, rows in table.groupby("set"):
        right = study.right(name)
        for row in rows.itertuples():
            a, b = (study.models.index(m) for m in (row.model, row.other))
            assert (old[a], -a) > (old[b], -b)
            counts = [
                [np.sum(right[a] == i) - np.sum((right[a] == i) & (right[b] != j)) for j in (1, 0)]
                for i in (1, 0)
            ]
            assert (row.only_model, row.only_other) == (counts[0][1], counts[1][0])
            assert row.p == pytest.approx(reference_mcnemar(counts, exact=True).pvalue, rel=1e-8)
            assert row.difference == pytest.approx(right[a].mean() - right[b].mean(), abs=1e-11)
        assert np.allclose(rows["adjusted"], multipletests(rows["p"], method="holm")[1])


@pytest.mark.parametrize(
    ("only", "other", "images"), [(60, 25, 300), (3, 0, 50), (0, 0, 10), (4000, 900, 50_000)]
)
def test_paired_intervals_are_those_of_drawn_resamples(only: int, other: int, images: int) -> None:
    low, high = interval(np.array([only]), np.array([other]), images, 0.9)
    cells = np.array([only, other, images - only - other])
    drawn = np.random.default_rng(1).multinomial(images, cells / images, 200_000)
    wanted = np.quantile(drawn[:, 0] - drawn[:, 1], [0.05, 0.95])
    # Within Monte Carlo error, of which a whole image can come.
    slack = max(1.0, 0.01 * np.sqrt(only + other) * 2)
    assert [low[0] * images, high[0] * images] == pytest.approx(wanted.tolist(), abs=slack)


def test_models_that_never_differ_are_not_told_apart() -> None:
    right = np.tile(np.arange(20) % 3 > 0, (2, 1))
    only, other = discordant(right, np.array([0]), np.array([1]))
    assert (only.tolist(), other.tolist(), mcnemar(only, other).tolist()) == ([0], [0], [1.0])
    assert interval(only, other, 20, 0.95) == (0, 0)


def test_probabilities_keep_their_digits_however_small() -> None:
    assert written([1 / 3, 1.23456789012345e-200, 0, 1]).tolist() == [0.3333333333, 1.23456789e-200, 0, 1]
    assert holm([]).size == 0
