"""Exact nearest neighbours under l2 and fc7, and the order of ties."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from imagenetv2.duplicates import features, pixels
from imagenetv2.duplicates.neighbours import Nearest, table


def brute(values: npt.NDArray[np.uint8]) -> npt.NDArray[np.int64]:
    whole = values.astype(np.int64)
    return np.array([[int(((a - b) ** 2).sum()) for b in whole] for a in whole])


def hostile(values: int) -> npt.NDArray[np.uint8]:
    rng = np.random.default_rng(5)
    noise = rng.integers(0, 255, values, dtype=np.uint8)
    rows = [np.zeros(values), np.full(values, 255), np.full(values, 128), np.full(values, 127), noise, noise]
    rows += [noise + 1, 255 - noise, np.arange(values) % 2 * 255, (np.arange(values) + 1) % 2 * 255]
    one_level = noise.copy()
    one_level[-1] += 1
    return np.stack([*rows, one_level]).astype(np.uint8)


@pytest.mark.parametrize("values", [1, 3, 1023, 1024, 1025, 12288])
def test_pixel_distances_are_exact_integers(values: int) -> None:
    rows = hostile(values)
    found = pixels.squared_distances(rows, rows)
    assert np.array_equal(found, brute(rows).astype(np.float64))


def test_pixel_distances_are_exact_at_the_study_s_size() -> None:
    rows = hostile(256 * 256 * 3)[[0, 1, 4, 6, 10]]
    assert np.array_equal(pixels.squared_distances(rows, rows), brute(rows).astype(np.float64))
    assert pixels.squared_distances(rows[:1], rows[1:2])[0, 0] == 255**2 * 256 * 256 * 3
    assert pixels.squared_distances(rows[2:3], rows[3:4])[0, 0] == 256 * 256 * 3
    assert pixels.squared_distances(rows[2:3], rows[4:5])[0, 0] == 1


def test_search_orders_ties_by_index_and_never_finds_the_image_itself() -> None:
    rows = np.array([[9], [5], [5], [5], [1]], dtype=np.uint8)
    found = pixels.search(rows, np.array([1, 2]), np.array([1, -1]), 3)
    assert found.index.tolist() == [[2, 3, 0], [1, 2, 3]]
    assert found.distance.tolist() == [[0, 0, 16], [0, 0, 0]]


def test_k_larger_than_the_set_gives_what_there_is() -> None:
    rows = np.array([[0], [3], [7]], dtype=np.uint8)
    found = pixels.search(rows, np.array([0]), np.array([0]), 30)
    frame = table(found, ["a"], ["a", "b", "c"], ["candidates", "train", "val"])
    assert frame.to_dict("list") == {
        "image_id": ["a", "a"],
        "rank": [0, 1],
        "neighbour_id": ["b", "c"],
        "origin": ["train", "val"],
        "distance": [9.0, 49.0],
    }


def test_a_lone_candidate_has_no_neighbours_and_no_candidates_give_no_rows() -> None:
    rows = np.array([[3]], dtype=np.uint8)
    for candidates, never in ((np.array([0]), np.array([0])), (np.array([], dtype=int), np.array([], int))):
        for found in (
            pixels.search(rows, candidates, never, 4),
            features.search(rows.astype(np.float32), candidates, never, 4),
        ):
            assert table(found, ["a"][: len(candidates)], ["a"], ["candidates"]).empty


def test_merging_keeps_the_nearest_in_a_total_order() -> None:
    merged = Nearest.none(1, 2).merged(np.array([[3.0, 1.0]]), np.array([4, 7]))
    merged = merged.merged(np.array([[1.0, np.inf]]), np.array([2, 0]))
    assert merged.index.tolist() == [[2, 7]]
    assert merged.distance.tolist() == [[1.0, 1.0]]


def test_feature_distances_of_near_copies_keep_their_digits() -> None:
    rng = np.random.default_rng(3)
    one = rng.normal(0, 30, 1280).astype(np.float32)
    rows = np.stack([one, one, one + np.float32(1e-4), one * np.float32(1.0001), rng.normal(0, 30, 1280)])
    rows = rows.astype(np.float32).astype(np.float64)
    found = features.squared_distances(rows, rows)
    direct = ((rows[:, None] - rows[None]) ** 2).sum(axis=2)
    assert found[0, 1] == 0.0
    np.testing.assert_allclose(found, direct, rtol=1e-5, atol=0)
    assert np.array_equal(found, found.T)


def test_rounding_keeps_six_digits() -> None:
    values = np.array([0.0, 1.23456789, 123456.789, 0.000123456789, 9999999.0])
    assert features.rounded(values).tolist() == [0.0, 1.23457, 123457.0, 0.000123457, 10000000.0]
