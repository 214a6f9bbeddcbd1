"""The k nearest images of each candidate, and all within a distance, for any metric, without missing one.

Cheap bounds of all pairs come first. The k pairs of a candidate with the smallest estimates are computed; the
largest of these distances is a limit that its k nearest cannot exceed. Then only pairs whose lower bound reaches
the limit are computed. The limits, and so the pairs that are computed, depend on the images alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates import cuts
from imagenetv2.duplicates.engine import Engine, Indices, Values
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.limits import largest
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.duplicates.work import Work
from imagenetv2.pooling import slices, threaded
from imagenetv2.progress import Bar, bar

TILE = (1024, 2048)
"""Candidates and other images of a tile; a thread works at one at a time."""
MERGED = 8
"""So many times what is kept of a block waits at most, before the nearest of it are chosen."""


@dataclass
class Skipped:
    """How many pairs there were, and for how many the distance was computed.

    It counts pairs, not computations: the k of a candidate that give its limit are computed once more, with those that
    the limit leaves.
    """

    pairs: int = 0
    computed: int = 0

    def add(self, other: Skipped) -> None:
        """Count what another search did."""
        self.pairs += other.pairs
        self.computed += other.computed


@dataclass(frozen=True)
class Plan:
    """What is wanted, and with how much: none of the fields after ``within`` changes a result.

    Attributes:
        k: neighbours of each candidate; 0 for only those within a distance.
        within: all pairs at or below this distance; -1 for none beyond the k nearest.
        block: candidates whose neighbours are searched together.
        shard: other images between two points at which a killed search goes on.
        tile: candidates and other images of a tile.
        pairs: pairs whose distances are computed in one call.
        cache: bytes for the bounds of a block, so that they are computed once instead of twice.
        cores: tiles at once.
        part: (i, n) for only the i-th of n parts of the work, from 0; what is returned is then of no use, but its
            pieces are kept.
    """

    k: int
    within: float = -1.0
    block: int = 8192
    shard: int = 16384
    tile: tuple[int, int] = TILE
    pairs: int = 2**16
    cache: int = 2**28
    cores: int = 1
    part: tuple[int, int] = (0, 1)


def search(
    engine: Engine,
    rows: Indices,
    columns: Indices,
    excluded: Excluded,
    plan: Plan,
    work: Work | None = None,
    what: str = "search",
    shown: Bar | None = None,
) -> tuple[Pairs, Skipped]:
    """Pairs of ``rows`` with ``columns``, both ascending indices of images.

    ``excluded`` pairs do not count. Finished pieces lie in ``work`` and are not searched again. ``shown`` is a bar for
    ``steps`` steps, or else one is shown that says ``what``. The engine is left alone where there are no pairs.
    Returns pairs sorted by row, distance and column: of each row its k nearest and all within ``plan.within``.
    """
    work = work or Work(None)
    found, skipped = [], Skipped()
    total = steps(len(rows), len(columns), plan, work)
    with bar(what, total) if shown is None else nullcontext(shown) as moved:
        for block in _blocks(len(rows), plan, work) if total else ():
            some = _Block(engine, rows[block], columns, excluded, plan)
            shards = list(slices(len(columns), plan.shard))
            limit = some.limits(shards, work, cuts.name(block), moved)
            near = some.pieces(shards, limit, work, f"pairs-{cuts.name(block)}", moved, skipped)
            found.append(some.merged([], near, plan.within))
    return Pairs.joined(found), skipped


def steps(rows: int, columns: int, plan: Plan, work: Work) -> int:
    """By how much a search of so many rows and columns moves its bar."""
    shards = len(list(slices(columns, plan.shard)))
    return len(_blocks(rows, plan, work)) * shards * (2 if plan.k else 1)


def _blocks(rows: int, plan: Plan, work: Work) -> list[slice]:
    """Those of this part of the work."""
    return list(slices(rows, plan.block))[work.turn(plan.part) :: plan.part[1]]


class _Block:
    """Some candidates against all other images."""

    def __init__(
        self, engine: Engine, rows: Indices, columns: Indices, excluded: Excluded, plan: Plan
    ) -> None:
        self._engine, self._rows, self._columns = engine, rows, columns
        self._excluded, self._plan = excluded, plan
        # Two passes over the same bounds: they are kept where there is room for them.
        self._room = len(rows) * len(columns) * 8 <= plan.cache
        self._lower: dict[tuple[int, int], npt.NDArray[np.floating]] = {}

    def limits(self, shards: Sequence[slice], work: Work, name: str, shown: Bar) -> Values:
        """For each candidate a distance that its k nearest, and all that is wanted, do not exceed."""
        plan = self._plan
        if plan.k == 0:
            return np.full(len(self._rows), plan.within)
        done = work.piece(f"limits-{name}")
        if done is None:
            first = self._first(shards, work, f"first-{name}", shown)
            done = {"limit": largest(first, self._exact, len(self._rows), plan)}
            work.keep(f"limits-{name}", done)
        else:
            shown.update(len(shards))
        return np.asarray(np.maximum(done["limit"], plan.within))

    def _first(self, shards: Sequence[slice], work: Work, name: str, shown: Bar) -> Pairs:
        """The k pairs of each row with the smallest estimates; kept after each shard."""
        first, start = Pairs.none(), 0
        kept, stops = work.piece(name), [shard.stop for shard in shards]
        if kept is not None and int(kept["stop"]) in stops:  # else shards were cut otherwise
            first, start = Pairs(kept["row"], kept["column"], kept["estimate"]), stops.index(kept["stop"]) + 1
        shown.update(start)
        for shard in shards[start:]:
            near = threaded(self._likely, self._tiles(shard), self._plan.cores)
            first = self.merged([first], near, -np.inf)
            if shard.stop < stops[-1]:
                arrays = {"row": first.row, "column": first.column, "estimate": first.distance}
                work.keep(name, {**arrays, "stop": np.array(shard.stop)})
            shown.update()
        return first

    def _exact(self, row: Indices, column: Indices) -> Values:
        """Distances of pairs of positions."""
        return self._engine.exact(self._rows[row], self._columns[column], np.full(len(row), np.inf))

    def pieces(
        self, shards: Sequence[slice], limit: Values, work: Work, name: str, shown: Bar, skipped: Skipped
    ) -> Iterator[Pairs]:
        """Of each shard the pairs at or below the limits, in indices of images."""
        for shard in shards:
            kept = work.piece(f"{name}-{cuts.name(shard)}")
            if kept is None:
                kept = self.within(shard, limit)
                work.keep(f"{name}-{cuts.name(shard)}", kept)
            shown.update()
            skipped.add(Skipped(int(kept["pairs"]), int(kept["computed"])))
            yield Pairs(kept["row"], kept["column"], kept["distance"])

    def within(self, shard: slice, limit: Values) -> dict[str, npt.NDArray[Any]]:
        """Pairs of the shard at or below the limits, and how many there were and were computed."""
        counted = Skipped()

        def near() -> Iterator[Pairs]:
            tiles = self._tiles(shard)
            for pairs, skipped in threaded(lambda tile: self._within(tile, limit), tiles, self._plan.cores):
                counted.add(skipped)
                yield pairs

        pairs = self.merged([], near(), self._plan.within)
        return {
            "row": self._rows[pairs.row],
            "column": self._columns[pairs.column],
            "distance": pairs.distance,
            "pairs": np.array(counted.pairs),
            "computed": np.array(counted.computed),
        }

    def merged(self, first: list[Pairs], near: Iterable[Pairs], within: float) -> Pairs:
        """The nearest of all, put together now and then, so that what waits stays small."""
        waiting, k = list(first), self._plan.k
        room = MERGED * k * len(self._rows)
        for pairs in near:
            waiting.append(pairs)
            if sum(map(len, waiting)) > room:
                waiting = [Pairs.joined(waiting).nearest(k, within)]
                room = max(room, 2 * len(waiting[0]))
        return Pairs.joined(waiting).nearest(k, within)

    def _within(self, tile: tuple[slice, slice], limit: Values) -> tuple[Pairs, Skipped]:
        down, across = tile
        lower = self._lower.get((down.start, across.start))
        if lower is None:
            lower, _ = self._bounds(tile)
        possible = lower <= limit[down][:, None]
        row, column = self._excluded.inside(self._rows[down], self._columns[across])
        possible[row, column] = False
        flat = np.flatnonzero(possible.T)
        counted = Skipped(possible.size - len(row), len(flat))
        kept = []
        for piece in slices(len(flat), self._plan.pairs):
            column, row = np.divmod(flat[piece], len(possible))
            row, column = row + down.start, column + across.start
            distance = self._engine.exact(self._rows[row], self._columns[column], limit[row])
            near = Pairs(row, column, distance).take(distance <= limit[row])
            # Images that are all alike would be within every limit: what is kept stays small.
            kept.append(near.nearest(self._plan.k, self._plan.within))
        return Pairs.joined(kept), counted

    def _likely(self, tile: tuple[slice, slice]) -> Pairs:
        """The k pairs of each row of a tile with the smallest estimates; positions instead of indices."""
        down, across = tile
        lower, estimate = self._bounds(tile)
        if self._room:
            self._lower[down.start, across.start] = lower
        row, column = self._excluded.inside(self._rows[down], self._columns[across])
        estimate[row, column] = np.inf
        last = min(self._plan.k, estimate.shape[1]) - 1
        bound = np.partition(estimate, last, axis=1)[:, last : last + 1]
        row, column = np.nonzero((estimate <= bound) & np.isfinite(estimate))
        near = Pairs(row + down.start, column + across.start, estimate[row, column].astype(np.float64))
        return near.nearest(self._plan.k, -np.inf)

    def _bounds(self, tile: tuple[slice, slice]) -> tuple[Any, Any]:
        return self._engine.bounds(self._rows[tile[0]], self._columns[tile[1]])

    def _tiles(self, shard: slice) -> Iterator[tuple[slice, slice]]:
        return cuts.tiles(len(self._rows), shard, self._plan.tile, self._plan.cores)
