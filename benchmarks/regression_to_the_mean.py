"""Run the rendered world with several seeds and write the first part of docs/simulation.md.

It says what each rule observes, and what is true.

python benchmarks/regression_to_the_mean.py [--seeds N] [--cores N]
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
from pipeline import ROOT, copy_checkout, run
from scipy import stats

NAMES = {
    "original": "original validation images",
    "matched_frequency": "MatchedFrequency",
    "threshold": "Threshold0.7",
    "top_images": "TopImages",
}
MEASURES = {
    "frequency": ("observed selection frequency", 1.0, 3),
    "true_frequency": ("true selection frequency", 1.0, 3),
    "change_top1": ("change of top-1 accuracy, points", 100.0, 1),
}
# Features and their classifier cost most of a run and change nothing about the votes.
OVERLAY = """\
seed: {seed}
neighbours: {{fc7: {{enabled: false}}}}
models:
  - {{name: nearest_centroid, kind: nearest_centroid, family: baseline, side: 16}}
  - {{name: random_features, kind: random_features, family: baseline, side: 24}}
  - {{name: hog_linear, kind: hog, family: baseline, side: 48}}
  - {{name: resnet_short, kind: timm_trained, architecture: test_resnet, family: network, side: 32, epochs: 3, learning_rate: 0.003}}
  - {{name: resnet, kind: timm_trained, architecture: test_resnet, family: network, side: 32, epochs: 7, learning_rate: 0.004}}
"""
PAGE = """\
# What the rules do where the truth is known

The rendered world knows the probability with which a worker of its pool selects an image.
`{command}` runs the whole pipeline in it with seeds 1 to {seeds}, five models
and without the fc7 metric, and writes this page: averages over the seeds with 95 % t-intervals. A run is 12 classes, about 2,300 candidates, ten votes an image, 360 images a set.

{table}

{differences}

MatchedFrequency's images match the originals in what ten workers *say*, and are truly selected less often: the same
observed frequency means a lower true one in a pool that has more difficult images than the original validation set,
which was itself chosen by votes. Models lose most there. TopImages overshoots in the other direction for the same
reason: the highest observed frequencies are partly luck. [Method](method.md) says why.
"""
REST = "\n## "
"""What follows the first of these in the page is written by hand, and stays."""


def main() -> None:
    """Run, average, write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    rows = pd.concat([one(seed, options.cores) for seed in range(1, options.seeds + 1)])
    text = PAGE.format(
        command="python benchmarks/regression_to_the_mean.py",
        seeds=options.seeds,
        table=averages(rows),
        differences=differences(rows),
    )
    page = ROOT / "docs/simulation.md"
    _, mark, rest = page.read_text("utf-8").partition(REST)
    page.write_text(text + mark + rest, "utf-8")
    print(text)


def one(seed: int, cores: int) -> pd.DataFrame:
    """The table of rules of one run."""
    work = Path(tempfile.mkdtemp(prefix=f"imagenetv2-seed{seed}-"))
    try:
        copy_checkout(work)
        (work / "seed.yaml").write_text(OVERLAY.format(seed=seed))
        seconds = run(work, cores, [str(work / "seed.yaml")])
        print(f"seed {seed}: {seconds:.0f} s", flush=True)
        return pd.read_parquet(work / "data/latest/analysis/rules.parquet").assign(seed=seed)
    finally:
        shutil.rmtree(work)


def interval(values: np.ndarray) -> tuple[float, float, float]:
    """Mean and 95 % t-interval over seeds."""
    mean, error = float(np.mean(values)), float(stats.sem(values))
    half = float(stats.t.ppf(0.975, len(values) - 1)) * error
    return mean, mean - half, mean + half


def shown(values: np.ndarray, scale: float, digits: int, sign: str = "") -> str:
    """``mean [low, high]``."""
    mean, low, high = (scale * v for v in interval(values))
    return f"{mean:{sign}.{digits}f} [{low:{sign}.{digits}f}, {high:{sign}.{digits}f}]"


def averages(rows: pd.DataFrame) -> str:
    """A line a set."""
    lines = [
        "| set | " + " | ".join(m[0] for m in MEASURES.values()) + " |",
        "|---|" + "---|" * len(MEASURES),
    ]
    for name, title in NAMES.items():
        of_set = rows[rows["set"] == name]
        cells = [
            shown(of_set[column].to_numpy(), scale, digits, "+" if column == "change_top1" else "")
            if not (name == "original" and column == "change_top1")
            else "–"
            for column, (_, scale, digits) in MEASURES.items()
        ]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def differences(rows: pd.DataFrame) -> str:
    """Differences within a seed, which vary less than the averages."""
    wide = {c: rows.pivot(index="seed", columns="set", values=c) for c in MEASURES}
    pairs = [
        ("observed: MatchedFrequency less originals", "frequency", "matched_frequency", "original"),
        ("true: MatchedFrequency less originals", "true_frequency", "matched_frequency", "original"),
        (
            "change of accuracy: MatchedFrequency less Threshold0.7",
            "change_top1",
            "matched_frequency",
            "threshold",
        ),
        ("change of accuracy: Threshold0.7 less TopImages", "change_top1", "threshold", "top_images"),
    ]
    lines = ["| difference within a seed | mean [interval] |", "|---|---|"]
    for title, column, first, second in pairs:
        _, scale, digits = MEASURES[column]
        values = (wide[column][first] - wide[column][second]).to_numpy()
        lines.append(f"| {title} | {shown(values, scale, digits, '+')} |")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
