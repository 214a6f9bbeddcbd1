"""Evaluate ten small networks on a thousand photographs with ``imagenetv2 evaluate`` and with timm's validate.py.

python benchmarks/evaluation.py [--validate PATH] [--photographs N] [--cores N] [--quick]

``--validate`` is the script validate.py of timm's repository, which its package does not have; without it a script of
ours does the same with timm's loader and networks. Weights are random. All is measured in one run, each contender in a
process of its own with the same files and processors, one after another, imports and results included; predictions are
compared image by image. Half an hour on two processors.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import evaluation_set
import numpy as np
import pyarrow.parquet as pq
from evaluation_contenders import BATCH, Task

WANTED = {"all": 3.0, "one": 1.0, "overhead": 0.15}
"""How many times as fast ten networks and one have to be, and what may be added to forward passes."""
PUBLISHABLE = (0, 3)
"""Exit codes of ``evaluate`` with a result; 3: it is not comparable with published ones, as the set is made up."""
DIGITS = 1e-5
"""Our probabilities are kept to six digits."""


@dataclass(frozen=True)
class Timed:
    """Seconds, and the accuracy in percent of each network."""

    seconds: float
    top1: dict[str, float]


def main() -> None:
    """Build the set, run all contenders and print tables."""
    options = arguments()
    print(
        f"{platform.machine()}, {options.cores} of {os.cpu_count()} processors, Python {platform.python_version()}; "
        f"{options.validate or 'a script of ours in place of validate.py'}"
    )
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        bench = Bench(Path(name), options)
        said, best = bench.build()
        theirs = {network: bench.theirs(network) for network in bench.task.networks}
        alone = {network: bench.ours([network], network).seconds for network in bench.singles}
        ours = bench.ours(bench.task.networks, "all")
        report(bench, alone, theirs, ours)
        overhead(bench, said, ours)
        agreement(bench, best, theirs, ours)


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """Options of the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--validate", type=Path, help="validate.py of timm's repository")
    parser.add_argument("--photographs", type=int, default=1_000)
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--quick", action="store_true", help="24 photographs, two tiny networks")
    parser.add_argument(
        "--folder", help="where photographs lie while it runs; default: the system's temporary folder"
    )
    options = parser.parse_args(given)
    options.networks = evaluation_set.NETWORKS
    if options.quick:
        options.photographs, options.networks = 24, evaluation_set.QUICK
    return options


class Bench:
    """What is measured on one set.

    Args:
        folder: an empty one.
        options: of the command line.
    """

    def __init__(self, folder: Path, options: argparse.Namespace) -> None:
        self.folder, self.options = folder, options
        self.task = Task(
            photographs=str(folder / "photographs"),
            checkpoints=str(folder / "checkpoints"),
            networks=options.networks,
            class_map=str(folder / "classes.txt"),
            cores=options.cores,
            scratch=str(folder / "scratch"),
        )
        self.singles = (
            self.task.networks[:1] if options.quick else ("mobilenetv3_small_050", "mobilenetv2_050")
        )

    def build(self) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Photographs, networks and labels; what direct passes and our run took and found."""
        flat = self.folder / "flat"
        print(evaluation_set.draw(flat, self.options.photographs), flush=True)
        Path(self.task.checkpoints).mkdir()
        unsorted = replace(self.task, photographs=str(flat))
        self.run("make", unsorted)
        said, best = self.run("overhead", unsorted)
        wnids = Path(self.task.class_map).read_text("utf-8").split()
        evaluation_set.sort_in(flat, Path(self.task.photographs), best["first"], wnids)
        return said, best

    def run(self, contender: str, task: Task) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
        """Run one of ``evaluation_contenders`` in a process of its own."""
        out, given = self.folder / contender, self.folder / f"{contender}.task"
        given.write_text(json.dumps(asdict(task)), "utf-8")
        script = Path(__file__).with_name("evaluation_contenders.py")
        succeed([sys.executable, str(script), contender, str(given), str(out)])
        with np.load(f"{out}.npz") as arrays:
            return json.loads(Path(f"{out}.json").read_text("utf-8")), dict(arrays)

    def theirs(self, network: str) -> Timed:
        """timm's validate.py, or ours in its place."""
        start = time.perf_counter()
        if self.options.validate is None:
            said, _ = self.run("validate", replace(self.task, networks=(network,)))
        else:
            out = succeed([
                sys.executable, str(self.options.validate), "--data-dir", self.task.photographs,
                "--model", network, "--checkpoint", str(self.task.checkpoint(network)),
                "--class-map", self.task.class_map, "--device", "cpu",
            ])  # fmt: skip
            said = json.loads(out.partition("--result")[2])
        return Timed(time.perf_counter() - start, {network: said["top1"]})

    def ours(self, networks: Sequence[str], name: str) -> Timed:
        """The command ``imagenetv2 evaluate``."""
        out = self.folder / "results" / name
        models = [f"timm:{network}={self.task.checkpoint(network)}?name={network}" for network in networks]
        start = time.perf_counter()
        succeed([
            sys.executable, "-m", "imagenetv2.cli", "evaluate", "--models", *models, "--val", self.task.photographs,
            "--partial", "--device", "cpu", "--cores", str(self.options.cores), "--out", str(out),
        ], PUBLISHABLE)  # fmt: skip
        seconds = time.perf_counter() - start
        found = json.loads((out / "results.json").read_text("utf-8"))["models"]
        return Timed(
            seconds, {name: next(iter(of["results"].values()))["top1"] for name, of in found.items()}
        )

    def first(self, network: str) -> np.ndarray:
        """The class that ours saw first in each photograph, by file name."""
        path = next((self.folder / "results" / "all" / "predictions").rglob(f"{network}.parquet"))
        table = pq.read_table(path)
        names = [Path(image).name for image in table["image_id"].to_pylist()]
        return np.array(table["top5"].to_pylist())[np.argsort(names), 0]


def succeed(command: Sequence[str], codes: Sequence[int] = (0,)) -> str:
    """What a command prints. Stops with what it complains of where it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in codes:
        raise SystemExit(
            f"{' '.join(command)} ends with {done.returncode}:\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
        )
    return done.stdout


def report(bench: Bench, alone: dict[str, float], theirs: dict[str, Timed], ours: Timed) -> None:
    """The main table."""
    script = "validate.py" if bench.options.validate else "in place of validate.py"
    count, images = len(theirs), bench.options.photographs
    print(
        f"\n| on {images:,} photographs | timm, {script}, s | imagenetv2 evaluate, s | times as fast | wanted |"
    )
    print("|---|---|---|---|---|")
    total = sum(timed.seconds for timed in theirs.values())
    rows = {f"{count} networks": (ours.seconds, total, WANTED["all"])}
    rows |= {name: (seconds, theirs[name].seconds, WANTED["one"]) for name, seconds in alone.items()}
    for what, (mine, other, wanted) in rows.items():
        print(f"| {what} | {other:.1f} | {mine:.1f} | {other / mine:.2f} | {wanted:g} |")


def overhead(bench: Bench, said: dict[str, Any], ours: Timed) -> None:
    """What is added to forward passes: medians, and by how much each turn's exceeds its passes."""
    count = len(bench.task.networks)
    steps = bench.options.photographs * count
    passes, batches, files, memory = (
        np.array(said[what]) for what in ("passes", "batches", "files", "memory")
    )
    print(f"\n| {count} networks | s | images a second | processor s | more than forward passes | wanted |")
    print("|---|---|---|---|---|---|")
    line("forward passes alone, tensors in memory", np.median(passes, 0), steps)
    for what, took, wanted in (
        (f"forward passes alone, batches of {BATCH} on all threads", batches, ""),
        ("our run, photographs decoded in memory", memory, ""),
        ("our run, from files", files, f"{WANTED['overhead']:.0%}"),
    ):
        seconds, processors = map(spread, (took / passes - 1).T)
        line(what, np.median(took, 0), steps, f"{seconds}; of processor s {processors}", wanted)
    line(
        f"reading, decoding, resizing alone, {said['cuts']} preprocessings",
        said["cutting"],
        bench.options.photographs * said["cuts"],
    )
    line("imagenetv2 evaluate, with imports, tables and plot", (ours.seconds, None), steps)


def spread(more: np.ndarray) -> str:
    """Median of some turns, and the least and the most of them."""
    return f"{np.median(more):+.0%} ({more.min():+.0%} to {more.max():+.0%})"


def line(
    what: str, took: Sequence[float | None] | np.ndarray, steps: int, more: str = "", wanted: str = ""
) -> None:
    """A row of that table."""
    seconds, processors = took
    shown = "" if processors is None else f"{processors:.1f}"
    print(f"| {what} | {seconds:.1f} | {steps / seconds:,.0f} | {shown} | {more} | {wanted} |")


def agreement(
    bench: Bench,
    best: dict[str, np.ndarray],
    theirs: dict[str, Timed],
    ours: Timed,
) -> None:
    """Predictions side by side."""
    found = np.stack([bench.first(network) for network in bench.task.networks])
    apart = np.abs(best["our_probability"] - best["probability"]) > DIGITS * best["probability"]
    off = {name: (timed.top1[name], ours.top1[name]) for name, timed in theirs.items()}
    off = {name: pair for name, pair in off.items() if round(pair[0], 3) != round(pair[1], 3)}
    print(
        f"\nOf {found.size:,} first classes {np.count_nonzero(found != best['first'])} are others than in direct passes, "
        f"and {np.count_nonzero(apart)} of their probabilities; of {len(theirs)} accuracies {len(off)} are others than "
        f"timm's{': ' if off else ''}{', '.join(f'{name} {a} and {b}' for name, (a, b) in off.items())}."
    )


if __name__ == "__main__":
    main()
