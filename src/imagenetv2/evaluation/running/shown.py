"""What is shown of a run: one bar over all models and images, or off a terminal a line a minute."""

from __future__ import annotations

import logging
import sys
import threading
import time
from datetime import timedelta

from imagenetv2.evaluation.running.work import Progress
from imagenetv2.progress import Bar

SECONDS = 60.0
"""Between lines."""


class Shown:
    """Moves a bar from several threads; where standard error is no terminal there is none, so it writes lines.

    Args:
        bar: the bar.
        steps: how many there are: images, times models that look at them.
        log: for the lines.
    """

    def __init__(self, bar: Bar, steps: int, log: logging.Logger) -> None:
        self._bar, self._steps, self._log = bar, steps, log
        self._lock, self._lines = threading.Lock(), not sys.stderr.isatty()
        self._done = 0
        self._start = self._last = time.monotonic()

    def step(self, progress: Progress, images: int) -> None:
        """A model has seen so many more images of a set."""
        share = progress.right / max(1, progress.seen)
        what = f"{progress.task.model.name} {100 * share:.1f}% right"
        with self._lock:
            self._bar.set_postfix_str(what, refresh=False)
            self._bar.update(images)
            self._done += images
            now = time.monotonic()
            if self._lines and now - self._last >= SECONDS:
                self._last = now
                rate = self._done / (now - self._start)
                left = timedelta(seconds=round((self._steps - self._done) / rate))
                self._log.info(
                    "%d of %d steps, %.1f images a second, %s left; %s",
                    self._done,
                    self._steps,
                    rate,
                    left,
                    what,
                )
