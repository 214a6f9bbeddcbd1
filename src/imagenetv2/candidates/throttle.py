"""A limit on calls a second that holds across the threads and processes of this machine."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass
from pathlib import Path

from imagenetv2.candidates.patience import Clock


@dataclass(frozen=True)
class Throttle:
    """Gives out evenly spaced slots; the next free one is kept in ``ledger``, so that all who share it keep the rate."""

    ledger: Path
    per_second: float
    clock: Clock

    def wait(self) -> None:
        """Sleep until a slot of one's own has come."""
        now = self.clock.now()
        slot = self._reserve(now)
        if slot > now:
            self.clock.sleep(slot - now)

    def _reserve(self, now: float) -> float:
        with self.ledger.open("a+") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            free = _number(file.read())
            # A slot far ahead was left by another clock: it can't be a queue that anyone waits in.
            slot = now if free > now + 3600 else max(now, free)
            file.truncate(0)
            file.write(repr(slot + 1.0 / self.per_second))
        return slot


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
