"""Bootstrap samples of images and classes against plain ones."""

from __future__ import annotations

from collections import Counter
from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy import stats

from imagenetv2.analysis import multinomial
from imagenetv2.analysis.multinomial import Multinomial, collapse
from imagenetv2.analysis.resamples import Resamples, resamples
from tests.unit.small_study import study


@pytest.mark.parametrize("mean", [None, 0.25, 0.9, 1.0])
@pytest.mark.parametrize("copies", [[1, 1, 1, 1], [1, 1, 3], [5], [1, 9]])
def test_counts_have_the_multinomial_distribution(copies: list[int], mean: float | None) -> None:
    drawn = Multinomial(np.array(copies))
    drawn.mean = drawn.mean if mean is None else mean  # however many are drawn at first
    n, samples = sum(copies), 10_000
    found = Counter(map(tuple, drawn.draw(samples, np.random.default_rng(4)).astype(int).tolist()))
    wanted = {}
    for counts in product(range(n + 1), repeat=len(copies)):
        if sum(counts) == n:
            ways = factorial(n) / np.prod([factorial(c) for c in counts])
            wanted[counts] = ways * np.prod([(a / n) ** c for a, c in zip(copies, counts, strict=True)])
    assert set(found) <= set(wanted)
    likely = [c for c, chance in wanted.items() if chance * samples >= 5]
    observed = [found[c] for c in likely] + [sum(found[c] for c in wanted if c not in likely)]
    expected = [wanted[c] * samples for c in likely] + [
        sum(wanted[c] for c in wanted if c not in likely) * samples
    ]
    if expected[-1] < 5:
        observed, expected = observed[:-1], expected[:-1]
    if len(expected) > 1:
        scaled = np.array(expected) * sum(observed) / sum(expected)
        assert stats.chisquare(observed, scaled).pvalue > 1e-4
    else:
        assert sum(observed) == samples


def test_large_counts_have_the_multinomial_moments() -> None:
    copies = np.array([1] * 400 + [9, 40, 300, 251])
    n, samples = int(copies.sum()), 8000
    drawn = Multinomial(copies).draw(samples, np.random.default_rng(1))
    assert drawn.dtype == np.float32 and np.all(drawn.sum(axis=1) == n) and drawn.min() == 0
    share = copies / n
    error = np.sqrt(n * share * (1 - share) / samples)
    assert np.all(np.abs(drawn.mean(axis=0) - copies) < 4.5 * error)
    covariance = np.cov(drawn.T.astype(np.float64))
    wanted = n * (np.diag(share) - np.outer(share, share))
    spread = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / samples)
    assert np.abs((covariance - wanted) / spread)[-4:].max() < 4.5
    assert np.diag(covariance)[:400].mean() == pytest.approx(wanted[0, 0], rel=0.01)
    singles = np.bincount(drawn[:, :400].astype(int).ravel(), minlength=12)[:12]
    expected = stats.binom.pmf(np.arange(12), n, 1 / n)
    assert singles / singles.sum() == pytest.approx(expected, abs=5e-4)


def test_collapsed_items_are_the_same_items() -> None:
    rng = np.random.default_rng(0)
    features = rng.random((500, 5)) < [0.5, 0.9, 0.99, 0.2, 0.01]
    columns, copies = collapse(features)
    assert np.all(copies[(copies > 1).argmax() :] > multinomial.FEW) and copies[0] == 1
    assert sorted(map(tuple, np.repeat(columns, copies, axis=0).tolist())) == sorted(
        map(tuple, features.tolist())
    )


def test_resampled_accuracies_are_distributed_as_those_of_drawn_indices() -> None:
    made, samples = study(models=3), 4000
    found = resamples(made, "images", samples, 5, k=(1, 5))
    rng = np.random.default_rng(9)
    for name, predictions in made.sets.items():
        count = predictions.ranks.shape[1]
        indices = rng.integers(0, count, (samples, count))
        for k, shares in ((1, found.top1[name]), (5, found.top5[name])):
            assert shares.shape == (samples, 3) and shares.dtype == np.float32
            right = predictions.top(k)
            plain = right[:, indices].mean(axis=2)
            for model in range(3):
                assert stats.ks_2samp(shares[:, model], plain[model].astype(np.float32)).pvalue > 1e-3
            wanted = np.cov(right, bias=True) / count
            error = np.sqrt((np.outer(np.diag(wanted), np.diag(wanted)) + wanted**2) / samples)
            assert np.all(np.abs(np.cov(shares.T.astype(np.float64)) - wanted) <= 4.5 * error + 1e-12)
        assert np.all(found.top1[name] <= found.top5[name])
        whole = found.top1[name].astype(np.float64) * found.sizes[name][:, None]
        assert np.abs(whole - np.rint(whole)).max() < 1e-3


def test_sets_are_resampled_apart() -> None:
    made = study(images={"original": 200, "matched_frequency": 200}, models=3)
    found = resamples(made, "images", 3000, 1)
    across = np.corrcoef(found.top1["original"][:, 1], found.top1["matched_frequency"][:, 1])[0, 1]
    assert abs(across) < 0.08


def test_classes_are_drawn_with_all_their_images_the_same_in_every_set() -> None:
    made = study(images={"original": 95, "matched_frequency": 40}, classes=7, models=4)
    found = resamples(made, "classes", 300, 3)
    by_class = {
        name: [p.top(1)[:, p.images["class_index"] == c] for c in range(7)] for name, p in made.sets.items()
    }
    sizes = {name: np.array([part.shape[1] for part in parts]) for name, parts in by_class.items()}
    rows = [
        {
            name: np.concatenate(
                [part for part, times in zip(parts, row, strict=True) for _ in range(times)], 1
            )
            for name, parts in by_class.items()
        }
        for row in _drawn_classes(7, 300, 3)
    ]
    for name in made.sets:
        wanted = np.array([row[name].mean(axis=1) for row in rows])
        assert found.top1[name] == pytest.approx(wanted, abs=1e-6)
        assert found.sizes[name].tolist() == [row[name].shape[1] for row in rows]
    assert sizes["original"].min() < sizes["original"].max()


def _drawn_classes(classes: int, samples: int, seed: int) -> list[list[int]]:
    """How often each class was drawn, found from a set with one image of each and a model for each class."""
    names = study(models=classes, images={"original": classes, "matched_frequency": classes}, classes=classes)
    for predictions in names.sets.values():
        predictions.ranks[:] = 1 - np.eye(classes, dtype=np.int64)
    found = resamples(names, "classes", samples, seed)
    assert np.array_equal(found.top1["original"], found.top1["matched_frequency"])
    counts: list[list[int]] = np.rint(found.top1["original"] * classes).astype(int).tolist()
    assert all(sum(row) == classes for row in counts)
    return counts


def test_a_sample_without_images_of_a_set_has_no_accuracy_there() -> None:
    made = study(images={"original": 6, "matched_frequency": 2}, classes=3, models=2)
    found = resamples(made, "classes", 500, 0)
    empty = found.sizes["matched_frequency"] == 0
    assert 0 < empty.sum() < 100
    assert np.isnan(found.top1["matched_frequency"][empty]).all()
    assert np.isfinite(found.top1["matched_frequency"][~empty]).all()
    assert np.isfinite(found.top1["original"]).all()


@pytest.mark.parametrize("over", ["images", "classes"])
def test_resamples_do_not_depend_on_cores_but_on_the_seed(over: str) -> None:
    made = study()
    one, three, other = (resamples(made, over, 300, seed, cores) for seed, cores in ((1, 1), (1, 3), (2, 1)))
    for name in made.sets:
        assert one.top1[name].tobytes() == three.top1[name].tobytes()
        assert one.top1[name].tobytes() != other.top1[name].tobytes()


@pytest.mark.parametrize("over", ["images", "classes"])
def test_top_1_is_the_same_whether_or_not_top_5_is_wanted_of_classes(over: str) -> None:
    made = study()
    both: Resamples = resamples(made, over, 50, 1, k=(1, 5))
    assert list(both.top) == [1, 5]
    if over == "classes":
        assert np.array_equal(both.top1["original"], resamples(made, over, 50, 1).top1["original"])


def test_a_set_of_one_image_and_models_that_all_agree() -> None:
    made = study(images={"original": 1, "matched_frequency": 30}, classes=1)
    made.sets["matched_frequency"].ranks[:] = 0
    found = resamples(made, "images", 10, 0)
    assert np.array_equal(found.top1["original"], np.tile(made.right("original").T, (10, 1)))
    assert np.all(found.top1["matched_frequency"] == 1)


def test_only_images_and_classes_are_resampled() -> None:
    with pytest.raises(ValueError, match="not models"):
        resamples(study(), "models", 10, 0)
