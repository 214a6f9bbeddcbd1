"""SSIM against scikit-image and its definition, bounds of it, and which references a candidate has."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from skimage.metrics import structural_similarity

from imagenetv2.duplicates.collection import Collection, collection
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.search import Plan
from imagenetv2.duplicates.ssim import bounds
from imagenetv2.duplicates.ssim.cells import Cells, Grid, coarse, fine
from imagenetv2.duplicates.ssim.cpu import Engine
from imagenetv2.duplicates.ssim.groups import Groups, groups, near, search_groups
from imagenetv2.duplicates.work import Work
from tests.unit.duplicates_pixels import Pixels
from tests.unit.duplicates_similarity import by_definition, every_pair, odd_images, oracle

SIZES = [(24, 7), (20, 3), (20, 13), (19, 19), (40, 35), (60, 23), (37, 11)]


@pytest.mark.parametrize(("side", "window"), SIZES)
def test_equals_scikit_image(side: int, window: int) -> None:
    images = odd_images(side)
    found = every_pair(Engine(images, window), len(images))
    wanted = np.array([[oracle(a, b, window) for b in images] for a in images])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert np.array_equal(found, found.T)


def test_equals_the_definition() -> None:
    images = odd_images(10)[4::2]
    found = every_pair(Engine(images, 7), len(images))
    wanted = np.array([[by_definition(a, b, 7) for b in images] for a in images])
    np.testing.assert_allclose(found, wanted, rtol=0, atol=5.1e-11)
    assert np.array_equal(found, np.rint(found * 1e10) / 1e10)


@pytest.mark.parametrize("window", [35, 181, 255])
def test_equals_scikit_image_at_the_study_s_size(window: int) -> None:
    images = odd_images(256)[[0, 1, 5, 9, 15, 19]]
    found = every_pair(Engine(images, window), len(images))
    for i, j in ((0, 0), (0, 1), (1, 1), (1, 2), (2, 3), (2, 5), (4, 5)):
        assert found[i, j] == pytest.approx(oracle(images[i], images[j], window), rel=0, abs=1e-10)


def test_is_neither_the_gaussian_window_nor_the_population_s_covariance() -> None:
    # Of little contrast, where it matters.
    images = np.random.default_rng(0).integers(100, 110, (2, 24, 24, 3)).astype(np.uint8)
    found = every_pair(Engine(images, 7), 2)[0, 1]
    for other in (
        {"gaussian_weights": True, "use_sample_covariance": False},
        {"use_sample_covariance": False},
    ):
        value = structural_similarity(*images, channel_axis=-1, data_range=255, win_size=7, **other)
        assert abs((1 - value) / 2 - found) > 1e-5


def test_constant_images_differ_by_their_luminance_only() -> None:
    flat = np.stack([np.full((16, 16, 3), level, dtype=np.uint8) for level in (100, 100, 200)])
    found = every_pair(Engine(flat, 7), 3)
    c1 = (0.01 * 255) ** 2
    assert found[0, 1] == 0.0
    assert found[0, 2] == pytest.approx((1 - (2 * 100 * 200 + c1) / (100**2 + 200**2 + c1)) / 2, abs=5.1e-11)


@pytest.mark.parametrize(("side", "window"), SIZES)
def test_equal_images_are_at_0_and_others_are_not(side: int, window: int) -> None:
    images = odd_images(side)
    found = every_pair(Engine(np.concatenate([images, images]), window), 2 * len(images))
    assert not found.diagonal(len(images)).any()
    assert found.min() == 0.0
    # One value that differs by one is below the last decimal where images and windows are large.
    one_value, noise = np.stack([images[5], images[9]]), np.stack([images[5], images[-5]])
    assert every_pair(Engine(noise, window), 2)[0, 1] > 0
    if window < side <= 40:
        assert every_pair(Engine(one_value, window), 2)[0, 1] > 0


@pytest.mark.parametrize("window", [1, 6, 9, -3])
def test_windows_that_do_not_fit_are_refused(window: int) -> None:
    with pytest.raises(ValueError, match=f"a window of {window} "):
        Engine(np.zeros((1, 8, 8, 3), dtype=np.uint8), window)


def test_windows_whose_sums_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="a window of 257 does not fit"):
        Engine(np.zeros((1, 300, 300, 3), dtype=np.uint8), 257)


def grids() -> list[Grid]:
    """All layouts of cells for some windows."""
    sides = {3: 9, 7: 24, 11: 15, 23: 40, 35: 61}
    cells = [(w, s) for w in sides for s in range(1, (w + 1) // 2 + 1) if (w + 1) % s == 0]
    return [Grid(sides[w], w, s, b) for w, s in cells for b in (1, 2) if s % b == 0]


@pytest.mark.parametrize("grid", grids(), ids=str)
def test_bounds_are_on_the_right_side(grid: Grid) -> None:
    images = odd_images(grid.side)
    cells = Cells.of(images, np.arange(len(images)), grid)
    lower, estimate = bounds.bounds(cells, cells, grid)
    distance = every_pair(Engine(images, grid.window), len(images))
    assert (lower <= distance).all()
    assert np.isfinite(estimate).all()
    if grid.cell == 1:
        assert (distance - lower).max() < bounds.MARGIN
        np.testing.assert_allclose(estimate, distance, rtol=0, atol=1e-6)


def test_bounds_hold_where_sums_are_largest() -> None:
    images = odd_images(256)[[0, 1, 3, 5, 9, 15, 19]]
    for window in (127, 251, 255):
        grid = coarse(256, window)
        cells = Cells.of(images, np.arange(len(images)), grid)
        lower, estimate = bounds.bounds(cells, cells, grid)
        distance = every_pair(Engine(images, window), len(images))
        assert (lower <= distance).all()
        assert distance[0, 1] - lower[0, 1] < 0.01
        assert estimate[0, 1] == pytest.approx(distance[0, 1], abs=0.01)


def smooth(count: int, side: int) -> Pixels:
    """Unrelated images without sharp edges, and copies of the first half with some noise."""
    rng = np.random.default_rng(1)
    out = rng.integers(0, 256, (count, side + 16, side + 16, 3)).astype(float)
    for axis in (1, 2):
        for _ in range(3):
            out = sum(np.roll(out, shift, axis) for shift in range(8)) / 8
    out = out[:, 8 : 8 + side, 8 : 8 + side]
    out = 128 + (out - out.mean()) * (50 / out.std())
    out = np.concatenate([out, out[: count // 2] + rng.normal(0, 3, out[: count // 2].shape)])
    return np.clip(out, 0, 255).astype(np.uint8)


@pytest.mark.parametrize(("side", "window"), [(64, 35), (60, 23), (24, 7)])
def test_bounds_drop_unrelated_images_and_keep_copies(side: int, window: int) -> None:
    images = smooth(8, side)
    every = np.arange(len(images))
    lower, estimate = Engine(images, window).bounds(every, every)
    distance = every_pair(Engine(images, window), len(images))
    apart = distance > 0.4
    assert apart.mean() > 0.5
    assert (lower[apart] > 0.2).mean() > 0.9
    assert np.argsort(estimate, axis=1)[:4, 1].tolist() == [8, 9, 10, 11]


@pytest.mark.parametrize(("side", "window"), [(64, 35), (60, 23)])
def test_pairs_are_given_up_above_their_limit_only(side: int, window: int) -> None:
    images = np.concatenate([smooth(6, side), odd_images(side)[:12]])
    assert fine(side, window) is not None
    engine, count = Engine(images, window), len(images)
    distance = every_pair(engine, count).T.ravel()
    column, row = np.divmod(np.arange(count * count), count)
    given_up = 0
    for limit in (0.0, 0.05, 0.2, float(distance.max())):
        found = engine.exact(row, column, np.full(len(row), limit))
        kept = np.isfinite(found)
        assert kept[distance <= limit].all()
        assert np.array_equal(found[kept], distance[kept])
        given_up += int((~kept).sum())
    assert given_up > len(row)
    assert np.array_equal(engine.exact(row, column, distance), distance)


def test_nothing_depends_on_memory_order_or_threads() -> None:
    images = np.concatenate([smooth(6, 40), odd_images(40)[:6]])
    images.flags.writeable = False
    every = np.arange(len(images))
    row, column = (a.ravel() for a in np.meshgrid(every, every))
    limit = np.where((row + column) % 3 == 0, 0.3, np.inf)
    engine = Engine(images, 23)
    wanted, lower = engine.exact(row, column, limit), engine.bounds(every, every)
    small = Engine(images, 23, memory=1)
    assert np.array_equal(small.exact(row, column, limit), wanted)
    for found, other in zip(small.bounds(every, every), lower, strict=True):
        assert np.array_equal(found, other)
    order = np.random.default_rng(0).permutation(len(row))
    assert np.array_equal(engine.exact(row[order], column[order], limit[order]), wanted[order])
    assert np.array_equal(engine.bounds(every[3:5], every[7:])[0], lower[0][3:5, 7:])
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: engine.exact(row, column, limit), range(8)):
            assert np.array_equal(found, wanted)


def test_no_images_give_no_pairs() -> None:
    engine, none = Engine(odd_images(24), 7), np.empty(0, np.int64)
    assert engine.exact(none, none, np.empty(0)).shape == (0,)
    assert engine.bounds(none, np.arange(3))[0].shape == (0, 3)
    assert engine.bounds(np.arange(3), none)[1].shape == (3, 0)


def small() -> tuple[Collection, pd.DataFrame, pd.DataFrame]:
    reference = pd.DataFrame(
        [
            ("t1", "train", "n1"),
            ("t2", "train", "n2"),
            ("t3", "train", "n3"),
            ("v1", "val", "n1"),
            ("c2", "val", "n3"),
        ],
        columns=["image_id", "split", "wnid"],
    ).assign(file=lambda f: f["image_id"])
    candidates = pd.DataFrame(
        [("c1", "n1"), ("c2", "n1"), ("c2", "n3"), ("t2", "n2")], columns=["image_id", "wnid"]
    ).assign(file=lambda f: f["image_id"])
    return collection(reference, candidates), reference, candidates


def names(everything: bool) -> dict[str, list[str]]:
    images, reference, candidates = small()
    nearest = {"n1": ["n1", "n2"], "n2": ["n2", "n1"], "n3": ["n3"]}
    union: dict[str, set[str]] = {}
    for group in groups(images, reference, candidates, nearest, everything=everything):
        assert (np.diff(group.rows) > 0).all()
        assert (np.diff(group.references) > 0).all()
        for row in group.rows:
            union.setdefault(images.ids[row], set()).update(images.ids[i] for i in group.references)
    return {name: sorted(ids) for name, ids in union.items()}


def test_references_are_the_training_images_of_near_classes_and_candidates_of_its_own() -> None:
    assert names(everything=False) == {
        "c1": ["c1", "c2", "t1", "t2"],
        "c2": ["c1", "c2", "t1", "t2", "t3"],
        "t2": ["t1", "t2"],
    }
    everything = names(everything=True)
    assert everything["c1"] == ["c1", "c2", "t1", "t2", "v1"]
    assert everything["c2"] == ["c1", "c2", "t1", "t2", "t3", "v1"]


def test_what_all_candidates_share_is_one_group_and_no_class_has_it_again() -> None:
    images, reference, candidates = small()
    nearest = {"n1": ["n1", "n2"], "n2": ["n2", "n1"], "n3": ["n3"]}
    found = groups(images, reference, candidates, nearest, everything=True)
    listed = [(g.name, [images.ids[i] for i in g.rows], [images.ids[i] for i in g.references]) for g in found]
    assert listed == [
        ("shared", ["c1", "c2", "t2"], ["c1", "c2", "t2", "v1"]),
        ("n1", ["c1", "c2"], ["t1"]),
        ("n2", ["t2"], ["t1"]),
        ("n3", ["c2"], ["t3"]),
    ]


def test_images_that_cannot_be_read_are_in_no_group() -> None:
    images, reference, candidates = small()
    left_out = np.isin(images.ids, ["c1", "t1", "v1"])
    for everything in (True, False):
        found = groups(images, reference, candidates, {}, everything=everything)
        less = list(found.without(left_out))
        assert not any(left_out[some].any() for g in less for some in (g.rows, g.references))
        pairs = {
            (i, j) for g in found for i in g.rows for j in g.references if not left_out[i] and not left_out[j]
        }
        assert {(i, j) for g in less for i in g.rows for j in g.references} == pairs


def test_near_classes_are_cut_to_the_number_asked_for() -> None:
    classes = pd.DataFrame({"wnid": ["n1", "n2"], "neighbours": [["n2", "n3"], ["n1"]]})
    assert near(classes, 0) == {"n1": ["n1"], "n2": ["n2"]}
    assert near(classes, 1) == {"n1": ["n1", "n2"], "n2": ["n2", "n1"]}


def some_groups(everything: bool) -> tuple[Pixels, Groups]:
    """The last candidate is in two classes that share some references, of which the last is in both."""
    images = np.concatenate([smooth(8, 20), odd_images(20)])
    every = np.arange(len(images))
    candidates = every[::3]
    half = len(candidates) // 2
    shared = np.union1d(candidates, every[-4:]) if everything else every[:0]
    own = {"n1": every, "n2": every[:7], "n3": every[4:]}
    return images, Groups(
        candidates=candidates,
        shared=shared,
        members={"n1": candidates[:half], "n2": candidates[half:], "n3": candidates[-1:]},
        own={wnid: np.setdiff1d(some, shared) for wnid, some in own.items()},
        among=not everything,
        near={"n1": ["n1"], "n2": ["n2", "n4"]},
    )


def expected(
    distance: npt.NDArray[np.float64], found: Groups, k: int, within: float
) -> list[tuple[int, int, float]]:
    out = []
    for row in found.candidates.tolist():
        mine = {int(j) for g in found if row in g.rows for j in g.references} - {row}
        order = sorted((distance[row, j], j) for j in mine)
        out += [(row, j, float(d)) for rank, (d, j) in enumerate(order) if rank < k or d <= within]
    return out


@pytest.mark.parametrize("everything", [True, False])
@pytest.mark.parametrize(("k", "within"), [(5, -1.0), (0, 0.25), (3, 0.3)])
def test_groups_are_searched_as_if_everything_in_them_were_compared(
    k: int, within: float, everything: bool
) -> None:
    images, found = some_groups(everything)
    engine = Engine(images, 15)
    wanted = expected(every_pair(engine, len(images)), found, k, within)
    excluded = Excluded.of(len(images), [(i, i) for i in range(len(images))])
    for plan in (
        Plan(k, within),
        Plan(k, within, block=2, shard=3, tile=(2, 2), cache=0, cores=2),
        Plan(k, within, block=3, shard=50, tile=(1, 50), cores=2),
    ):
        pairs, skipped = search_groups(engine, found, excluded, plan, Work(None))
        triples = zip(pairs.row.tolist(), pairs.column.tolist(), pairs.distance.tolist(), strict=True)
        assert list(triples) == wanted
        owns = [(row, group) for group in found for row in group.rows]
        assert skipped.pairs == sum(int((group.references != row).sum()) for row, group in owns)


class Listening:
    """An engine that notes how many different rows and columns each call for bounds has."""

    def __init__(self, engine: Engine) -> None:
        self._engine, self.tiles = engine, list[tuple[int, int]]()

    def bounds(self, rows: Any, columns: Any) -> Any:
        self.tiles.append((len(rows), len(columns)))
        return self._engine.bounds(rows, columns)

    def exact(self, rows: Any, columns: Any, limit: Any) -> Any:
        return self._engine.exact(rows, columns, limit)


def test_shared_references_are_bounded_once_for_all_candidates(monkeypatch: pytest.MonkeyPatch) -> None:
    images, found = some_groups(everything=True)
    engine = Listening(Engine(images, 15))
    moved, bars = [], []

    @contextmanager
    def bar(what: str, total: int) -> Iterator[Any]:
        bars.append(total)
        yield SimpleNamespace(update=lambda n=1: moved.append(n))

    for module in ("ssim.groups", "search"):
        monkeypatch.setattr(f"imagenetv2.duplicates.{module}.bar", bar)
    excluded = Excluded.of(len(images), [])
    search_groups(engine, found, excluded, Plan(3, shard=5), Work(None))
    first = next(iter(found))
    assert sum(rows * columns for rows, columns in engine.tiles) == sum(
        len(g.rows) * len(g.references) for g in found
    )
    assert {rows for rows, _ in engine.tiles[: -(-len(first.references) // 5)]} == {len(first.rows)}
    # One bar, which ends where it should.
    assert bars == [sum(moved)]


def test_a_finished_search_of_groups_is_not_done_again(tmp_path: Path) -> None:
    images, found = some_groups(everything=True)
    excluded = Excluded.of(len(images), [])
    plan, work = Plan(2, block=4), Work(tmp_path)
    once, counted = search_groups(Engine(images, 15), found, excluded, plan, work)
    nothing = Engine(images[:0], 15)
    again, recounted = search_groups(nothing, found, excluded, plan, work)
    assert counted == recounted
    assert np.array_equal(once.column, again.column)
    assert np.array_equal(once.distance, again.distance)


def test_a_candidate_without_references_has_no_neighbours() -> None:
    engine = Engine(np.zeros((1, 8, 8, 3), dtype=np.uint8), 3)
    excluded, none = Excluded.of(1, [(0, 0)]), np.empty(0, np.int64)
    for own in (none, np.array([0])):
        found = Groups(np.array([0]), none, {"n1": np.array([0])}, {"n1": own}, among=False, near={})
        pairs, skipped = search_groups(engine, found, excluded, Plan(3, 0.5), Work(None))
        assert len(pairs) == skipped.pairs == 0
    found = Groups(none, none, {}, {}, among=True, near={})
    assert len(search_groups(engine, found, excluded, Plan(3), Work(None))[0]) == 0
