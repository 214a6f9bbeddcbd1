"""Which pairs are kept, in which order; the table of them; pairs that do not count."""

from __future__ import annotations

import numpy as np

from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.neighbours import Pairs, table


def pairs(*rows: tuple[int, int, float]) -> Pairs:
    row, column, distance = zip(*rows, strict=True)
    return Pairs(np.array(row), np.array(column), np.array(distance, dtype=np.float64))


def listed(found: Pairs) -> list[tuple[int, int, float]]:
    return list(zip(found.row.tolist(), found.column.tolist(), found.distance.tolist(), strict=True))


def test_the_nearest_come_first_and_equal_distances_by_index() -> None:
    found = pairs((4, 7, 1.0), (4, 2, 1.0), (1, 9, 5.0), (4, 3, 0.0), (1, 8, 5.0)).nearest(2, -1.0)
    assert listed(found) == [(1, 8, 5.0), (1, 9, 5.0), (4, 3, 0.0), (4, 2, 1.0)]
    assert found.ranks().tolist() == [0, 1, 0, 1]


def test_all_within_a_distance_are_kept_beyond_the_k_nearest() -> None:
    known = pairs((0, 1, 3.0), (0, 2, 2.0), (0, 3, 4.0), (5, 1, 9.0))
    assert listed(known.nearest(1, 3.0)) == [(0, 2, 2.0), (0, 1, 3.0), (5, 1, 9.0)]
    assert listed(known.nearest(0, 3.0)) == [(0, 2, 2.0), (0, 1, 3.0)]


def test_a_pair_that_is_there_twice_counts_once() -> None:
    found = pairs((0, 1, 3.0), (0, 1, 3.0), (0, 2, 4.0)).nearest(2, -1.0)
    assert listed(found) == [(0, 1, 3.0), (0, 2, 4.0)]
    assert found.ranks().tolist() == [0, 1]


def test_the_table_names_images_and_where_they_come_from() -> None:
    found = pairs((0, 1, 9.0), (0, 2, 49.0)).nearest(30, -1.0)
    frame = table(found, ["a", "b", "c"], ["candidates", "train", "val"])
    assert frame.to_dict("list") == {
        "image_id": ["a", "a"],
        "rank": [0, 1],
        "neighbour_id": ["b", "c"],
        "origin": ["train", "val"],
        "distance": [9.0, 49.0],
    }
    assert table(Pairs.none().nearest(3, -1.0), ["a"], ["train"]).empty


def test_places_in_a_tile_of_pairs_that_do_not_count() -> None:
    excluded = Excluded.of(6, [(1, 4), (1, 1), (3, 0), (1, 4)])
    row, column = excluded.inside(np.array([1, 2, 3]), np.array([0, 1, 4, 5]))
    assert sorted(zip(row.tolist(), column.tolist(), strict=True)) == [(0, 1), (0, 2), (2, 0)]
    row, column = excluded.inside(np.array([1, 3]), np.array([2, 3]))
    assert (row.size, column.size) == (0, 0)
    row, column = Excluded.of(6, []).inside(np.array([1, 3]), np.array([2, 3]))
    assert (row.size, column.size) == (0, 0)
