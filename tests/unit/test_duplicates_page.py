"""docs/near-duplicates.md: its numbers are those of the commands that it names, its statements hold."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.cli import main
from imagenetv2.duplicates import metrics
from imagenetv2.duplicates.recipe import Pictures, recipe
from imagenetv2.duplicates.settings import Features
from tests.labels import make

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/near-duplicates.md"
GENERATED = re.compile(r"<!-- generated: (imagenetv2 cutoffs .*?) -->\n(.*?)<!-- end -->", re.DOTALL)
NUMBER = re.compile(r"^[<>]?([0-9][0-9,]*\.?[0-9]*)$")


def generated() -> list[tuple[str, str]]:
    """Each command of the page, and what stands below it."""
    return [(found[1], found[2]) for found in GENERATED.finditer(PAGE.read_text("utf-8"))]


@pytest.mark.packs
@pytest.mark.parametrize("which", [0, 1], ids=["near-duplicates", "hostile"])
def test_the_page_says_what_its_commands_measure(packs: Path, tmp_path: Path, which: int) -> None:
    command, text = generated()[which]
    arguments = [
        word.replace("$IMAGENETV2_PACKS", str(packs)).replace("tests/labels", str(ROOT / "tests/labels"))
        for word in shlex.split(command)[1:]
    ]
    assert main([*arguments, "--cores", "1", "--out", str(tmp_path)]) == 0
    fresh = (tmp_path / "cutoffs.md").read_text("utf-8")
    assert alike(text, fresh), f"put cutoffs.md of `{command}` into {PAGE} below that command"


def alike(text: str, fresh: str) -> bool:
    """The same words, and numbers that differ by what another machine's last digits may change."""
    old, new = words(text), words(fresh)
    return len(old) == len(new) and all(near(a, b) for a, b in zip(old, new, strict=True))


def words(text: str) -> list[str]:
    return re.sub(r"[*|()]", " ", text).split()


def near(a: str, b: str) -> bool:
    numbers = [NUMBER.match(word.rstrip(",;.:")) for word in (a, b)]
    if not all(numbers):
        return a == b
    one, two = (float(n[1].replace(",", "")) for n in numbers if n)
    return abs(one - two) <= 0.03 * max(one, two) + 0.1


def test_numbers_of_another_machine_are_alike_and_others_are_not() -> None:
    assert alike("| l2 | **0.56** 2.3 |", "| l2 | 0.57 2.3 |")
    assert alike("precision 98.2 % (90.6 to 100.0)", "precision 98.3 % (90.6 to 100.0)")
    assert not alike("| l2 | 0.56 |", "| l2 | 0.9 |")
    assert not alike("| l2 | 120,000,000 |", "| l2 | 130,000,000 |")
    assert not alike("| l2 | 0.56 |", "| fc7 | 0.56 |")
    assert not alike("| ✓ |", "| – |")


@pytest.mark.packs
@pytest.mark.parametrize("name", ["near-duplicates", "hostile"])
def test_labels_are_made_from_the_names_of_the_files(packs: Path, name: str) -> None:
    rows = {"near-duplicates": make.near_duplicates, "hostile": make.hostile}[name](packs / name)
    with (ROOT / f"tests/labels/{name}.csv").open(encoding="utf-8", newline="") as file:
        committed = [tuple(row) for row in csv.reader(file)]
    assert committed == [("image", "group", "kind", "strength"), *rows], "run tests/labels/make.py"


def test_what_the_page_says_of_flat_images() -> None:
    levels = np.array([60, 84, 85, 190, 200], np.uint8)
    pixels = np.broadcast_to(levels[:, None, None, None], (5, 256, 256, 3)).copy()
    first, others, anything = np.zeros(4, np.int64), np.arange(1, 5), np.full(4, np.inf)
    l2 = metrics.engine("l2", "cpu")(pixels).exact(first, others, anything)
    ssim = metrics.engine("ssim", "cpu")(pixels, 35).exact(first, others, anything)
    difference = levels[1:].astype(int) - 60
    assert l2.tolist() == (196608 * difference**2).tolist()
    assert (l2 <= 1.2e8).tolist() == [True, False, False, False]
    a, b = 60.0, levels[1:].astype(float)
    np.testing.assert_allclose(1 - 2 * ssim, (2 * a * b + 6.5025) / (a * a + b * b + 6.5025), rtol=1e-9)
    assert (ssim <= 0.2205).tolist() == [True, True, True, False]


def test_what_the_page_says_of_features_of_flat_images() -> None:
    grey = np.arange(0, 256, 28)[:, None].repeat(3, axis=1)
    colours = np.concatenate([grey, [(200, 30, 30), (30, 160, 40), (40, 60, 200)]]).astype(np.uint8)
    flat = np.broadcast_to(colours[:, None, None], (len(colours), 256, 256, 3))
    how, settings = recipe("fc7"), Features(side=256, input=224)
    values, _ = how.values(Pictures(len(flat), flat.__getitem__, None, 1), settings, "cpu")
    row, column = np.nonzero(np.tri(len(flat), k=-1).T)
    order = np.lexsort((row, column))
    distances = how.engine(values, settings, "cpu").exact(
        row[order], column[order], np.full(len(row), np.inf)
    )
    assert len(grey) == 10
    assert 0.9 * 110 < distances.max() < 1.1 * 110
