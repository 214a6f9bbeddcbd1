"""Time bootstrap intervals of a line against a plain bootstrap and SciPy's, on the sizes of the published study.

python benchmarks/bootstrap.py [--samples N] [--cores N]

Predictions are made up: 67 models on 50,000 original and three times 10,000 new images. What is too slow to run whole
is run for fewer samples and scaled up, and marked with ~. Seconds of processor time tell more than seconds on the
clock where the machine has other work.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy import stats
from threadpoolctl import threadpool_limits

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.lines.points import observed
from imagenetv2.analysis.lines.resampling import model_weights, resampled_lines
from imagenetv2.analysis.multinomial import collapse
from imagenetv2.analysis.resamples import resamples
from imagenetv2.analysis.study import Study

Floats = npt.NDArray[np.float64]
SIZES = {"original": 50_000, "matched_frequency": 10_000, "threshold": 10_000, "top_images": 10_000}
MODELS = 67
PLAIN = 20
"""Samples that the slow ways are timed on."""


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--samples", type=int, default=100_000)
    arguments.add_argument("--cores", type=int, default=2)
    given = arguments.parse_args()
    made = study()
    columns = {name: collapse(made.right(name).T)[1].size for name in SIZES}
    print(f"{given.samples:,} samples, {MODELS} models, {given.cores} cores")
    print("images and different columns:", ", ".join(f"{SIZES[n]:,} {c:,}" for n, c in columns.items()), "\n")
    print("| bootstrap | seconds | processor seconds | 95 % interval of the slope |\n|---|---|---|---|")
    over_models(made, given.samples, given.cores)
    over_images(made, given.samples, given.cores)
    floor(given.samples, sum(columns.values()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\npeak memory {peak:,.0f} MB, input and what the plain ways take included")


def study() -> Study:
    """Difficulty of an image and skill of a model, with enough noise that most images are told apart by some model."""
    rng = np.random.default_rng(0)
    skills = np.linspace(0.1, 1.4, MODELS)[:, None]
    sets = {}
    for place, (name, count) in enumerate(SIZES.items()):
        margin = skills - rng.normal(0.3 * (place == 1), 1.4, count) + rng.normal(0, 0.35, (MODELS, count))
        index = np.sort(np.arange(count) % 1000)
        ids = [f"{i:06d}" for i in range(count)]
        frame = pd.DataFrame({"image_id": ids, "wnid": index.astype(str), "class_index": index})
        sets[name] = Predictions(tuple(f"m{i:02d}" for i in range(MODELS)), np.where(margin > 0, 0, 5), frame)
    return Study({n: n for n in sets}, sets, dict.fromkeys(sets["original"].models, "all"), {})


def timed(what: str, work: Callable[[], Floats], times: float = 1) -> None:
    """Print a row; ``times`` scales up what was run for fewer samples."""
    wall, processor = time.perf_counter(), time.process_time()
    slopes = work()
    wall, processor = (time.perf_counter() - wall) * times, (time.process_time() - processor) * times
    ends = "" if times > 1 else "{:.4f} to {:.4f}".format(*interval(slopes, 0.95))
    mark = "~" if times > 1 else ""
    print(f"| {what} | {mark}{wall:,.2f} | {mark}{processor:,.2f} | {ends} |", flush=True)


def slope(x: Floats, y: Floats, axis: int = -1) -> Floats:
    """Of least squares lines along an axis."""
    x, y = x - x.mean(axis=axis, keepdims=True), y - y.mean(axis=axis, keepdims=True)
    found: Floats = (x * y).sum(axis=axis) / (x * x).sum(axis=axis)
    return found


def over_models(made: Study, samples: int, cores: int) -> None:
    points = observed(made)["linear"]
    x, y = points["original"], points["matched_frequency"]
    pair = {name: points[name] for name in ("original", "matched_frequency")}

    def ours(points: dict[str, Floats]) -> Floats:
        weights = model_weights(made.groups(), samples, 0)
        found = resampled_lines(points, made.groups(), "linear", weights, None, cores)
        return found["matched_frequency", "all"].slopes

    def loop() -> Floats:
        rng, count = np.random.default_rng(0), max(1, samples // 20)
        drawn = rng.integers(0, MODELS, (count, MODELS))
        return np.array([np.polyfit(x[pick], y[pick], 1)[0] for pick in drawn])

    def scipy() -> Floats:
        found = stats.bootstrap(
            (x, y), slope, paired=True, n_resamples=samples, batch=2000, method="percentile", rng=0
        )
        return np.asarray(found.bootstrap_distribution)

    timed("models, one set: this", lambda: ours(pair))
    timed("models, three sets: this", lambda: ours(dict(points)))
    timed("models, one set: loop over drawn indices", loop, samples / max(1, samples // 20))
    timed("models, one set: scipy.stats.bootstrap", scipy)


def over_images(made: Study, samples: int, cores: int) -> None:
    points, groups = observed(made)["linear"], made.groups()
    right = {name: made.right(name) for name in SIZES}

    def ours() -> Floats:
        drawn = resamples(made, "images", samples, 0, cores)
        found = resampled_lines(points, groups, "linear", None, drawn, cores)
        return found["matched_frequency", "all"].slopes

    def classes() -> Floats:
        drawn = resamples(made, "classes", samples, 0, cores)
        found = resampled_lines(points, groups, "linear", None, drawn, cores)
        return found["matched_frequency", "all"].slopes

    def accuracies(indices: dict[str, npt.NDArray[np.int64]]) -> dict[str, Floats]:
        return {name: right[name][:, pick].mean(axis=1) for name, pick in indices.items()}

    def loop() -> Floats:
        rng, found = np.random.default_rng(0), []
        for _ in range(PLAIN):
            means = accuracies({n: rng.integers(0, size, size) for n, size in SIZES.items()})
            found.append([slope(means["original"], means[n]) for n in list(SIZES)[1:]])
        return np.array(found)

    def counted() -> Floats:
        rng = np.random.default_rng(0)
        features = {name: r.T.astype(np.float32) for name, r in right.items()}
        means = {}
        for name, size in SIZES.items():
            drawn = (rng.integers(0, size, size) for _ in range(5 * PLAIN))
            counts = np.array([np.bincount(pick, minlength=size) for pick in drawn], np.float32)
            means[name] = (counts @ features[name] / size).astype(np.float64)
        return slope(means["original"], means["matched_frequency"])

    def scipy() -> Floats:
        def statistic(i: npt.NDArray[np.int64], j: npt.NDArray[np.int64], axis: int = -1) -> Floats:
            old, new = (right[n][:, pick].mean(axis=-1) for n, pick in (("original", i), ("threshold", j)))
            return slope(old, new, axis=0)

        items = np.arange(SIZES["original"]), np.arange(SIZES["threshold"])
        found = stats.bootstrap(
            items, statistic, n_resamples=PLAIN, batch=1, method="percentile", vectorized=True, rng=0
        )
        return np.asarray(found.bootstrap_distribution)

    timed("images, three sets: this", ours)
    timed("classes, three sets: this", classes)
    timed("images, three sets: drawn indices, counted, one product", counted, samples / (5 * PLAIN))
    timed("images, three sets: loop over drawn indices", loop, samples / PLAIN)
    timed("images, one set: scipy.stats.bootstrap", scipy, samples / PLAIN)


def floor(samples: int, columns: int) -> None:
    """What the products and the random numbers alone would take on one core, at the rates measured now."""
    rng = np.random.default_rng(0)
    counts, features = rng.random((256, 20_000), np.float32), rng.random((20_000, MODELS), np.float32)
    with threadpool_limits(1, user_api="blas"):
        product = min(seconds(lambda: counts @ features) for _ in range(5)) / counts.size
    index = min(seconds(lambda: rng.integers(0, 50_000, 1_000_000)) for _ in range(5)) / 1e6
    images = sum(SIZES.values())
    print("\nOn one core, products and random numbers alone:")
    print(f"- every image apart: {samples * images * product:,.0f} s and {samples * images * index:,.0f} s")
    print(f"- columns as here: {samples * columns * product:,.0f} s and, at 16 bits each, "
          f"{samples * columns * min(bits(rng) for _ in range(5)):,.0f} s")  # fmt: skip


def bits(rng: np.random.Generator) -> float:
    return seconds(lambda: rng.integers(0, 2**64, 250_000, np.uint64)) / 1e6


def seconds(work: Callable[[], object]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


if __name__ == "__main__":
    main()
