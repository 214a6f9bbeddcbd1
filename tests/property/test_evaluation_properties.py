"""Ranks by brute force, and predictions that depend neither on batches nor on order."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from imagenetv2.evaluation.predictions import batched, predict
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.ranking import leading, true_probabilities, true_ranks
from imagenetv2.intervals import clopper_pearson

FEW = st.sampled_from([-2.0, -0.0, 0.0, 0.5, 3.0])
OUTPUTS = arrays(np.float32, array_shapes(min_dims=2, max_dims=2, max_side=8), elements=FEW)


def sorted_classes(row: np.ndarray) -> list[int]:
    return sorted(range(len(row)), key=lambda c: (-float(row[c]), c))


@given(OUTPUTS, st.data())
def test_rank_is_the_place_in_a_sort(outputs: np.ndarray, data: st.DataObject) -> None:
    true = np.array([data.draw(st.integers(0, outputs.shape[1] - 1)) for _ in outputs])
    ranks = true_ranks(outputs, true)
    assert ranks.tolist() == [sorted_classes(row).index(c) for row, c in zip(outputs, true, strict=True)]


@given(OUTPUTS, st.integers(1, 8))
def test_leading_is_the_head_of_a_sort_and_agrees_with_ranks(outputs: np.ndarray, k: int) -> None:
    first = leading(outputs, k)
    assert first.tolist() == [sorted_classes(row)[:k] for row in outputs]
    for place in range(first.shape[1]):
        assert (true_ranks(outputs, first[:, place]) == place).all()


@given(OUTPUTS, st.floats(-50, 50))
def test_probabilities_sum_to_one_and_ignore_a_shift(outputs: np.ndarray, shift: float) -> None:
    columns = [np.full(len(outputs), c) for c in range(outputs.shape[1])]
    total = sum(true_probabilities(outputs, c) for c in columns)
    np.testing.assert_allclose(total, 1, atol=1e-4)
    moved = true_probabilities(outputs.astype(np.float64) + shift, columns[0])
    np.testing.assert_allclose(moved, true_probabilities(outputs, columns[0]), rtol=2e-5)


def labels_of(true: np.ndarray) -> pd.DataFrame:
    names = [f"{i:016x}" for i in range(len(true))]
    return pd.DataFrame({"image_id": names, "wnid": [f"n{c:08d}" for c in true], "class_index": true})


@given(OUTPUTS, st.integers(1, 9), st.data())
def test_predictions_do_not_depend_on_batches(outputs: np.ndarray, size: int, data: st.DataObject) -> None:
    classes = np.arange(outputs.shape[1])
    true = np.array([data.draw(st.integers(0, len(classes) - 1)) for _ in outputs])
    whole = predict("m", iter([outputs]), labels_of(true), classes, classes)
    parts = iter([outputs[i : i + size] for i in range(0, len(outputs), size)])
    pd.testing.assert_frame_equal(predict("m", parts, labels_of(true), classes, classes), whole)


@given(OUTPUTS, st.randoms(use_true_random=False))
def test_predictions_follow_a_permutation_of_the_images(outputs: np.ndarray, random: object) -> None:
    classes = np.arange(outputs.shape[1])
    labels = labels_of(np.arange(len(outputs)) % len(classes))
    order = list(range(len(outputs)))
    random.shuffle(order)  # type: ignore[attr-defined]
    whole = predict("m", iter([outputs]), labels, classes, classes)
    moved = predict("m", iter([outputs[order]]), labels.iloc[order], classes, classes)
    pd.testing.assert_frame_equal(moved.sort_values("image_id", ignore_index=True), whole)


@given(st.integers(0, 20), st.integers(1, 7), st.sampled_from([1, 3]))
def test_batches_hold_every_image_once_in_order(count: int, size: int, threads: int) -> None:
    images = [np.full((1, 1, 3), i, np.uint8) for i in range(count)]
    batches = list(batched(images, lambda pixels: pixels, size, threads))
    assert [len(b) for b in batches[:-1]] == [size] * max(0, len(batches) - 1)
    assert [int(b[0, 0, 0]) for batch in batches for b in batch] == list(range(count))


@given(
    st.integers(1, 70),
    st.integers(1, 70),
    st.integers(1, 40),
    st.sampled_from([0.8, 0.875, 1.0]),
)
def test_every_image_becomes_a_square(height: int, width: int, size: int, crop: float) -> None:
    pixels = np.full((height, width, 3), 77, np.uint8)
    found = Preprocessing(size, crop).cut(pixels)
    assert found.shape == (size, size, 3)
    assert (found == 77).all()


@given(st.integers(0, 60), st.integers(1, 60), st.floats(0.5, 0.99))
def test_interval_holds_the_share_and_is_symmetric(successes: int, more: int, level: float) -> None:
    trials = successes + more
    low, high = clopper_pearson(successes, trials, level)
    assert low <= successes / trials <= high
    other_low, other_high = clopper_pearson(trials - successes, trials, level)
    assert float(other_low) == pytest.approx(1 - float(high), abs=1e-9)
    assert float(other_high) == pytest.approx(1 - float(low), abs=1e-9)
