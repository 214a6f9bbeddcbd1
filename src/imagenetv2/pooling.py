"""Work spread over threads or processes, with results in the order of the items and a bound on what waits."""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from itertools import islice
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def processes(cores: int) -> Iterator[Executor | None]:
    """A pool of processes; None where one core is allowed, which means: work here.

    Processes are spawned, since forking one that has threads can hang.
    """
    if cores <= 1:
        yield None
        return
    with _given_up(ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn"))) as pool:
        yield pool


@contextmanager
def threads(cores: int) -> Iterator[Executor | None]:
    """A pool of threads; None where one core is allowed, which means: work here."""
    if cores <= 1:
        yield None
        return
    with _given_up(ThreadPoolExecutor(cores)) as pool:
        yield pool


@contextmanager
def _given_up(executor: Executor) -> Iterator[Executor]:
    """The pool; after an error, what waits in it is not begun."""
    with executor as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def in_order(pool: Executor | None, work: Callable[[T], R], items: Iterable[T], ahead: int) -> Iterator[R]:
    """``work`` of each item, in the order of the items; at most ``ahead`` are handed out at once."""
    if pool is None:
        yield from map(work, items)
        return
    source = iter(items)
    waiting: deque[Future[R]] = deque(pool.submit(work, item) for item in islice(source, ahead))
    try:
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(pool.submit(work, item) for item in islice(source, 1))
            yield result
    finally:
        for future in waiting:
            future.cancel()


def threaded(work: Callable[[T], R], items: Iterable[T], cores: int) -> Iterator[R]:
    """``in_order`` on threads of its own, two items a thread at once."""
    with threads(cores) as pool:
        yield from in_order(pool, work, items, ahead=2 * cores)


def slices(length: int, size: int) -> Iterator[slice]:
    """Slices of that size, and of at least 1, the last maybe shorter."""
    size = max(1, size)
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def chunks(items: Iterable[T], size: int) -> Iterator[tuple[T, ...]]:
    """The items in tuples of that size, the last maybe shorter."""
    source = iter(items)
    while chunk := tuple(islice(source, size)):
        yield chunk
