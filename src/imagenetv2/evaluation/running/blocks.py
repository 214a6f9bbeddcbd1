"""Prepared images in memory: blocks of a sequence of sets, each image decoded once by whoever needs it first."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass

import numpy as np

from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running.tasks import LabelledImages
from imagenetv2.images import Pixels

CHUNK = 8
"""Rows that one thread decodes in one go."""
BLOCKS = 2
"""Blocks in memory at once: one that models look at, one that is being decoded."""


class StoppedError(Exception):
    """The run ends before it is complete."""


@dataclass(frozen=True)
class Span:
    """Images ``start`` to ``stop`` of a set, which are the rows of a block from ``row``."""

    images: LabelledImages
    start: int
    stop: int
    row: int


class Gate:
    """Keeps blocks from being filled before there is memory for them, or when the run ends."""

    def __init__(self) -> None:
        self._change = threading.Condition()
        self._finished: set[int] = set()
        self._first, self._stopped = 0, False

    @property
    def stopped(self) -> bool:
        """Whether the run ends before it is complete."""
        return self._stopped

    def wait(self, block: int) -> None:
        """Until that block may be filled. Raises StoppedError where the run ends."""
        with self._change:
            self._change.wait_for(lambda: self._stopped or block < self._first + BLOCKS)
            if self._stopped:
                raise StoppedError

    def finish(self, block: int) -> None:
        """Nobody needs that block any more."""
        with self._change:
            self._finished.add(block)
            while self._first in self._finished:
                self._first += 1
            self._change.notify_all()

    def stop(self) -> None:
        """The run ends; wake all who wait."""
        with self._change:
            self._stopped = True
            self._change.notify_all()


class Block:
    """Prepared images, rows × height × width × 3, uint8.

    Args:
        number: its place among all blocks.
        cut: what prepares an image.
        spans: the images, in the order of rows.
        gate: says when there is memory.
    """

    def __init__(self, number: int, cut: Cut, spans: Sequence[Span], gate: Gate) -> None:
        self.number, self.spans = number, tuple(spans)
        self.rows = sum(span.stop - span.start for span in spans)
        self._cut, self._gate, self._lock = cut, gate, threading.Lock()
        self._pixels: Pixels | None = None
        self._claims: dict[int, Future[None]] = {}
        self._released = False

    def take(self, first: int, last: int) -> Pixels:
        """Rows ``first`` to ``last``; chunks of them that nobody has begun to decode are decoded here.

        Raises:
            InputError: an image of their chunks cannot be decoded.
            StoppedError: the run ends.
        """
        pixels = self._room()
        if pixels is None:
            raise StoppedError
        for claim in self._claimed(first, last, pixels):
            claim.result()
        return pixels[first:last]

    def prepare(self, first: int, last: int) -> None:
        """Decode rows that somebody will take, unless nobody does any more; errors are raised when they are taken."""
        pixels = self._room()
        if pixels is not None:
            self._claimed(first, last, pixels)

    def release(self) -> None:
        """Give the memory back; nobody takes anything any more."""
        with self._lock:
            self._released, self._pixels = True, None
            self._claims.clear()
        self._gate.finish(self.number)

    def _room(self) -> Pixels | None:
        self._gate.wait(self.number)
        with self._lock:
            if self._pixels is None and not self._released:
                self._pixels = np.empty((self.rows, *self._cut.size, 3), np.uint8)
            return self._pixels

    def _claimed(self, first: int, last: int, pixels: Pixels) -> list[Future[None]]:
        return [self._decoded(chunk, pixels) for chunk in range(first // CHUNK, -(-last // CHUNK))]

    def _decoded(self, chunk: int, pixels: Pixels) -> Future[None]:
        with self._lock:
            if chunk in self._claims:
                return self._claims[chunk]
            claim = self._claims[chunk] = Future()
        try:
            for row in range(chunk * CHUNK, min((chunk + 1) * CHUNK, self.rows)):
                span = next(s for s in reversed(self.spans) if s.row <= row)
                pixels[row] = self._cut(span.images.pixels[span.start + row - span.row])
        except BaseException as error:
            claim.set_exception(error)
        else:
            claim.set_result(None)
        return claim
