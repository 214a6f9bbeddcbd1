"""Who does what next: models are spread over devices, and stay on theirs."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from imagenetv2.evaluation.running.work import Item


class Schedule:
    """Hands out items, block by block, to lanes.

    A model belongs to the lane that got it first, so that it need not be loaded twice and its records come in
    order: more lanes than models have nothing to do. Each lane's first item is
    set aside at once: a lane that asks ahead takes no other's only work.

    Args:
        blocks: the items of each block.
        lanes: how many lanes there are.
    """

    def __init__(self, blocks: Sequence[Sequence[Item]], lanes: int) -> None:
        self._lock = threading.Lock()
        self._waiting = [list(items) for items in blocks]
        self._unfinished = [len(items) for items in blocks]
        self._left: dict[str, int] = {}
        for items in blocks:
            for item in items:
                self._left[item.model.name] = self._left.get(item.model.name, 0) + 1
        self._owner: dict[str, int] = {}
        self._place = [0] * lanes
        self._first = [self._next(lane) for lane in range(lanes)]

    def next(self, lane: int) -> Item | None:
        """The next item of that lane; None where there is no more."""
        with self._lock:
            first, self._first[lane] = self._first[lane], None
            return first or self._next(lane)

    def finish(self, item: Item) -> bool:
        """An item is done, or given up; returns whether its model looks at later blocks too."""
        with self._lock:
            self._left[item.model.name] -= 1
            self._unfinished[item.block.number] -= 1
            over, again = not self._unfinished[item.block.number], self._left[item.model.name] > 0
        if over:
            item.block.release()
        return again

    def _next(self, lane: int) -> Item | None:
        while self._place[lane] < len(self._waiting):
            waiting = self._waiting[self._place[lane]]
            for item in waiting:
                if self._owner.setdefault(item.model.name, lane) == lane:
                    waiting.remove(item)
                    return item
            self._place[lane] += 1
        return None
