"""Time the five rows of `imagenetv2 simulate` against a plain script that draws every pixel, and compare their numbers.

python benchmarks/simulate.py [--seeds N] [--seed N]
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
import time

import numpy as np
from scipy.stats import norm

from imagenetv2.simulation.settings import Simulation
from imagenetv2.simulation.simulation import scan, table

ROWS = (
    ("MatchedFrequency", 10),
    ("MatchedFrequency", 40),
    ("MatchedFrequency", 200),
    ("Threshold", 10),
    ("TopImages", 10),
)
ORIGINALS, CANDIDATES, SAMPLED = 60_000, 80_000, 5_000
MEASURES = ("observed", "observed_original", "true", "true_original", "accuracy_original", "change")


def main() -> None:
    """Print times and both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--seed", type=int, default=2019)
    options = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} processors, Python {platform.python_version()}")
    settings = Simulation(seeds=options.seeds)
    ours = table(settings, options.seed).set_index(["rule", "annotators"])
    seconds = {
        f"imagenetv2 simulate with {cores} processors": min(
            timed(settings, options.seed, cores) for _ in range(5)
        )
        for cores in (1, os.cpu_count() or 1)
    }
    seconds["imagenetv2 simulate, as a command"] = command(options.seeds)
    start = time.perf_counter()
    scan(settings, options.seed, cores=os.cpu_count() or 1)
    seconds["a scan of 12 numbers of annotators"] = time.perf_counter() - start
    start = time.perf_counter()
    pixels = {row: np.array([study(*row, options.seed, n) for n in range(options.seeds)]) for row in ROWS}
    seconds["a script that draws every pixel"] = time.perf_counter() - start
    for what, took in seconds.items():
        print(f"{what:36} {took:6.2f} s")
    print(f"\n{'':30}" + "".join(f"{name:>20}" for name in MEASURES) + "   (ours / pixels)")
    for (rule, k), found in pixels.items():
        row = ours.loc[(rule, k)]
        cells = (
            f"{row[name]:.4f} / {value:.4f}" for name, value in zip(MEASURES, found.mean(0), strict=True)
        )
        print(f"{rule:24}{k:>6}" + "".join(f"{cell:>20}" for cell in cells))
        apart = row["change"] - found[:, 5].mean()
        error = np.hypot(row["change_deviation"], found[:, 5].std(ddof=1)) / options.seeds**0.5
        print(f"{'':30}change: {apart / error:+.1f} standard errors apart")


def timed(settings: Simulation, seed: int, cores: int) -> float:
    """Seconds that the five rows take."""
    start = time.perf_counter()
    table(settings, seed, cores)
    return time.perf_counter() - start


def command(seeds: int) -> float:
    """Seconds that the command takes, Python's start and all imports included."""
    code = "import sys; from imagenetv2.cli import main; sys.exit(main())"
    start = time.perf_counter()
    subprocess.run(
        [sys.executable, "-c", code, "simulate", "--seeds", str(seeds)], check=True, stdout=subprocess.DEVNULL
    )
    return time.perf_counter() - start


def study(rule: str, k: int, seed: int, number: int) -> tuple[float, ...]:
    """One study with every pixel drawn; ``MEASURES`` of it."""
    rng = np.random.default_rng([seed, number, k, len(rule)])
    contrast = rng.uniform(0, 0.6, ORIGINALS)
    right = classified(*photographs(rng, contrast))
    passed = rng.binomial(6, selection(contrast)) >= 4
    old, old_right = selection(contrast[passed]), right[passed]
    contrast = rng.uniform(0, 0.6, CANDIDATES)
    new, new_right = selection(contrast), classified(*photographs(rng, contrast))
    old_seen, new_seen = rng.binomial(k, old) / k, rng.binomial(k, new) / k
    taken = take(rule, rng, old_seen, new_seen)
    return (
        new_seen[taken].mean(), old_seen.mean(), new[taken].mean(), old.mean(), old_right.mean(),
        new_right[taken].mean() - old_right.mean(),
    )  # fmt: skip


def take(rule: str, rng: np.random.Generator, old_seen: np.ndarray, new_seen: np.ndarray) -> np.ndarray:
    """Indices of the photographs that the rule samples."""
    mixed = rng.permutation(new_seen.size)
    if rule == "TopImages":
        return mixed[np.argsort(-new_seen[mixed], kind="stable")][:SAMPLED]
    if rule == "Threshold":
        return mixed[new_seen[mixed] >= 0.7][:SAMPLED]
    edges = (0.2, 0.4, 0.6, 0.8)
    old_bins, new_bins = np.digitize(old_seen, edges), np.digitize(new_seen[mixed], edges)
    share = np.bincount(old_bins, minlength=5) / old_bins.size
    return np.concatenate([mixed[new_bins == b][: round(share[b] * SAMPLED)] for b in range(5)])


def selection(contrast: np.ndarray) -> np.ndarray:
    """Probability that an annotator selects each photograph."""
    return np.asarray(norm.cdf((contrast - 0.3) / 0.2))


def photographs(
    rng: np.random.Generator, contrast: np.ndarray, side: int = 16, bar: int = 3, noise: float = 1.5
) -> tuple[np.ndarray, np.ndarray]:
    """Photographs of a bar across (0) or upright (1), photographs × side × side, and which it is."""
    upright = rng.integers(0, 2, contrast.size)
    pixels = rng.normal(0, noise, (contrast.size, side, side))
    start = (side - bar) // 2
    for kind, place in enumerate((np.s_[:, start : start + bar, :], np.s_[:, :, start : start + bar])):
        mine = np.flatnonzero(upright == kind)
        some = pixels[mine]
        some[place] += contrast[mine, None, None]
        pixels[mine] = some
    return pixels, upright


def classified(pixels: np.ndarray, upright: np.ndarray, bar: int = 3) -> np.ndarray:
    """Whether the brighter of the two bars is the photograph's."""
    start = (pixels.shape[1] - bar) // 2
    rows = pixels[:, start : start + bar, :].sum((1, 2))
    columns = pixels[:, :, start : start + bar].sum((1, 2))
    return (columns > rows) == (upright == 1)


if __name__ == "__main__":
    main()
