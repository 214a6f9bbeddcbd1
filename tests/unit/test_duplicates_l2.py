"""l2 on the processor: distances are plain integer arithmetic, bounds are below them, nothing is copied whole."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.l2 import cpu, dense, kernels, thumbnails
from imagenetv2.duplicates.l2.cpu import Engine
from imagenetv2.duplicates.search import Plan, search
from tests.unit.duplicates_pixels import brute, hostile

SIDES = [1, 2, 3, 8, 15, 16, 17, 24, 31, 32, 37, 64, 100]


def all_pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    columns, rows = (a.ravel() for a in np.indices((count, count)))
    return np.ascontiguousarray(rows), np.ascontiguousarray(columns)


@pytest.mark.parametrize("side", SIDES)
def test_distances_are_plain_integer_arithmetic(side: int) -> None:
    pixels = hostile(side)
    wanted = brute(pixels)
    rows, columns = all_pairs(len(pixels))
    one_by_one = Engine(pixels).exact(rows, columns, np.full(len(rows), np.inf))
    assert np.array_equal(one_by_one.astype(np.int64), wanted[rows, columns])
    every = np.arange(len(pixels))
    product = dense.squared_distances(pixels.reshape(len(pixels), -1), every, every)
    assert np.array_equal(product.astype(np.int64), wanted)


def test_distances_at_the_study_s_size() -> None:
    pixels = hostile(256)[[0, 1, 2, 3, 5, 6, 7, 9, 10, 11]]
    wanted = brute(pixels)
    rows, columns = all_pairs(len(pixels))
    engine = Engine(pixels)
    assert np.array_equal(engine.exact(rows, columns, np.full(len(rows), np.inf)), wanted[rows, columns])
    lower, _ = engine.bounds(np.arange(len(pixels)), np.arange(len(pixels)))
    assert (lower <= wanted).all()
    assert wanted[0, 1] == 255**2 * 256 * 256 * 3  # black and white
    assert wanted[4, 6] == 256 * 256 * 3  # one level brighter
    assert wanted[4, 7] == 1  # one value one level brighter


def test_sums_of_any_length_do_not_overflow() -> None:
    black, white = np.zeros((2, 200_001), np.uint8)
    white += 255
    assert kernels.squared(black, white) == kernels.squared(white, black) == 200_001 * 255**2
    assert (
        dense.squared_distances(np.stack([black, white]), np.array([0]), np.array([1]))[0, 0]
        == 200_001 * 255**2
    )


@pytest.mark.parametrize("side", SIDES)
def test_bounds_are_never_above_the_distance(side: int) -> None:
    rng = np.random.default_rng(side)
    smooth = np.cumsum(rng.integers(-3, 4, (20, side, side, 3)), axis=2) + rng.integers(0, 256, (20, 1, 1, 3))
    pixels = np.concatenate([hostile(side), np.clip(smooth, 0, 255).astype(np.uint8)])
    every = np.arange(len(pixels))
    lower, estimate = Engine(pixels).bounds(every, every)
    assert (lower <= brute(pixels)).all()
    assert (lower >= 0).all()
    assert np.isfinite(estimate).all()


def test_bounds_are_close_for_smooth_images_and_tell_texture_from_flatness() -> None:
    ramps = np.stack([np.full((64, 64, 3), level) + np.arange(64)[:, None, None] for level in (0, 50, 150)])
    board = 100 + np.indices((64, 64)).sum(axis=0)[..., None] % 2 * np.array([60, 60, 60])
    pixels = np.concatenate([ramps, board[None], np.full((1, 64, 64, 3), 130)]).astype(np.uint8)
    lower, _ = Engine(pixels).bounds(np.arange(5), np.arange(5))
    wanted = brute(pixels)
    assert (lower[:3, :3] >= 0.9 * wanted[:3, :3]).all()
    # One mean colour: only the lengths of what the means leave tell the two apart.
    assert lower[3, 4] >= 0.9 * wanted[3, 4] > 0


def test_a_distance_above_the_limit_may_be_left_out_but_none_at_the_limit() -> None:
    pixels = hostile(37)
    wanted = brute(pixels)
    rows, columns = all_pairs(len(pixels))
    exact = wanted[rows, columns].astype(np.float64)
    engine = Engine(pixels)
    assert np.array_equal(engine.exact(rows, columns, exact), exact)
    below = engine.exact(rows, columns, exact - 1)
    assert np.isinf(below).all()


def test_pairs_one_by_one_and_by_matrix_products_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = hostile(33)
    rows, columns = all_pairs(len(pixels))
    limit = np.full(len(rows), np.inf)
    found = []
    for cost in (0, 10**9):
        monkeypatch.setattr(cpu, "WIDENED", cost)
        found.append(Engine(pixels).exact(rows, columns, limit))
    assert np.array_equal(*found)
    assert np.array_equal(found[0], brute(pixels)[rows, columns])


def test_no_pairs_and_no_images() -> None:
    none = np.empty(0, np.int64)
    engine = Engine(hostile(8))
    assert engine.exact(none, none, np.empty(0)).shape == (0,)
    assert engine.bounds(none, np.arange(3))[0].shape == (0, 3)
    assert Engine(np.empty((0, 8, 8, 3), np.uint8)).bounds(none, none)[0].shape == (0, 0)


def test_thumbnails_are_made_once_and_by_several_threads_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    pixels = np.random.default_rng(1).integers(0, 256, (300, 16, 16, 3), dtype=np.uint8)
    every = np.arange(len(pixels))
    alone = Engine(pixels).bounds(every, every)
    made = []
    real = thumbnails.kernels.reduce
    monkeypatch.setattr(
        thumbnails.kernels, "reduce", lambda some, *rest: (made.append(len(some)), real(some, *rest))
    )
    engine = Engine(pixels)
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda _: engine.bounds(every, every), range(16)))
    assert sum(made) == len(pixels)
    for some in together:
        assert np.array_equal(some[0], alone[0])
        assert np.array_equal(some[1], alone[1])


def test_memory_mapped_pixels_stay_where_they_are(tmp_path: Path) -> None:
    pixels = hostile(24)
    np.save(tmp_path / "pixels.npy", pixels)
    mapped = np.load(tmp_path / "pixels.npy", mmap_mode="r")
    engine = Engine(mapped)
    assert np.shares_memory(engine._thumbnails.pixels, mapped)
    rows, columns = all_pairs(len(pixels))
    limit = np.full(len(rows), np.inf)
    assert np.array_equal(engine.exact(rows, columns, limit), brute(pixels)[rows, columns])


def test_search_orders_ties_by_index_and_gives_what_there_is() -> None:
    levels = np.array([9, 5, 5, 5, 1], np.uint8)
    pixels = np.repeat(levels, 3).reshape(5, 1, 1, 3)
    excluded = Excluded.of(5, [(1, 1)])
    pairs, skipped = search(Engine(pixels), np.array([1, 2]), np.arange(5), excluded, Plan(k=3))
    assert pairs.row.tolist() == [1, 1, 1, 2, 2, 2]
    assert pairs.column.tolist() == [2, 3, 0, 1, 2, 3]
    assert pairs.distance.tolist() == [0, 0, 48, 0, 0, 0]
    assert skipped.pairs == 9
    pairs, _ = search(Engine(pixels), np.array([1]), np.arange(5), excluded, Plan(k=30))
    assert pairs.column.tolist() == [2, 3, 0, 4]


def test_most_pairs_are_skipped_where_few_images_are_alike() -> None:
    rng = np.random.default_rng(3)
    scenes = np.kron(rng.integers(0, 256, (40, 8, 8, 3)), np.ones((1, 4, 4, 1))).astype(np.int64)
    copies = np.clip(scenes[:, None] + rng.integers(-4, 5, (40, 3, 32, 32, 3)), 0, 255)
    pixels = copies.reshape(120, 32, 32, 3).astype(np.uint8)
    every = np.arange(120)
    excluded = Excluded.of(120, [(i, i) for i in range(120)])
    pairs, skipped = search(Engine(pixels), every, every, excluded, Plan(k=2))
    assert np.array_equal(pairs.row // 3, pairs.column // 3)
    assert skipped.computed <= 0.05 * skipped.pairs
