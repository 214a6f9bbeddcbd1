"""How a search is cut up so that it stays within the memory it may use."""

from __future__ import annotations

from dataclasses import dataclass

from imagenetv2.analysis.wording import plural
from imagenetv2.duplicates.search import MERGED, TILE, Plan
from imagenetv2.duplicates.settings import Metric, Search
from imagenetv2.duplicates.stored import IN_MEMORY
from imagenetv2.errors import InputError

GB = 10**9
PAIR = 30
"""Bytes of a pair of a tile: bound and estimate in float64, a copy of the estimate, masks."""
EXACT = 96
"""Bytes of a pair whose distance is computed: indices, limits, distances and what is sorted."""
FOUND = 4 * 24
"""Bytes of a pair that is kept: row, column and distance, joined and sorted."""
SPARE = 2**25
"""Bytes for what is not counted: the tables of images, pieces on their way to the disk."""
BLOCK, LEAST_BLOCK = 8192, 64
WORTHWHILE = 1024
"""Candidates of a block below which computing bounds once is not worth it."""
MOST_PAIRS, LEAST_PAIRS = 2**16, 1024
LEAST_TILE = 64
MOST_ROOM = 2**28


@dataclass(frozen=True)
class Needs:
    """Bytes that an engine allocates beyond its arguments and results.

    Attributes:
        kept: for each image of the collection, as long as the engine lives.
        image: for each image of a tile, while bounds are computed.
        pair: for each pair of a tile, while bounds are computed.
        exact: for each pair whose distance is computed.
        distinct: for each different image of pairs whose distances are computed together.
        lists: not bytes, but how many lists of its neighbours are kept of a candidate until they are one.
    """

    kept: int = 0
    image: int = 0
    pair: int = 0
    exact: int = 0
    distinct: int = 0
    lists: int = 1


def plan(
    metric: str,
    settings: Metric,
    how: Search,
    needs: Needs,
    images: int,
    candidates: int,
    cores: int,
    width: int,
) -> Plan:
    """Blocks, tiles and pieces of a search in ``how.memory`` GB.

    ``width`` is the bytes of an image in what is compared, which lies in memory where it is small. Raises InputError
    where the memory is too little.
    """
    fixed = _fixed(settings, needs, images, candidates, width)
    free, least = int(how.memory * GB) - fixed, _least(settings, needs, cores)
    if free < least:
        searched = (
            f"{plural(candidates, 'candidate')} among {plural(images, 'image')} on {plural(cores, 'core')}"
        )
        raise _too_little(metric, how, searched, fixed + least)
    fifth = free // 5
    half = fifth // cores // 2
    # The same whatever the cores, since the pieces of a search are named by block.
    block = min(BLOCK, fifth // _row(settings), max(1, -(-candidates // how.parts)))
    block = max(LEAST_BLOCK, _cached(block, fifth // (8 * max(images, 1))))
    return Plan(
        k=settings.k,
        within=-1.0 if settings.within is None else settings.within,
        block=block,
        shard=how.shard,
        tile=_tile(fifth // cores, half // 2 // max(needs.distinct, 1), needs),
        pairs=max(LEAST_PAIRS, min(MOST_PAIRS, half // (EXACT + needs.exact))),
        cache=fifth,
        cores=cores,
    )


def room(plan: Plan) -> int:
    """Bytes that an engine may keep during a call, of those that can make use of more or less."""
    return min(MOST_ROOM, plan.cache // plan.cores)


def _too_little(metric: str, how: Search, searched: str, needed: int) -> InputError:
    return InputError(
        f"neighbours.search.memory of {how.memory:g} GB is too little for {metric}: {searched} need at least "
        f"{needed / GB:.2f} GB; raise it, or use fewer cores."
    )


def _fixed(settings: Metric, needs: Needs, images: int, candidates: int, width: int) -> int:
    """Bytes that are there however the search is cut up: images, their tables, and pairs that are kept."""
    loaded = images * width if images * width <= IN_MEMORY else 0
    return SPARE + loaded + FOUND * candidates * max(settings.k, 1) * needs.lists + needs.kept * images


def _row(settings: Metric) -> int:
    """Bytes of a candidate of a block: what waits to be joined, and is sorted."""
    return FOUND * (MERGED + 1) * max(settings.k, 1)


def _cached(block: int, fits: int) -> int:
    """Fewer candidates at once where their bounds then fit and need not be computed twice."""
    return min(block, fits) if fits >= min(block, WORTHWHILE) else block


def _least(settings: Metric, needs: Needs, cores: int) -> int:
    """Bytes of the smallest plan: a fifth each for bounds, distances, what is kept, and the engine's own."""
    tile = _bytes(LEAST_TILE, LEAST_TILE, needs)
    pairs = 2 * LEAST_PAIRS * (EXACT + needs.exact) + 4 * 3 * LEAST_TILE * needs.distinct
    return 5 * max(cores * tile, cores * pairs, LEAST_BLOCK * _row(settings))


def _tile(room: int, distinct: int, needs: Needs) -> tuple[int, int]:
    """The largest tile of the usual proportions, halved until it fits and has no more different images."""
    down, across = TILE
    while down > LEAST_TILE and (_bytes(down, across, needs) > room or down + across > distinct):
        down, across = down // 2, across // 2
    return down, max(LEAST_TILE, across)


def _bytes(down: int, across: int, needs: Needs) -> int:
    return down * across * (PAIR + needs.pair) + (down + across) * needs.image
