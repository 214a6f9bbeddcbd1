"""A distance that the k nearest images of a candidate do not exceed, from pairs that look near."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from imagenetv2.duplicates.engine import Indices, Values
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.pooling import threaded

if TYPE_CHECKING:
    from imagenetv2.duplicates.search import Plan


def largest(first: Pairs, exact: Callable[[Indices, Indices], Values], rows: int, plan: Plan) -> Values:
    """Largest distance of the pairs of each row, 0 to ``rows``; infinite where it has fewer than k.

    ``first`` are pairs of positions, in any order; ``exact`` gives their distances, some at a time, on several threads.
    """
    # As in a tile, few different candidates at once, and their pairs by column.
    group = first.row // plan.tile[0]
    order = np.lexsort((first.row, first.column, group))
    ends = np.flatnonzero(np.diff(group[order], append=-1)) + 1
    pieces = [
        order[start : min(start + plan.pairs, end)]
        for begin, end in zip([0, *ends], ends, strict=False)  # ends may be none
        for start in range(begin, end, plan.pairs)
    ]
    found = threaded(lambda some: exact(first.row[some], first.column[some]), pieces, plan.cores)
    distance = np.concatenate([np.empty(0), *found])
    limit = np.full(rows, -np.inf)
    np.maximum.at(limit, first.row[order], distance)
    limit[np.bincount(first.row, minlength=rows) < plan.k] = np.inf
    return limit
