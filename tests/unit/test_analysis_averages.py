"""Bootstrapped averages, the table of rules, accuracies and orders, each against an independent count."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from imagenetv2.analysis import ranks
from imagenetv2.analysis.accuracies import Predictions, accuracies, by_class, stack
from imagenetv2.analysis.bootstrap import averages, interval
from imagenetv2.analysis.rules import Scores, rules


def predictions(correct: np.ndarray) -> Predictions:
    models, images = correct.shape
    key = pd.DataFrame(
        {"image_id": [f"{i:04d}" for i in range(images)], "wnid": "n1", "class_index": np.arange(images) % 2}
    )
    return Predictions(tuple(f"m{i}" for i in range(models)), np.where(correct, 0, 7), key)


def test_interval_of_an_average_is_that_of_scipy() -> None:
    values = np.random.default_rng(0).binomial(10, 0.7, 150) / 10
    low, high = interval(averages(values, 20_000, np.random.default_rng(1)), 0.95)
    wanted = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(2)
    ).confidence_interval
    assert (low, high) == (pytest.approx(wanted.low, abs=0.003), pytest.approx(wanted.high, abs=0.003))


def test_averages_follow_the_exact_bootstrap_distribution() -> None:
    drawn = averages(np.array([0.0, 0.0, 1.0]), 60_000, np.random.default_rng(4))
    counts = np.bincount(np.rint(3 * drawn).astype(int), minlength=4) / drawn.size
    assert counts == pytest.approx(stats.binom.pmf(range(4), 3, 1 / 3), abs=0.01)


def test_averages_of_many_distinct_values_are_those_of_drawn_indices() -> None:
    values = np.concatenate([np.random.default_rng(0).random(40), np.repeat([0.2, 0.9], 15)])
    drawn = averages(values, 20_000, np.random.default_rng(1))
    plain = values[np.random.default_rng(2).integers(0, 70, (20_000, 70))].mean(axis=1)
    assert stats.ks_2samp(drawn, plain).pvalue > 0.01
    assert np.array_equal(drawn, averages(values, 20_000, np.random.default_rng(1)))


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        averages(np.array([]), 10, np.random.default_rng(0))


def simulated() -> dict[str, Scores]:
    rng = np.random.default_rng(8)
    ease = rng.beta(5, 2, 200)
    skills = np.array([0.5, 0.8, 1.0])[:, None]
    old = predictions(rng.random((3, 200)) < skills * ease)
    new = predictions(rng.random((3, 80)) < skills * 0.7 * ease[:80])
    votes = rng.binomial(10, ease) / 10
    return {"original": Scores(old, votes[:50], ease[:50]), "new": Scores(new, votes[100:180], None)}


def test_rules_agree_with_a_loop_over_resamples() -> None:
    sets = simulated()
    table = rules(sets, 0.95, 4000, 1).set_index("set")
    rng, changes = np.random.default_rng(9), []
    old, new = sets["original"].predictions.top(1), sets["new"].predictions.top(1)
    for _ in range(4000):
        a, b = rng.integers(0, 200, 200), rng.integers(0, 80, 80)
        changes.append(np.mean([n[b].mean() - o[a].mean() for o, n in zip(old, new, strict=True)]))
    row = table.loc["new"]
    assert row["change_top1"] == pytest.approx((new.mean(axis=1) - old.mean(axis=1)).mean())
    low, high = np.quantile(changes, [0.025, 0.975])
    assert (row["change_low"], row["change_high"]) == (
        pytest.approx(low, abs=0.006),
        pytest.approx(high, abs=0.006),
    )
    assert row["frequency"] == pytest.approx(sets["new"].observed.mean())
    assert row["observed_shift"] == pytest.approx(
        sets["new"].observed.mean() - sets["original"].observed.mean()
    )
    assert np.isnan(row["true_frequency"]) and np.isnan(row["true_shift_low"])
    assert table.loc["original", "change_low"] == table.loc["original", "change_high"] == 0
    assert (row["images"], row["annotated"], row["models"]) == (80, 80, 3)


def test_rules_do_not_depend_on_which_other_sets_there_are() -> None:
    sets = simulated()
    alone = rules(sets, 0.9, 300, 1).set_index("set").loc["new"]
    more = rules({"original": sets["original"], "another": sets["new"], **sets}, 0.9, 300, 1)
    pd.testing.assert_series_equal(alone, more.set_index("set").loc["new"])


def test_accuracies_count_right_answers() -> None:
    old = Predictions(("b", "a"), np.array([[0, 0, 4, 9], [0, 1, 5, 0]]), predictions(np.ones((1, 4))).images)
    new = Predictions(("b", "a"), np.array([[0, 1, 2, 3], [0, 0, 0, 0]]), old.images)
    table = accuracies({"original": old, "threshold": new}, {"a": "x", "b": "y"}, 0.95)
    assert list(zip(table["model"], table["set"], strict=True)) == [
        ("a", "original"), ("a", "threshold"), ("b", "original"), ("b", "threshold"),
    ]  # fmt: skip
    assert table["top1"].tolist() == [0.5, 1.0, 0.5, 0.25]
    assert table["top5"].tolist() == [0.75, 1.0, 0.75, 1.0]
    assert table["change"].tolist() == [0, 0.5, 0, -0.25]
    assert table["rank"].tolist() == [1, 1, 2, 2]
    for row in table.itertuples():
        wanted = stats.binomtest(round(row.top1 * 4), 4).proportion_ci(0.95, "exact")
        assert (row.top1_low, row.top1_high) == (pytest.approx(wanted.low), pytest.approx(wanted.high))
    classes = by_class({"original": old}, {"original": pd.DataFrame({"wnid": ["n1"], "frequency": [0.5]})})
    assert classes["top1"].tolist() == [0.5, 0.5] and classes["images"].tolist() == [2, 2]


def test_predictions_for_other_images_are_refused() -> None:
    table = predictions(np.ones((1, 3))).images.assign(rank=0)
    other = table.assign(image_id=["0000", "0001", "9999"])
    assert stack({"a": table, "b": table.iloc[::-1]}).ranks.shape == (2, 3)
    with pytest.raises(ValueError, match="model b"):
        stack({"a": table, "b": other})


def test_correlations_of_orders_are_those_counted_by_hand() -> None:
    rng = np.random.default_rng(2)
    for _ in range(20):
        x, y = rng.integers(0, 6, 9).astype(float), rng.integers(0, 6, 9).astype(float)
        found = ranks.agreement(x, y, list("abcdefghi"))
        pairs = [(np.sign(x[i] - x[j]), np.sign(y[i] - y[j])) for i in range(9) for j in range(i)]
        untied = [sum(abs(pair[k]) for pair in pairs) for k in (0, 1)]
        assert found.kendall == pytest.approx(
            sum(a * b for a, b in pairs) / np.sqrt(np.prod(untied)), abs=1e-11
        )
        middle = [[(np.sum(v < each) + np.sum(v <= each) + 1) / 2 for each in v] for v in (x, y)]
        assert found.spearman == pytest.approx(np.corrcoef(*middle)[0, 1], abs=1e-11)


def test_places_and_moves() -> None:
    assert ranks.places([0.5, 0.9, 0.5], ["c", "b", "a"]).tolist() == [3, 1, 2]
    found = ranks.agreement([3, 2, 1], [1, 2, 3], ["a", "b", "c"])
    assert (found.kendall, found.moved, found.largest) == (-1, 2, 2)
    assert ranks.agreement([1, 1], [1, 2], ["a", "b"]).kendall is None
