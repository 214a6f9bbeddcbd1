"""The search of ``imagenetv2 nearest``: pictures squashed, an engine made of them, neighbours found."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from imagenetv2.duplicates import budget
from imagenetv2.duplicates.collection import digest
from imagenetv2.duplicates.cost import Estimate, Size
from imagenetv2.duplicates.device import chosen
from imagenetv2.duplicates.forecast import forecast
from imagenetv2.duplicates.nearest.options import Wanted
from imagenetv2.duplicates.nearest.sets import Sets
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.duplicates.recipe import Pictures, Recipe, Searches, recipe
from imagenetv2.duplicates.search import Plan, Skipped, search
from imagenetv2.duplicates.settings import Search
from imagenetv2.duplicates.work import Work


@dataclass(frozen=True)
class Found:
    """Neighbours of all candidates.

    Attributes:
        pairs: indices into the sets, sorted by candidate, distance and other picture.
        unreadable: why a picture takes no part, by index.
        compared: candidates and other pictures that took part.
        skipped: pairs, and of how many the distance was computed; within one set each pair both ways.
        seconds: for reading, for preparing what is compared, and for searching.
    """

    pairs: Pairs
    unreadable: dict[int, str]
    compared: tuple[int, int]
    skipped: Skipped
    seconds: dict[str, float]


class Finder:
    """A search between two sets, before it runs. Raises InputError where it can't be done like this.

    ``how`` says where it runs and with how much memory; ``folder`` is for large arrays and finished pieces.
    """

    def __init__(self, sets: Sets, wanted: Wanted, how: Search, cores: int, folder: Path | None) -> None:
        self._sets, self._wanted, self._how, self._cores = sets, wanted, how, cores
        self._excluded = sets.excluded()
        self._recipe: Recipe[Any] = recipe(wanted.metric)
        self._device = chosen(how.device)
        self._recipe.check(wanted.section)
        memory = int(how.memory * budget.GB)
        self._pictures = Pictures(len(sets), sets.pixels, folder, cores, memory)
        self._work = Work(folder)
        self._plan = self._planned()

    def forecast(self) -> Estimate:
        """What it takes on this machine."""
        damaged = self._sets.damaged
        rows, columns = self._sets.readable(damaged)
        pairs = len(rows) * len(columns) - len(self._excluded.inside(rows, columns)[0])
        size = Size(len(self._sets) - len(damaged), len(rows), [Searches(pairs)], self._sets.bytes)
        return forecast(self._recipe, self._wanted.section, self._how, self._device, size, self._pictures)

    def find(self) -> Found:
        """Search. Raises InputError where a set has no picture that can be read."""
        section, seconds = self._wanted.section, dict[str, float]()
        with _timed(seconds, "reading"):
            values, unreadable = self._recipe.values(self._pictures, section, self._device)
            self._recipe.release()
        self._sets.require_any(unreadable)
        with _timed(seconds, "preparing"):
            engine = self._recipe.engine(values, section, self._device, budget.room(self._plan))
        rows, columns = self._sets.readable(list(unreadable))
        work = self._work.within(f"{self._wanted.metric}-{self._device}-{digest(unreadable)}")
        # Tiles are worked at beside each other instead.
        with _timed(seconds, "searching"), threadpool_limits(1, user_api="blas"):
            pairs, skipped = search(
                engine, rows, columns, self._excluded, self._plan, work, self._wanted.metric
            )
        return Found(pairs, unreadable, (len(rows), len(columns)), skipped, seconds)

    def _planned(self) -> Plan:
        section, made = self._wanted.section, self._recipe
        width = made.width(section, self._device)
        needs = made.needs(section, width)
        images, candidates = len(self._sets), len(self._sets.candidates)
        return budget.plan(made.metric, section, self._how, needs, images, candidates, self._cores, width)


def workplace(out: Path, sets: Sets, wanted: Wanted) -> Path:
    """Where unfinished work of this search lies: it belongs to these files, as they are now, and settings."""
    facts = (wanted.metric, wanted.section.model_dump(), sets.digest())
    return out / ".unfinished" / hashlib.sha256(repr(facts).encode()).hexdigest()[:16]


@contextmanager
def _timed(seconds: dict[str, float], name: str) -> Iterator[None]:
    """Note how long something took."""
    start = time.perf_counter()
    yield
    seconds[name] = time.perf_counter() - start
