"""Ranks, first five and probabilities against scikit-learn and scipy; intervals against scipy's exact test."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import binomtest
from sklearn.metrics import top_k_accuracy_score

from imagenetv2.evaluation.metrics.accuracy import accuracy
from imagenetv2.evaluation.ranking import leading, probabilities, rounded, true_ranks
from imagenetv2.intervals import clopper_pearson


@pytest.fixture
def outputs() -> np.ndarray:
    return np.random.default_rng(1).normal(size=(300, 17)).astype(np.float32)


@pytest.fixture
def true() -> np.ndarray:
    return np.random.default_rng(2).integers(0, 17, 300)


@pytest.mark.parametrize("k", [1, 2, 5, 16])
def test_accuracy_is_scikit_learns(outputs: np.ndarray, true: np.ndarray, k: int) -> None:
    share = accuracy(true_ranks(outputs, true), k).share
    assert share == pytest.approx(top_k_accuracy_score(true, outputs, k=k, labels=range(17)))


def test_ties_go_to_the_smaller_class() -> None:
    outputs = np.array([[1.0, 2.0, 2.0, 2.0, 0.0]])
    assert [int(true_ranks(outputs, np.array([c]))[0]) for c in range(5)] == [3, 0, 1, 2, 4]
    assert leading(outputs, 5).tolist() == [[1, 2, 3, 0, 4]]


def test_constant_outputs_make_only_the_first_class_right() -> None:
    outputs = np.zeros((10, 10))
    assert true_ranks(outputs, np.arange(10)).tolist() == list(range(10))


def test_fewer_classes_than_five() -> None:
    assert leading(np.array([[0.0, 3.0, 1.0]]), 5).tolist() == [[1, 2, 0]]


def test_probabilities_are_softmax_to_six_digits(outputs: np.ndarray, true: np.ndarray) -> None:
    found = probabilities(outputs, true[:, None])[:, 0]
    exact = softmax(outputs.astype(np.float64), axis=1)[np.arange(300), true]
    np.testing.assert_allclose(found, exact, rtol=5.1e-6)
    assert all(float(f"{p:.6g}") == p for p in found)


def test_several_classes_at_once(outputs: np.ndarray, true: np.ndarray) -> None:
    columns = np.stack([true, leading(outputs, 1)[:, 0]], axis=1)
    found = probabilities(outputs, columns)
    assert found[:, 0].tolist() == probabilities(outputs, true[:, None])[:, 0].tolist()
    np.testing.assert_allclose(
        found[:, 1], softmax(outputs.astype(np.float64), axis=1).max(axis=1), rtol=5.1e-6
    )


def test_rounding_is_pythons_at_every_size() -> None:
    random = np.random.default_rng(3)
    values = 10 ** random.uniform(-30, 0, 5000)
    powers = 10.0 ** np.arange(-20, 1)
    values = np.concatenate(
        [values, powers, powers * (1 - 1e-12), powers * 0.9999996, [0.0, 1.0, 5e-324, 1e-300]]
    )
    assert rounded(values).tolist() == [float(f"{value:.6g}") for value in values]


def test_ranking_asks_for_nothing_of_the_layout(outputs: np.ndarray, true: np.ndarray) -> None:
    other = np.asfortranarray(outputs)
    assert true_ranks(other, true).tolist() == true_ranks(outputs, true).tolist()
    assert leading(other, 5).tolist() == leading(outputs, 5).tolist()
    assert (
        probabilities(other, true[:, None])[:, 0].tolist()
        == probabilities(outputs, true[:, None])[:, 0].tolist()
    )


def test_probabilities_of_huge_outputs() -> None:
    found = probabilities(np.array([[1e30, -1e30], [0.0, 1000.0]]), np.array([[0], [0]]))[:, 0]
    assert found[0] == 1.0
    assert found[1] == 0.0


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (7, 10), (1, 1), (0, 1), (431, 1000)])
@pytest.mark.parametrize("level", [0.9, 0.95])
def test_interval_is_scipys_exact(successes: int, trials: int, level: float) -> None:
    exact = binomtest(successes, trials).proportion_ci(level, method="exact")
    low, high = clopper_pearson(successes, trials, level)
    assert float(low) == pytest.approx(exact.low, abs=1e-10)
    assert float(high) == pytest.approx(exact.high, abs=1e-10)


def test_intervals_of_many_counts_at_once() -> None:
    low, high = clopper_pearson([[0, 3], [10, 0]], [[10, 10], [10, 0]])
    assert low.shape == (2, 2)
    assert (low[1, 1], high[1, 1]) == (0, 1)
    assert (low[0, 0], high[1, 0]) == (0, 1)


@pytest.mark.parametrize(("k", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(k: int, n: int, level: float) -> None:
    with pytest.raises(ValueError, match="must lie"):
        clopper_pearson(k, n, level)


def test_accuracy_names_counts_and_interval() -> None:
    found = accuracy([0, 0, 3, 7], k=4)
    exact = binomtest(3, 4).proportion_ci(0.95, method="exact")
    assert (found.images, found.right, found.share) == (4, 3, 0.75)
    assert (found.low, found.high) == (pytest.approx(exact.low), pytest.approx(exact.high))


@pytest.mark.parametrize(("ranks", "k"), [([], 1), ([0], 0)])
def test_accuracy_of_nothing_is_refused(ranks: list[int], k: int) -> None:
    with pytest.raises(ValueError, match="at least"):
        accuracy(ranks, k)
