"""Metrics of any predictions: bounds, and nothing depends on the order of the rows, to the last bit."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from imagenetv2.evaluation.metrics.aurra import aurra
from imagenetv2.evaluation.metrics.by_class import by_class
from imagenetv2.evaluation.metrics.calibration import (
    calibration_by_chance,
    expected_calibration_error,
    rms_calibration_error,
)
from imagenetv2.evaluation.metrics.summary import summary
from tests.unit.evaluation_predictions import predictions

# Few values, so that many images tie.
CONFIDENCE = st.sampled_from([0.0, 0.1, 0.25, 1 / 3, 0.5, 0.9, 1.0]) | st.floats(0, 1)
IMAGES = st.lists(st.tuples(CONFIDENCE, st.booleans()), min_size=1, max_size=40)
BIN = st.integers(1, 12)


def columns(images: list[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    confidence, right = zip(*images, strict=True)
    return np.array(confidence), np.array(right)


@given(IMAGES, BIN, st.randoms(use_true_random=False))
def test_the_order_of_the_images_does_not_matter(
    images: list[tuple[float, bool]], size: int, random: object
) -> None:
    moved = list(images)
    random.shuffle(moved)  # type: ignore[attr-defined]
    one, two = columns(images), columns(moved)
    assert rms_calibration_error(*one, size) == rms_calibration_error(*two, size)
    assert expected_calibration_error(*one, size) == expected_calibration_error(*two, size)
    assert calibration_by_chance(one[0], size) == calibration_by_chance(two[0], size)
    np.testing.assert_array_equal(_fields(aurra(*one)), _fields(aurra(*two)))


def _fields(found: object) -> list[float]:
    return list(vars(found).values())


@given(st.integers(1, 60), st.integers(2, 9), st.integers(0, 9))
def test_tables_do_not_depend_on_the_order_of_their_rows(images: int, classes: int, seed: int) -> None:
    table = predictions(images, classes, seed)
    moved = table.sample(frac=1, random_state=seed)
    pd.testing.assert_frame_equal(summary(table), summary(moved), check_exact=True)
    pd.testing.assert_frame_equal(by_class(table), by_class(moved), check_exact=True)


@given(IMAGES, BIN)
def test_bounds(images: list[tuple[float, bool]], size: int) -> None:
    confidence, right = columns(images)
    rms = rms_calibration_error(confidence, right, size)
    # Cauchy–Schwarz in one bin, and never beyond the farthest image.
    assert abs(confidence.mean() - right.mean()) - 1e-12 <= rms <= np.abs(confidence - right).max() + 1e-12
    expected = expected_calibration_error(confidence, right, size)
    assert (
        abs(confidence.mean() - right.mean()) - 1e-12 <= expected <= np.abs(confidence - right).mean() + 1e-12
    )
    assert 0 <= calibration_by_chance(confidence, size) <= 0.5
    found = aurra(confidence, right)
    assert 0 <= found.value <= 1
    assert np.isnan(found.low) or 0 <= found.low <= found.value <= found.high <= 1


@given(IMAGES)
def test_aurra_is_highest_where_confidence_sorts_right_from_wrong(images: list[tuple[float, bool]]) -> None:
    confidence, right = columns(images)
    best, worst = aurra(right.astype(float), right).value, aurra(1.0 - right, right).value
    assert worst - 1e-12 <= aurra(confidence, right).value <= best + 1e-12


@given(st.lists(st.booleans(), min_size=1, max_size=50), st.floats(0, 1), BIN)
def test_a_constant_confidence(right: list[bool], confidence: float, size: int) -> None:
    """No order, so one accuracy everywhere: calibration is its distance from the confidence."""
    same, share = np.full(len(right), confidence), float(np.mean(right))
    assert rms_calibration_error(same, right, size) == pytest.approx(abs(confidence - share), abs=1e-12)
    assert expected_calibration_error(same, right, size) == pytest.approx(abs(confidence - share), abs=1e-12)
    assert aurra(same, right).value == pytest.approx(share, abs=1e-12)


@given(IMAGES, st.integers(2, 5), BIN)
def test_every_image_several_times_over(images: list[tuple[float, bool]], times: int, size: int) -> None:
    """Bins are shares of the images: copies of all images in bins as much larger change nothing."""
    confidence, right = columns(images)
    if len(images) % size:
        size = len(images)
    more = np.repeat(confidence, times), np.repeat(right, times)
    found = rms_calibration_error(*more, size * times)
    assert found == pytest.approx(rms_calibration_error(confidence, right, size), abs=1e-9)
    assert expected_calibration_error(*more, 7) == pytest.approx(
        expected_calibration_error(confidence, right, 7), abs=1e-12
    )


@given(IMAGES)
def test_a_bin_an_image_is_the_root_of_the_brier_score_without_ties(images: list[tuple[float, bool]]) -> None:
    confidence, right = columns(list({c: (c, r) for c, r in images}.values()))
    wanted = np.sqrt(np.mean((confidence - right) ** 2))
    assert rms_calibration_error(confidence, right, 1) == pytest.approx(wanted)


@given(st.integers(1, 80), st.integers(1, 12), st.integers(0, 9))
def test_classes_add_up_to_the_set(images: int, classes: int, seed: int) -> None:
    table = predictions(images, classes, seed)
    found = by_class(table)
    assert found["images"].sum() == images and found["right"].sum() == (table["rank"] == 0).sum()
    assert ((found["low"] <= found["share"]) & (found["share"] <= found["high"])).all()
    top1 = summary(table).set_index("metric").loc["top1", "value"]
    assert (found["share"] * found["images"]).sum() / images == pytest.approx(top1)
