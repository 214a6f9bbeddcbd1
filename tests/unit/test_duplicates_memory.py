"""A search stays within its memory, and finds the same with less."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from imagenetv2.duplicates import budget
from imagenetv2.duplicates.budget import Needs
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.recipe import recipe
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.settings import Metric, Pixels, Search, Structure
from imagenetv2.duplicates.squashed import squashed
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels as Image


def blocks(count: int, folder: Path) -> npt.NDArray[np.uint8]:
    """Images of 8 × 8 coloured squares, 256 pixels a side, in a file: quick to make and to tell apart."""

    def picture(index: int) -> Image:
        small = np.random.default_rng(index).integers(0, 256, (8, 8, 3), np.uint8)
        return small.repeat(32, axis=0).repeat(32, axis=1)

    return squashed(count, picture, 256, folder, 1)[0]


def planned(own: Any, settings: Metric, count: int, memory: float) -> Plan:
    width = own.width(settings, "cpu")
    how = Search.model_construct(memory=memory, shard=16384, parts=1)
    return budget.plan(own.metric, settings, how, own.needs(settings, width), count, count // 2, 1, width)


@pytest.mark.parametrize(
    ("metric", "settings", "count", "memory"),
    [
        ("l2", Pixels(side=256, k=2), 3000, 0.0315),
        ("ssim", Structure(side=256, window=35, k=1), 24, 0.035),
    ],
)
def test_the_peak_is_below_the_memory_and_results_are_the_same(
    metric: str, settings: Metric, count: int, memory: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "SPARE", 2**20)
    own, pixels = recipe(metric), blocks(count, tmp_path)
    every, none = np.arange(count), Excluded.of(count, [])

    def found(plan: Plan, some: int) -> tuple[Any, ...]:
        engine = own.engine(pixels, settings, "cpu", budget.room(plan))
        pairs, skipped = search(engine, every[:some:2], every[:some], none, plan)
        return pairs.row.tolist(), pairs.column.tolist(), pairs.distance.tolist(), skipped

    plenty = planned(own, settings, count, 4.0)
    found(plenty, 8)  # What is compiled stays, and is no part of a search.
    peaks, results = [], []
    for plan in (planned(own, settings, count, memory), plenty):
        tracemalloc.start()
        try:
            results.append(found(plan, count))
            peaks.append(tracemalloc.get_traced_memory()[1])
        finally:
            tracemalloc.stop()
    assert peaks[0] < memory * budget.GB
    assert peaks[1] > memory * budget.GB, "the memory makes no difference here"
    assert results[0] == results[1]


@pytest.mark.parametrize("memory", [0.25, 1.0, 4.0, 64.0])
@pytest.mark.parametrize("cores", [1, 16])
@pytest.mark.parametrize("needs", [Needs(), Needs(kept=50, image=4000, pair=8, exact=80, distinct=6000)])
def test_what_a_plan_adds_up_to(memory: float, cores: int, needs: Needs) -> None:
    images, candidates, width = 100_000, 10_000, 3 * 256**2
    try:
        plan = budget.plan(
            "l2", Pixels(side=256), Search(memory=memory), needs, images, candidates, cores, width
        )
    except InputError:
        assert memory / cores < 0.25
        return
    down, across = plan.tile
    tiles = cores * (down * across * (30 + needs.pair) + (down + across) * needs.image)
    pairs = cores * (plan.pairs * (96 + needs.exact) + (down + across) * needs.distinct)
    waiting = plan.block * 30 * 24 * 9 * 4
    kept = 2**25 + candidates * 30 * 96 + images * needs.kept
    assert max(tiles, pairs) + plan.cache + waiting + kept <= memory * 1e9
    assert plan.block >= 64 and min(plan.tile) >= 64 and plan.pairs >= 1024


def test_bounds_are_computed_once_where_there_is_room() -> None:
    few = budget.plan("l2", Pixels(), Search(memory=4.0), Needs(), 50_000, 20_000, 2, 3072)
    assert few.block * 50_000 * 8 <= few.cache
    many = budget.plan("l2", Pixels(), Search(memory=4.0), Needs(), 1_600_000, 200_000, 2, 3072)
    assert many.block > 1024


def test_too_little_memory_is_an_error_that_says_how_much_is_needed() -> None:
    with pytest.raises(
        InputError, match=r"neighbours\.search\.memory of 0\.25 GB is too little for l2: 200,000"
    ):
        budget.plan("l2", Pixels(), Search(memory=0.25), Needs(kept=1300), 1_600_000, 200_000, 2, 3072)
