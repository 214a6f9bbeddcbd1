"""Search for near-duplicates side by side with faiss, scikit-learn and scikit-image, and count what they get wrong.

python benchmarks/neighbours.py [--quick] [--references N] [--candidates N] [--side PIXELS] [--only NAME …]

Photographs come from the data packs (IMAGENETV2_PACKS), cropped, shifted and encoded again. Every contender runs in a
process of its own, with the same images, cores and cut-off, one after another. The defaults need 11 GB of
memory for faiss and for scikit-learn, which keep float32; a contender that would not fit is left out.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import platform
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
import photograph_set
from contenders import CONTENDERS, Task

CUTOFF = 1.2e8
"""The study's, at 256 pixels a side; at others by the number of values."""
NEEDED = {
    "faiss": ("faiss", "faiss-cpu"),
    "scikit-learn": ("sklearn", "scikit-learn"),
    "ssim": ("skimage", "scikit-image"),
}
QUICK = (2000, 200)
FLOAT32 = {"faiss", "scikit-learn"}


@dataclass(frozen=True)
class Result:
    """What a contender did, and what of it is wrong."""

    what: str
    preparation: float
    search: float
    remark: str
    peak: int
    private: int
    row: np.ndarray
    column: np.ndarray
    distance: np.ndarray


def main() -> None:
    """Build the set, run all contenders and print a table."""
    options = arguments()
    print(
        f"{platform.machine()}, {options.cores} of {os.cpu_count()} processors, Python {platform.python_version()}"
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        task = Task(
            str(Path(folder) / "pixels.npy"), options.references,
            CUTOFF * options.side**2 / 256**2, options.k, options.cores, options.pairs, str(Path(folder) / "out"),
        )  # fmt: skip
        photograph_set.build(Path(task.pixels), task.references, options.candidates, options.side)
        distance = run("truth", task)[0].row
        describe(distance, task, options)
        header()
        for name in options.only:
            if name != "ssim" and ready(name, task):
                for result in run(name, task):
                    print(line(result, distance, task), flush=True)
        if "ssim" in options.only and ready("ssim", task):
            structural(run("ssim", task))


def arguments() -> argparse.Namespace:
    """Options of the command line."""
    names = [name for name in CONTENDERS if name != "truth"]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", type=int, default=10_000)
    parser.add_argument("--candidates", type=int, default=1_000)
    parser.add_argument("--side", type=int, default=256)
    parser.add_argument("-k", type=int, default=30)
    parser.add_argument("--pairs", type=int, default=10_000, help="pairs whose SSIM is computed")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help=f"{QUICK[0]} references, {QUICK[1]} candidates")
    parser.add_argument("--only", nargs="+", choices=names, default=names, help="contenders; default: all")
    parser.add_argument(
        "--folder", help="where the images lie while it runs; default: the system's temporary folder"
    )
    options = parser.parse_args()
    if options.quick:
        options.references, options.candidates, options.pairs = *QUICK, 1_000
    return options


def ready(name: str, task: Task) -> bool:
    """Whether a contender is installed and fits into memory; says so where not."""
    module, package = NEEDED.get(name, ("numpy", "numpy"))
    if importlib.util.find_spec(module) is None:
        print(
            f"{name} is left out: it is not installed (pip install {package}, or pip install 'imagenetv2[bench]')"
        )
        return False
    images = np.load(task.pixels, mmap_mode="r")
    needed = 1.3 * 4 * images.size if name in FLOAT32 else 0
    memory = Path("/proc/meminfo")
    if memory.exists():
        there = next(s for s in memory.read_text("ascii").splitlines() if s.startswith("MemAvailable"))
        if int(there.split()[1]) * 1024 < needed:
            print(f"{name} is left out: it needs {needed / 1e9:.0f} GB of memory")
            return False
    return True


def run(name: str, task: Task) -> list[Result]:
    """Run a contender in a process with so many threads."""
    path = Path(f"{task.out}.task")
    path.write_text(json.dumps(asdict(task)), "utf-8")
    cores = 1 if name == "ssim" else task.cores
    threads = {f"{library}_NUM_THREADS": str(cores) for library in ("OMP", "OPENBLAS", "MKL")}
    command = [sys.executable, str(Path(__file__).with_name("contenders.py")), name, str(path)]
    subprocess.run(command, check=True, env=os.environ | threads)
    with np.load(f"{task.out}.npz") as arrays:
        return [
            Result(**said, row=arrays[f"{i}_0"], column=arrays[f"{i}_1"], distance=arrays[f"{i}_2"])
            for i, said in enumerate(json.loads(Path(f"{task.out}.json").read_text("utf-8")))
        ]


def describe(distance: np.ndarray, task: Task, options: argparse.Namespace) -> None:
    """Say what the set is like."""
    k = min(task.k, distance.shape[1]) - 1
    last = np.partition(distance, k, axis=1)[:, k]
    under = distance <= task.cutoff
    print(
        f"{options.candidates:,} candidates × {task.references:,} references, {options.side} pixels a side; "
        f"{under.sum():,} pairs under the cut-off {task.cutoff:.4g}, of {under.any(axis=1).sum():,} candidates\n"
        f"median distance of all pairs {np.median(distance) / task.cutoff:.1f} cut-offs, "
        f"of the {k + 1}th nearest {np.median(last) / task.cutoff:.1f}\n"
    )


def header() -> None:
    """Headings of the table."""
    print(
        f"{'':46}{'seconds':>22}{'memory in GB':>18}{'distances':>22}{'neighbours':>18}\n{'':46}"
        f"{'preparation':>13}{'search':>9}{'peak':>9}{'private':>9}{'wrong':>11}{'by up to':>11}{'missed':>9}{'wrong':>9}"
    )


def line(result: Result, distance: np.ndarray, task: Task) -> str:
    """A row of the table."""
    true = distance[result.row, result.column]
    # A distance in float32 is right if it is the float32 nearest to the integer.
    wrong = true.astype(result.distance.dtype) != result.distance
    error = np.abs(result.distance.astype(np.float64) - true)[wrong].max(initial=0)
    found = np.zeros(distance.shape, dtype=bool)
    found[result.row, result.column] = True
    if "nearest" in result.what:
        k = min(task.k, distance.shape[1]) - 1
        last = np.partition(distance, k, axis=1)[:, k : k + 1]
        must, may = distance < last, distance <= last  # of equals at the end any will do
    else:
        must = may = distance <= task.cutoff
    return (
        f"{result.what:46}{result.preparation:13.2f}{result.search:9.2f}{result.peak / 1e9:9.2f}{result.private / 1e9:9.2f}"
        f"{wrong.sum():11,}{error:11,.0f}{(must & ~found).sum():9,}{(found & ~may).sum():9,}"
        f"  {result.remark}"
    )


def structural(results: list[Result]) -> None:
    """Compare the SSIM of the pairs that both computed."""
    ours, theirs = results
    known = dict(
        zip(zip(ours.row.tolist(), ours.column.tolist(), strict=True), ours.distance.tolist(), strict=True)
    )
    pairs = zip(theirs.row.tolist(), theirs.column.tolist(), strict=True)
    apart = max(abs(known[pair] - d) for pair, d in zip(pairs, theirs.distance.tolist(), strict=True))
    print("\nSSIM, one core")
    for result in results:
        print(
            f"{result.what:46}{len(result.row) / result.search:13,.1f} pairs a second "
            f"({len(result.row):,} pairs, preparation {result.preparation:.2f} s)"
        )
    rates = [len(result.row) / result.search for result in results]
    print(f"{rates[0] / rates[1]:.1f} times as many; (1 − SSIM) / 2 differs by at most {apart:.1e}")


if __name__ == "__main__":
    main()
