"""Networks that read an image's class from its pixels, so that what they get right is known; and sets in memory."""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from imagenetv2.cli import main
from imagenetv2.evaluation.scorecard.sets import TITLES, Opened, Part
from imagenetv2.images import Pixels
from imagenetv2.testsets import class_table
from imagenetv2.testsets.testset import TestSet
from tests.unit.testset_layouts import pixels_of

MODULE = "scorecard_networks"
SOURCE = """
import os
import torch

class Reader(torch.nn.Module):
    preprocessing = {"size": 2, "resize": 2, "interpolation": "nearest", "mean": [0, 0, 0], "std": [1, 1, 1],
                     "divisor": 1}

    def __init__(self, wrong):
        super().__init__()
        self.register_buffer("wrong", torch.tensor(wrong))
        self.passes = 0

    def forward(self, batch):
        self.passes += 1
        if os.environ.get("DIES_AT") == str(self.passes):
            os.kill(os.getpid(), 9)
        high, low, number = batch[:, :, 0, 0].float().round().long().T
        true = (256 * high + low).clamp(max=999)
        missed = (7 * true + 3 * number) % 10 < self.wrong
        outputs = torch.zeros(len(batch), 1000)
        rows = torch.arange(len(batch))
        outputs[rows, torch.where(missed, (true + 1) % 1000, true)] = 5.0
        outputs[rows, true] += 4.0
        return outputs

def good():
    return Reader(1)

def fair():
    return Reader(4)

def shifted():
    class Shifted(Reader):
        def forward(self, batch):
            return super().forward(batch).roll(1, dims=1)
    return Shifted(1)

def broken():
    class Broken(Reader):
        def forward(self, batch):
            return super().forward(batch) * float("nan")
    return Broken(1)
"""


def name(function: str) -> str:
    """What to write after ``--models``."""
    return f"python:{MODULE}:{function}?name={function}"


def missed(index: int, number: int, wrong: int) -> bool:
    """Whether a network is wrong about an image."""
    return (7 * index + 3 * number) % 10 < wrong


def right(wrong: int, per_class: int, classes: Sequence[int] = range(1000)) -> int:
    """How many images of ``testset_layouts.pictures`` a network has right."""
    return sum(not missed(i, k, wrong) for i in classes for k in range(per_class))


def write_networks(folder: Path) -> None:
    """Put the networks into a folder; those of other tests are forgotten."""
    (folder / f"{MODULE}.py").write_text(SOURCE, "utf-8")
    sys.modules.pop(MODULE, None)


def evaluate(*arguments: object) -> int:
    """The command on one core; returns the exit code."""
    return main(["evaluate", "--device", "cpu", "--cores", "1", *map(str, arguments)])


def results(out: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Rows of ``results.csv`` by model and set."""
    with (out / "results.csv").open(encoding="utf-8", newline="") as file:
        return {(row["model"], row["set"]): row for row in csv.DictReader(file)}


class Coloured(Sequence[Pixels]):
    """Images that tell their class and number."""

    def __init__(self, of: Sequence[tuple[int, int]]) -> None:
        self._of = of

    def __len__(self) -> int:
        return len(self._of)

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        return pixels_of(*self._of[index])


def whole_set(
    known: str | None, per_class: int, classes: Sequence[int] = range(1000), remarks: tuple[str, ...] = ()
) -> TestSet:
    """A set that passed for a published one, with so many images a class."""
    images = [(i, k) for i in classes for k in range(per_class)]
    title = known or "unknown"
    return TestSet(
        title,
        "in memory",
        known,
        tuple(f"{i:04d}/{k}.png" for i, k in images),
        np.array([i for i, _ in images], np.int64),
        np.arange(1000),
        class_table.imagenet().wnids,
        title.encode().hex().ljust(64, "0")[-64:],
        remarks,
        Coloured(images),
    )


def opened(part: Part, of: TestSet) -> Opened:
    """The set in its part."""
    return Opened(part, of.known or of.name, TITLES.get(of.known or "", of.name), of)
