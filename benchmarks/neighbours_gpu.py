"""Time the searches for near-duplicates on one GPU, and compare a sample of their results with the CPU's.

python benchmarks/neighbours_gpu.py [--peak TOPS] [--memory GB] [--packs] [--quick] [--device cpu]

``--peak`` is the card's published rate of dense int8 products, such as 1979 for an H100 or H200. Images are made up:
clouds with a spectrum as photographs have it, and edited copies of them; ``--packs`` takes those of
``photograph_set.py`` instead. ``--quick`` shows in a minute that all of it runs, on CPU tensors too.
"""

from __future__ import annotations

import argparse
import platform
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from device_time import timed
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates import metrics
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.l2.products import PART, dense_distances, norms
from imagenetv2.duplicates.search import Plan, search

Pixels = npt.NDArray[np.uint8]
CUTOFFS = {"l2": 1.2e8 / 196_608, "fc7": 1.32e4 / 4096, "ssim": 0.2205}
"""Of the study; for l2 and fc7 for each value."""
TARGETS = {"share": 0.4, "ssim": 5e6}
TIMES = 5


@dataclass(frozen=True)
class Sizes:
    """How much of each is done; ``nearest``: candidates of the search for the nearest 30."""

    side: int
    window: int
    features: int
    candidates: int
    nearest: int
    images: int
    dense: int
    pairs: int
    sample: int


FULL = Sizes(256, 35, 4096, 4096, 256, 20_480, 8192, 65_536, 512)
QUICK = Sizes(32, 7, 256, 64, 16, 512, 64, 512, 128)


def main() -> None:
    """Print what was measured, row by row."""
    given = arguments()
    sizes, device = QUICK if given.quick else FULL, torch.device(given.device)
    cuda = device.type == "cuda"
    name = torch.cuda.get_device_name(device) if cuda else platform.processor() or platform.machine()
    print(f"{name}, Python {platform.python_version()}, torch {torch.__version__}, {sizes}")
    print("\n| what | pairs | seconds | pairs a second | | target |\n|---|---|---|---|---|---|")
    dense(sizes, device, given.peak)
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1, user_api="blas"):
        pixels = images(sizes, Path(folder) if given.packs else None)
        memory = int(given.memory * 10**9)
        compare("l2", (pixels,), CUTOFFS["l2"] * pixels[0].size, sizes, device, memory)
        compare("ssim", (pixels, sizes.window), CUTOFFS["ssim"], sizes, device, memory)
        compare("fc7", (features(sizes),), CUTOFFS["fc7"] * sizes.features, sizes, device, memory)
    if cuda:
        print(f"\npeak memory of the device {torch.cuda.max_memory_allocated(device) / 1e9:.1f} GB")


def arguments() -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--peak", type=float, help="published int8 rate, in TOPS")
    parser.add_argument("--memory", type=float, default=40.0, help="of the device, in GB")
    parser.add_argument("--packs", action="store_true", help="photographs from the data packs")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args()


def dense(sizes: Sizes, device: torch.device, peak: float | None) -> None:
    """Distances of all pairs of two blocks that are on the device already, against a product alone."""
    values = 3 * sizes.side**2
    draws = torch.Generator(device).manual_seed(0)
    x, y = (
        torch.randint(-128, 128, (sizes.dense, values), dtype=torch.int8, device=device, generator=draws)
        for _ in range(2)
    )
    x2, y2 = norms(x[:1024]), norms(y[:1024])
    sample = dense_distances(x[:40], y[:40], x2[:40], y2[:40]).cpu()
    assert torch.equal(sample, squared(x[:40].cpu(), y[:40].cpu())), "distances of dense l2 are wrong"
    x2, y2 = (torch.cat([norms(part) for part in some.split(256)]) for some in (x, y))
    seconds = timed(lambda: dense_distances(x, y, x2, y2), device, TIMES)
    rate = 2 * sizes.dense**2 * values / seconds / 1e12
    says = f"{rate:,.1f} TOPS"
    if peak:
        says += f", {rate / peak:.0%} of the published peak"
    if device.type == "cuda":
        width = min(PART, values)
        alone = timed(lambda: torch._int_mm(x[:, :width], y[:, :width].T), device, TIMES)
        reached = 2 * sizes.dense**2 * width / alone / 1e12
        says += f", {rate / reached:.0%} of a product alone ({reached:,.0f} TOPS)"
    row("l2, all distances, images on the device", sizes.dense**2, seconds, says, f"{TARGETS['share']:.0%}")


def squared(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Σ (x − y)² of all pairs in int64."""
    return torch.stack([(one.long() - y.long()).square().sum(1) for one in x])


def compare(
    metric: str, given: tuple[Any, ...], cutoff: float, sizes: Sizes, device: torch.device, memory: int
) -> None:
    """Bounds, distances and whole searches under one metric; a sample is compared with the CPU's."""
    engine = metrics.engine(metric, "cuda")(*given, device=device, memory=memory)
    other = metrics.engine(metric, "cpu")(*given)
    count = len(given[0])
    rows, columns = np.arange(count - sizes.candidates, count), np.arange(count)
    tile = rows[:1024], columns[:2048]
    seconds = timed(lambda: engine.bounds(*tile), device, TIMES)
    row(f"{metric}, bounds", len(tile[0]) * len(tile[1]), seconds)
    rng = np.random.default_rng(0)
    chosen = np.sort(
        rng.choice(len(tile[0]) * len(tile[1]), min(sizes.pairs, len(tile[0]) * len(tile[1])), replace=False)
    )
    column, place = np.divmod(chosen, len(tile[0]))
    limit = np.full(len(chosen), np.inf)
    pairs = tile[0][place], tile[1][column]
    seconds = timed(lambda: engine.exact(*pairs, limit), device, TIMES)
    row(f"{metric}, distances of listed pairs", len(chosen), seconds, agreement(engine, other, pairs, sizes))
    excluded = Excluded.of(count, [(i, i) for i in rows.tolist()])
    for what, some, plan in (
        ("all pairs under the cut-off", rows, Plan(0, cutoff, cores=8, cache=2**31)),
        ("nearest 30", rows[: sizes.nearest], Plan(30, cores=8, cache=2**31)),
    ):
        start = time.perf_counter()
        _, skipped = search(engine, some, columns, excluded, plan)
        target = f"{TARGETS[metric]:,.0f}" if metric in TARGETS and plan.k == 0 else ""
        says = f"{1 - skipped.computed / skipped.pairs:.2%} skipped"
        row(f"{metric}, {what}", skipped.pairs, time.perf_counter() - start, says, target)


def agreement(engine: Any, other: Any, pairs: tuple[npt.NDArray[np.int64], ...], sizes: Sizes) -> str:
    """How far a sample of distances is from the CPU's; bounds must be below them."""
    step = max(1, len(pairs[0]) // sizes.sample)
    some = tuple(side[::step] for side in pairs)
    limit = np.full(len(some[0]), np.inf)
    mine, theirs = engine.exact(*some, limit), other.exact(*some, limit)
    rows, columns = np.unique(some[0]), np.unique(some[1])
    lower, _ = engine.bounds(rows, columns)
    below = lower[np.searchsorted(rows, some[0]), np.searchsorted(columns, some[1])] <= theirs
    assert below.all(), "a lower bound is above the distance"
    return f"{len(mine)} at most {np.abs(mine - theirs).max():.1g} from the CPU's"


def images(sizes: Sizes, folder: Path | None) -> Pixels:
    """Images of the asked size, the candidates last; every second candidate is an edited copy of another image."""
    if folder:
        from photograph_set import build

        return build(folder / "pixels.npy", sizes.images - sizes.candidates, sizes.candidates, sizes.side)
    rng = np.random.default_rng(2019)
    out = np.empty((sizes.images, sizes.side, sizes.side, 3), np.uint8)
    fall = 1 / np.hypot(*np.meshgrid(*[np.fft.fftfreq(sizes.side) * sizes.side] * 2)).clip(1)
    base = [cloud(rng, fall) for _ in range(min(512, sizes.images))]
    for number in range(sizes.images):
        one, two = (base[i] for i in rng.integers(len(base), size=2))
        shift = tuple(rng.integers(sizes.side, size=2).tolist())
        out[number] = levels(one + np.roll(two, shift, (0, 1)))
    first = sizes.images - sizes.candidates
    for number in range(first, sizes.images, 2):
        copy = out[rng.integers(first)] * rng.uniform(0.85, 1.15) + rng.normal(0, 5, out.shape[1:])
        out[number] = np.clip(copy, 0, 255)
    return out


def cloud(rng: np.random.Generator, fall: npt.NDArray[np.float64]) -> npt.NDArray[np.float32]:
    """Noise whose amplitude falls with its frequency, as that of photographs does; of deviation 1."""
    noise = rng.normal(size=(*fall.shape, 3))
    values = np.fft.ifft2(np.fft.fft2(noise, axes=(0, 1)) * fall[..., None], axes=(0, 1)).real
    out: npt.NDArray[np.float32] = (values / values.std()).astype(np.float32)
    return out


def levels(values: npt.NDArray[np.float32]) -> Pixels:
    """As grey levels around 128."""
    return np.clip(values * 40 + 128, 0, 255).astype(np.uint8)


def features(sizes: Sizes) -> npt.NDArray[np.float32]:
    """Sparse and not negative, as after a ReLU; every second candidate is close to another image."""
    rng = np.random.default_rng(7)
    out = np.maximum(rng.normal(-0.5, 3, (sizes.images, sizes.features)), 0).astype(np.float32)
    copies = np.arange(sizes.images - sizes.candidates, sizes.images, 2)
    others = rng.integers(sizes.images - sizes.candidates, size=len(copies))
    out[copies] = out[others] * rng.uniform(0.9, 1.1, (len(copies), 1)).astype(np.float32)
    return out


def row(what: str, pairs: int, seconds: float, says: str = "", target: str = "") -> None:
    """A line of the table."""
    print(f"| {what} | {pairs:,} | {seconds:.4g} | {pairs / seconds:,.0f} | {says} | {target} |", flush=True)


if __name__ == "__main__":
    main()
