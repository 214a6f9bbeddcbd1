"""Records on their way to ledgers, several passes a write."""

from __future__ import annotations

import time

import numpy as np

from imagenetv2.evaluation.running.ledger import Ledger, Records

IMAGES, SECONDS = 256, 1.0
"""What a killed run may lose of a ledger: records of so many images, or of so long."""


class Writer:
    """Appends records in their order; whoever stops calls ``flush``."""

    def __init__(self) -> None:
        self._ledger: Ledger | None = None
        self._waiting: list[Records] = []
        self._images, self._last = 0, time.monotonic()

    def add(self, ledger: Ledger, records: Records) -> None:
        """Records behind those that the ledger was given before. Raises OSError where the disk is full."""
        if ledger is not self._ledger:
            self.flush()
            self._ledger = ledger
        self._waiting.append(records)
        self._images += len(records)
        if self._images >= IMAGES or time.monotonic() - self._last >= SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting, self._images = self._waiting, [], 0
        self._last = time.monotonic()
        if waiting and self._ledger is not None:
            self._ledger.append(np.concatenate(waiting))
