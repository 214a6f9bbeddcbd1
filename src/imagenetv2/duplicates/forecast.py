"""The cost of a search, from a configuration and what there is to compare."""

from __future__ import annotations

import os
from typing import Any

from imagenetv2.duplicates import budget
from imagenetv2.duplicates.calibration import calibrate
from imagenetv2.duplicates.cost import Estimate, Machine, Size, Work, estimate
from imagenetv2.duplicates.recipe import Pictures, Recipe
from imagenetv2.duplicates.settings import Metric, Search

QUICK = 3.0
"""Seconds; a search that by a rough guess takes less is not worth timing anything."""


def forecast(
    recipe: Recipe[Any],
    settings: Metric,
    how: Search,
    device: str,
    size: Size,
    pictures: Pictures,
    *,
    seconds: float | None = None,
) -> Estimate:
    """What the search takes on this machine; ``seconds`` for timing, by default a share of a rough guess."""
    width = recipe.width(settings, device)
    operations = recipe.operations(settings, width)
    if seconds is None:
        guess = rough(size, recipe.usual(settings), operations, pictures.cores)
        seconds = 0.0 if guess < QUICK else min(3.0, 0.05 * guess)
    rates = calibrate(recipe, settings, device, pictures, seconds) if seconds else None
    needs, cores = recipe.needs(settings, width), pictures.cores
    plan = budget.plan(recipe.metric, settings, how, needs, size.images, size.candidates, cores, width)
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    machine = Machine(installed, recipe.at_once(settings, pictures), 1 if device == "cuda" else cores)
    work = Work(width, operations, how.memory * budget.GB)
    return estimate(recipe.metric, size, settings, plan, work, machine, rates)


def rough(size: Size, image: float, operations: float, cores: int) -> float:
    """Seconds by rule of thumb: a tenth of the distances, 20 ns for bounds, and so many seconds an image."""
    return (size.pairs * (2e-8 + 0.1 * operations / 5e9) + size.images * image) / cores
