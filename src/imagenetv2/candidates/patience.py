"""Trying again: which failures may pass, how long to wait, and when to leave off."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import numpy as np

R = TypeVar("R")


class Clock(Protocol):
    """Time and sleep; tests bring their own."""

    def now(self) -> float:
        """Seconds since 1970."""

    def sleep(self, seconds: float) -> None:
        """Wait."""


class SystemClock:
    """The machine's clock."""

    def now(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Wait."""
        time.sleep(seconds)


class TransientError(Exception):
    """A failure that may pass; ``after`` is how many seconds the other side asked us to wait."""

    def __init__(self, message: str, after: float | None = None, status: int | None = None) -> None:
        super().__init__(message)
        self.after, self.status = after, status


@dataclass(frozen=True)
class Backoff:
    """Exponential waits with jitter: before attempt k + 1, half to all of ``base`` · 2^k, up to ``ceiling`` seconds.

    What the other side asks for (Retry-After) is the least that is waited, up to ``longest`` seconds.
    """

    attempts: int
    base: float = 0.5
    ceiling: float = 60.0
    longest: float = 600.0

    def wait(self, attempt: int, after: float | None, generator: np.random.Generator) -> float:
        """Seconds to wait after the failed ``attempt`` (from 0)."""
        delay = min(self.ceiling, self.base * 2.0**attempt) * generator.uniform(0.5, 1.0)
        return delay if after is None else max(delay, min(after, self.longest))

    def retry(self, work: Callable[[], R], generator: np.random.Generator, clock: Clock) -> R:
        """``work()``, again after each TransientError; the last one is raised."""
        for attempt in range(self.attempts - 1):
            try:
                return work()
            except TransientError as error:
                clock.sleep(self.wait(attempt, error.after, generator))
        return work()


def retry_after(header: str | None, now: float) -> float | None:
    """Seconds that a Retry-After header asks for (a number or an HTTP date); None where it says nothing."""
    from email.utils import parsedate_to_datetime

    if header is None:
        return None
    if header.strip().isdecimal():
        return float(header)
    try:
        return max(0.0, parsedate_to_datetime(header).timestamp() - now)
    except (ValueError, TypeError):
        return None
