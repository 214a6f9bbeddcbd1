"""The GPU's engines on CPU tensors: the same numbers as the CPU's engines, whatever fits into memory."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.metrics import structural_similarity

from imagenetv2.duplicates import on_device
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.fc7 import cpu as fc7_cpu
from imagenetv2.duplicates.fc7 import cuda as fc7_cuda
from imagenetv2.duplicates.l2 import cpu as l2_cpu
from imagenetv2.duplicates.l2 import cuda as l2_cuda
from imagenetv2.duplicates.l2 import products
from imagenetv2.duplicates.on_device import Fused, Resident
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.ssim import cpu as ssim_cpu
from imagenetv2.duplicates.ssim import cuda as ssim_cuda
from imagenetv2.duplicates.ssim import tiles
from imagenetv2.pooling import threaded
from tests.unit.duplicates_pixels import Pixels, brute, hostile

CPU = torch.device("cpu")
MEMORIES = st.sampled_from([1, 2**14, 2**17, 2**30])
"""From two images at once to all of them."""


@st.composite
def collections(draw: st.DrawFn, sides: tuple[int, ...]) -> Pixels:
    """A few hostile images, in any order, some changed a little."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    known = hostile(draw(st.sampled_from(sides)))
    images = known[rng.integers(len(known), size=draw(st.integers(1, 9)))].astype(np.int64)
    images[::2] += rng.integers(-2, 3, images[::2].shape)
    return np.clip(images, 0, 255).astype(np.uint8)


@st.composite
def some_pairs(draw: st.DrawFn, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Pairs sorted by column, then row, few or many."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    column, row = np.nonzero(rng.random((count, count)) < draw(st.sampled_from([0.0, 0.2, 1.0])))
    return row, column


def sorted_pairs(count: int) -> tuple[np.ndarray, np.ndarray]:
    """All pairs."""
    column, row = np.divmod(np.arange(count * count), count)
    return row, column


def unlimited(row: np.ndarray) -> np.ndarray:
    return np.full(len(row), np.inf)


@settings(deadline=None, max_examples=40)
@given(collections((1, 2, 5, 16, 19, 33)), st.data(), MEMORIES, st.sampled_from([0, 1, 256]))
def test_l2_has_the_bounds_and_distances_of_the_cpu(
    pixels: Pixels, data: st.DataObject, memory: int, dense: int
) -> None:
    engine, other = l2_cuda.Engine(pixels, device="cpu", memory=memory), l2_cpu.Engine(pixels)
    row, column = data.draw(some_pairs(len(pixels)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(l2_cuda, "DENSE", dense)
        found = engine.exact(row, column, unlimited(row))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, brute(pixels)[row, column])
    every = np.arange(len(pixels))
    for mine, theirs in zip(engine.bounds(every[:5], every), other.bounds(every[:5], every), strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 40), st.integers(1, 19), st.integers(1, 70), st.integers(0, 2**32), st.booleans())
def test_integer_products_are_cut_and_filled_as_the_matrix_units_need(
    rows: int, columns: int, values: int, seed: int, extreme: bool
) -> None:
    rng = np.random.default_rng(seed)
    x, y = (
        torch.from_numpy(rng.integers(-128, -127 if extreme else 128, (count, values)).astype(np.int8))
        for count in (rows, columns)
    )
    real = products._int32

    def checked(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """What ``torch._int_mm`` asks for on a GPU, and what its fast kernels need."""
        assert len(a) > 16 and len(b) % 8 == 0 and a.shape[1] == b.shape[1] and a.shape[1] % 8 == 0
        for side in (a, b):
            assert side.stride(1) == 1 and side.stride(0) % 16 == 0 and side.storage_offset() % 16 == 0
        return real(a, b)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(products, "PART", 32)
        patch.setattr(products, "_int32", checked)
        found = products.products(x, y)
        distance = products.dense_distances(x, y, products.norms(x), products.norms(y))
    wide_x, wide_y = x.numpy().astype(np.int64), y.numpy().astype(np.int64)
    np.testing.assert_array_equal(found.numpy(), wide_x @ wide_y.T)
    np.testing.assert_array_equal(distance.numpy(), ((wide_x[:, None] - wide_y) ** 2).sum(2))


def test_a_part_of_the_largest_products_stays_within_32_bits() -> None:
    assert products.PART * 2**14 < 2**31
    x = torch.full((1, 2 * products.PART), -128, dtype=torch.int8)
    assert products.products(x, x).item() == 2 * products.PART * 2**14
    black, white = (np.full((1, 256, 256, 3), level, np.uint8) for level in (0, 255))
    engine = l2_cuda.Engine(np.concatenate([black, white]), device="cpu")
    assert engine.exact(np.array([0]), np.array([1]), np.array([np.inf])) == [196_608 * 255**2]


@settings(deadline=None, max_examples=40)
@given(collections((9, 24)), st.integers(1, 4), st.sampled_from([-1.0, 5e4]), st.integers(1, 9))
def test_l2_finds_and_counts_what_the_cpu_does(pixels: Pixels, k: int, within: float, size: int) -> None:
    every, none = np.arange(len(pixels)), Excluded.of(len(pixels), [(i, i) for i in range(len(pixels))])
    plan = Plan(k, within, tile=(size, size + 1), cores=2)
    (mine, my_count), (theirs, their_count) = (
        search(engine, every, every, none, plan)
        for engine in (l2_cuda.Engine(pixels, device="cpu", memory=2**16), l2_cpu.Engine(pixels))
    )
    assert my_count == their_count
    for name in ("row", "column", "distance"):
        np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name))


@settings(deadline=None, max_examples=40)
@given(collections((13, 24)), st.sampled_from([3, 7, 11, 13]), st.data(), MEMORIES)
def test_ssim_has_the_distances_of_the_cpu_and_bounds_below_them(
    pixels: Pixels, window: int, data: st.DataObject, memory: int
) -> None:
    engine = ssim_cuda.Engine(pixels, window, device="cpu", memory=memory)
    other = ssim_cpu.Engine(pixels, window)
    row, column = data.draw(some_pairs(len(pixels)))
    found = engine.exact(row, column, unlimited(row))
    np.testing.assert_allclose(found, other.exact(row, column, unlimited(row)), rtol=0, atol=1.1e-10)
    every = np.arange(len(pixels))
    lower, estimate = engine.bounds(every, every)
    assert lower.dtype == estimate.dtype == np.float32
    assert (lower[row, column] <= found).all()
    for mine, theirs in zip((lower, estimate), other.bounds(every, every), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-6)


@pytest.mark.parametrize(("side", "window"), [(41, 35), (35, 35), (24, 7)])
def test_ssim_is_that_of_scikit_image(side: int, window: int) -> None:
    pixels = hostile(side)
    row, column = sorted_pairs(len(pixels))
    engine = ssim_cuda.Engine(pixels, window, device="cpu", memory=2**22)
    found = engine.exact(row, column, unlimited(row))
    wanted = [
        (1 - structural_similarity(pixels[i], pixels[j], win_size=window, channel_axis=-1, data_range=255))
        / 2
        for i, j in zip(row, column, strict=True)
    ]
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)
    assert found[row == column].max() == 0
    every = np.arange(len(pixels))
    bounds, others = engine.bounds(every, every), ssim_cpu.Engine(pixels, window).bounds(every, every)
    assert (bounds[0][row, column] <= found).all()
    np.testing.assert_allclose(bounds, others, rtol=0, atol=1e-6)


def test_ssim_bounds_are_exact_sums_for_the_largest_window() -> None:
    """Products of blocks then exceed what float32 adds without rounding."""
    rng = np.random.default_rng(3)
    pixels = np.stack([np.zeros((256, 256, 3)), rng.integers(0, 2, (256, 256, 3))]).astype(np.uint8)
    engine = ssim_cuda.Engine(pixels, 251, device="cpu")
    assert engine._grid.cell > tiles.EXACT and engine._grid.bin == 1
    grid, both = engine._grid, torch.from_numpy(pixels ^ 128).view(torch.int8).permute(0, 3, 1, 2)
    start, size = grid.cell - 1, grid.cell * grid.across
    core = both[:, :, start : start + size, start : start + size].flatten(2).to(torch.int64)
    found = tiles.sums_of_products(both, both, grid)[:, 0, 0]
    assert torch.equal(found.to(torch.int64), torch.einsum("ick,jck->cij", core, core))
    lower, _ = engine.bounds(np.array([0]), np.array([0, 1]))
    assert (lower[0] <= engine.exact(np.array([0, 0]), np.array([0, 1]), np.full(2, np.inf))).all()


@pytest.mark.parametrize("window", [6, 1, 25, 257])
def test_ssim_refuses_windows_that_do_not_fit(window: int) -> None:
    with pytest.raises(ValueError, match="a window of"):
        ssim_cuda.Engine(np.zeros((1, 24, 24, 3), np.uint8), window, device="cpu")


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 20), st.integers(1, 40), st.integers(0, 2**32), st.floats(1e-3, 1e3), st.data(), MEMORIES
)
def test_fc7_has_the_distances_of_the_cpu_and_bounds_below_them(
    count: int, width: int, seed: int, scale: float, data: st.DataObject, memory: int
) -> None:
    rng = np.random.default_rng(seed)
    features = np.maximum(rng.normal(0, scale, (count, width)), 0).astype(np.float32)
    features[count // 2 :] = features[0]
    features[-1, -1] += scale / 100
    engine = fc7_cuda.Engine(features, device="cpu", memory=memory)
    other = fc7_cpu.Engine(features)
    row, column = data.draw(some_pairs(count))
    found = engine.exact(row, column, unlimited(row))
    np.testing.assert_array_equal(found, other.exact(row, column, unlimited(row)))
    every = np.arange(count)
    lower, estimate = engine.bounds(every, every)
    assert (lower[row, column] <= found).all()
    norm = float((features.astype(np.float64) ** 2).sum(1).max())
    for mine, theirs in zip((lower, estimate), other.bounds(every, every), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=0, atol=1e-5 * norm)


def test_fc7_says_nothing_of_features_that_overflow() -> None:
    features = np.array([[1e30], [-1e30]], np.float32)
    lower, estimate = fc7_cuda.Engine(features, device="cpu").bounds(np.arange(2), np.arange(2))
    assert not lower.any() and not estimate.any()


@settings(deadline=None, max_examples=40)
@given(st.lists(st.lists(st.integers(0, 29), min_size=1, max_size=8), min_size=1, max_size=30))
def test_images_are_brought_whatever_was_there_before(requests: list[list[int]]) -> None:
    images = np.arange(60, dtype=np.float32).reshape(30, 2)
    resident = Resident(images, lambda some: (some, 2 * some[:, 0]), CPU, memory=8 * 12)
    assert (resident.bytes, resident.capacity) == (12, 8)

    def asked(wanted: list[int]) -> bool:
        with resident.held(np.array(wanted), np.array(wanted[:1])) as ((rows, doubled), (many, one)):
            right = np.array_equal(rows[many].numpy(), images[wanted])
            return right and doubled[one].item() == 2 * images[wanted[0], 0]

    assert all(threaded(asked, requests, 3))


def test_more_images_than_fit_are_refused() -> None:
    resident = Resident(np.zeros((9, 1), np.float32), lambda some: (some,), CPU, memory=0)
    with pytest.raises(ValueError, match="3 images where 2 fit"), resident.held(np.arange(3)):
        pass


def test_a_failed_upload_leaves_nothing_wrong_behind() -> None:
    images = np.arange(4, dtype=np.float32)[:, None]
    broken: list[bool] = []

    def derive(some: torch.Tensor) -> tuple[torch.Tensor, ...]:
        if broken:
            raise torch.OutOfMemoryError
        return (some,)

    resident = Resident(images, derive, CPU, memory=8)
    with resident.held(np.array([0, 1])):
        broken.append(True)
    with pytest.raises(torch.OutOfMemoryError), resident.held(np.array([2, 3])):
        pass
    broken.clear()
    for wanted in ([0, 1], [2, 1], [3, 0]):
        with resident.held(np.array(wanted)) as ((rows,), (places,)):
            assert rows[places, 0].tolist() == wanted


def compiler(failure: Exception | None) -> Callable[..., Any]:
    """In place of ``torch.compile``: what it returns is right and negative, or fails."""

    def compile(function: Callable[..., Any], **options: object) -> Callable[..., Any]:
        def run(*given: Any) -> Any:
            if failure:
                raise failure
            return -function(*given)

        return run

    return compile


def test_what_is_called_often_is_compiled_and_runs_as_it_is_where_that_fails(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    gpu, count = torch.device("cuda"), on_device.FEW + 2
    monkeypatch.setattr(torch, "compile", compiler(None))
    double = Fused(lambda x: 2 * x, gpu)
    assert [double(1) for _ in range(count)] == [2] * on_device.FEW + [-2] * 2
    monkeypatch.setattr(torch, "compile", compiler(RuntimeError("no compiler\nat all")))
    double = Fused(lambda x: 2 * x, gpu)
    with caplog.at_level(logging.WARNING):
        assert [double(1) for _ in range(count)] == [2] * count
    assert [r.getMessage() for r in caplog.records] == ["slower, without torch.compile: no compiler"]
    monkeypatch.setattr(torch, "compile", compiler(torch.OutOfMemoryError("full")))
    double = Fused(lambda x: 2 * x, gpu)
    with pytest.raises(torch.OutOfMemoryError):
        [double(1) for _ in range(count)]


def test_products_that_drop_digits_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    on_device.check_single_precision(CPU)
    monkeypatch.setattr(torch.Tensor, "__matmul__", lambda a, b: a.bfloat16().float().matmul(b))
    with pytest.raises(RuntimeError, match="TF32"):
        on_device.check_single_precision(CPU)
