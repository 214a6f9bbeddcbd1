"""How long the parts of a search take on this machine, from a few pictures and a few moments."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates.engine import Engine, Indices, Values
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.recipe import Pictures, Recipe
from imagenetv2.duplicates.search import Plan, search
from imagenetv2.duplicates.settings import Metric
from imagenetv2.duplicates.shares import Shares
from imagenetv2.duplicates.squashed import readable
from imagenetv2.images import Pixels
from imagenetv2.pooling import threaded

FEWEST, MOST = 16, 128
"""Pictures that are looked at, as far as time allows."""
SMALL, LARGE = 4, 512
"""Images along a side of the tile that is timed; pictures are repeated to fill it."""


@dataclass(frozen=True)
class Rate:
    """Seconds for each different image of a call, and for each of its pairs."""

    image: float
    pair: float

    def each(self, rows: float, columns: float, share: float = 1.0) -> float:
        """Seconds for a pair of a call with so many rows and columns, of whose pairs a share is asked for."""
        return self.pair + self.image * (1 / max(rows, 1) + 1 / max(columns, 1)) / max(share, 1e-9)

    @classmethod
    def fitted(cls, times: Sequence[tuple[int, int, float]]) -> Rate:
        """From numbers of images, of pairs, and the seconds for them; the last count most."""
        images, pairs, seconds = times[-1]
        if len(times) > 1:
            fewer, less, before = times[-2]
            if (width := images * less - fewer * pairs) != 0:
                image = max(0.0, (seconds * less - before * pairs) / width)
                return cls(image, max(0.0, seconds - image * images) / max(pairs, 1))
        return cls(0.0, seconds / max(pairs, 1))


@dataclass(frozen=True)
class Rates:
    """Seconds of one thread, and what the pictures say about how much can be skipped.

    Attributes:
        pictures: so many were looked at.
        decode: of an image, to decode and squash it; by all threads together.
        prepare: of an image, to make of it what is compared.
        bound: of bounds, and of what the search does with them.
        distance: of distances in full.
        limited: of distances that need not be known beyond a limit.
        shares: shares of pairs that bounds do not exclude.
    """

    pictures: int
    decode: float
    prepare: float
    bound: Rate
    distance: Rate
    limited: Rate
    shares: Shares


def calibrate(
    recipe: Recipe[Any], settings: Metric, device: str, pictures: Pictures, seconds: float
) -> Rates | None:
    """Time every part, within about so many seconds; None where fewer than two pictures can be read."""
    if pictures.count < 2:
        return None
    decoded, decode = _decoded(recipe.side(settings), pictures, seconds / 5)
    if len(decoded) < 2:
        return None
    values, prepare = _prepared(recipe, settings, device, decoded, pictures.memory, seconds / 5)
    recipe.engine(values, settings, device)  # compiles what is compiled
    started = time.perf_counter()
    engine = recipe.engine(values, settings, device)
    prepare += (time.perf_counter() - started) / len(values)
    with threadpool_limits(1, user_api="blas"):
        every = np.arange(len(values))
        lower, estimate = engine.bounds(every, every)
        shares = recipe.shares(lower, estimate)
        bound = _bound(engine, len(values), settings.k, seconds / 5)
        other = ~np.eye(len(values), dtype=bool)
        distance = _distance(engine, other, np.full(len(values), np.inf), seconds / 5)
        near = other & (shares.nearest >= lower.T)
        limited = _distance(engine, near, shares.nearest, seconds / 5)
    return Rates(len(decoded), decode, prepare, bound, distance, limited, shares)


def growing(work: Callable[[int], object], least: int, most: int, seconds: float) -> list[tuple[int, float]]:
    """Do ``work`` of doubling sizes until the next would take too long or is too large; sizes and their seconds."""
    size, done = least, []
    while True:
        started = time.perf_counter()
        work(size)
        done.append((size, time.perf_counter() - started))
        if size >= most or sum(took for _, took in done) + 2 * done[-1][1] > seconds:
            return done
        size = min(2 * size, most)


def _decoded(side: int, pictures: Pictures, seconds: float) -> tuple[list[Pixels], float]:
    """Some pictures spread over all, squashed, and the seconds for one when all threads are at it."""
    found: list[Pixels] = []
    spread = np.unique(np.linspace(0, pictures.count - 1, MOST).astype(np.int64))
    # Those looked at first are far apart as well.
    order = spread[np.argsort(np.arange(len(spread)) * 0.618034 % 1.0)].tolist()
    readable(pictures.picture, order[0], side)  # opens what is opened
    started, seen = time.perf_counter(), 0
    made = threaded(lambda index: readable(pictures.picture, index, side), order, pictures.cores)
    for picture in made:
        seen += 1
        if not isinstance(picture, str):
            found.append(picture)
        if len(found) >= FEWEST and time.perf_counter() - started > seconds:
            break
    return found, (time.perf_counter() - started) / seen


def _prepared(
    recipe: Recipe[Any], settings: Metric, device: str, decoded: list[Pixels], memory: int, seconds: float
) -> tuple[npt.NDArray[Any], float]:
    """What is compared of as many of the pictures as time allows, and the seconds for one."""
    kept: list[npt.NDArray[Any]] = []

    def work(size: int) -> None:
        given = Pictures(size, decoded.__getitem__, None, 1, memory)
        kept[:] = [recipe.values(given, settings, device)[0]]

    least = min(max(2, recipe.together), len(decoded))
    size, took = growing(work, least, len(decoded), seconds)[-1]
    return kept[0], took / (-(-size // recipe.together) * recipe.together)


def _bound(engine: Engine, count: int, k: int, seconds: float) -> Rate:
    """Of bounds in the search proper, when no distance is computed."""
    repeated = _Repeated(engine, count)
    plan = Plan(k=max(k, 1), tile=(LARGE, LARGE), cache=0)

    def work(size: int) -> None:
        every = np.arange(size)
        search(repeated, every, every, Excluded.of(size, []), plan, what="calibration")

    times = growing(work, SMALL, LARGE, seconds)
    # The search goes through them twice.
    return Rate.fitted([(2 * size, size * size, took / 2) for size, took in times])


def _distance(engine: Engine, wanted: npt.NDArray[np.bool_], limit: Values, seconds: float) -> Rate:
    """Of distances of some pairs, which are given columns × rows; the limits are those of the rows."""
    pairs: dict[int, int] = {}

    def work(size: int) -> None:
        column, row = np.nonzero(wanted[:size, :size])
        pairs[size] = len(row)
        engine.exact(row, column, limit[row])

    work(2)  # compiles what is compiled
    times = growing(work, 2, len(wanted), seconds)
    return Rate.fitted([(2 * size, pairs[size], took) for size, took in times])


class _Repeated:
    """Bounds of a few pictures over and over, and distances at no cost."""

    def __init__(self, engine: Engine, count: int) -> None:
        self._engine, self._count = engine, count

    def bounds(
        self, rows: Indices, columns: Indices
    ) -> tuple[npt.NDArray[np.floating], npt.NDArray[np.floating]]:
        lower, estimate = self._engine.bounds(rows % self._count, columns % self._count)
        return lower + 1, estimate

    def exact(self, rows: Indices, columns: Indices, limit: Values) -> Values:
        return np.zeros(len(rows))
