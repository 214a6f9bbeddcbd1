"""One device at work: passes of one model after the other, whose records are written in order."""

from __future__ import annotations

from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

from imagenetv2.errors import InputError
from imagenetv2.evaluation.running.blocks import Gate, StoppedError
from imagenetv2.evaluation.running.ledger import Records
from imagenetv2.evaluation.running.loader import Loader
from imagenetv2.evaluation.running.passes import Passes
from imagenetv2.evaluation.running.records import checked, records
from imagenetv2.evaluation.running.schedule import Schedule
from imagenetv2.evaluation.running.shown import Shown
from imagenetv2.evaluation.running.work import Item, Part
from imagenetv2.evaluation.running.writer import Writer
from imagenetv2.networks.reproducible import one_thread


@dataclass
class Shared:
    """What all lanes have in common.

    Attributes:
        schedule: who does what next.
        gate: where all who wait for memory stand, and which says when the run ends early.
        logits: whether all outputs are kept.
        shown: what is shown of the run.
        failures: why a model failed, by its name.
    """

    schedule: Schedule
    gate: Gate
    logits: bool
    shown: Shown
    failures: dict[str, InputError] = field(default_factory=dict)


@dataclass(frozen=True)
class Pass:
    """Some images of a part, to be looked at in one go."""

    item: Item
    part: Part
    start: int
    images: int


class Lane:
    """One device.

    Args:
        number: of the lane, for the schedule.
        shared: see there.
        loader: of this device.
        passes: of this device.
        workers: passes at once: as many as cores on a CPU; on a GPU a few, so that some are copied and counted while
            the other one computes.
    """

    def __init__(self, number: int, shared: Shared, loader: Loader, passes: Passes, workers: int) -> None:
        self._number, self._shared, self._loader, self._passes = number, shared, loader, passes
        self._workers, self._writer = workers, Writer()
        self._open: deque[Item] = deque()
        self._waiting: deque[tuple[Pass, Future[Records | InputError]]] = deque()

    def run(self) -> None:
        """All items of this lane, until the run ends. Raises InputError of an image, and OSError of a ledger."""
        with ThreadPoolExecutor(self._workers, initializer=one_thread) as pool:
            try:
                self._run(pool)
            except BaseException:
                # Before the pool is waited for, whose threads may wait for blocks that nobody finishes now.
                self._shared.gate.stop()
                raise
            finally:
                self._loader.close()

    def _run(self, pool: ThreadPoolExecutor) -> None:
        try:
            self._look(pool)
        except StoppedError:
            return
        finally:
            self._writer.flush()

    def _look(self, pool: ThreadPoolExecutor) -> None:
        """A model is loaded while the one before it runs."""
        coming = self._shared.schedule.next(self._number)
        while (item := coming) is not None:
            self._open.append(item)
            coming = self._shared.schedule.next(self._number)
            if not self._failed(item) and self._loaded(item):
                if coming is not None and not self._failed(coming):
                    self._loader.begin(coming.model)
                self._submit(pool, item)
        self._drain(None)

    def _loaded(self, item: Item) -> bool:
        try:
            self._loader.get(item, lambda: self._drain(item))
        except InputError as error:
            self._shared.failures[item.model.name] = error
        return not self._failed(item)

    def _submit(self, pool: ThreadPoolExecutor, item: Item) -> None:
        for part in item.parts:
            start = part.start
            while start < part.stop and not self._failed(item):
                images = min(self._passes.size(item.model.name), part.stop - start)
                step = Pass(item, part, start, images)
                self._waiting.append((step, pool.submit(self._work, step)))
                start += images
                while len(self._waiting) >= 2 * self._workers:
                    self._take()

    def _drain(self, item: Item | None) -> None:
        """Wait for all passes, which are of items before ``item``, and have done with those."""
        while self._waiting:
            self._take()
        self._close_until(item)

    def _take(self) -> None:
        """Wait for the oldest pass. Raises StoppedError where it was not run, as the run ends."""
        step, future = self._waiting.popleft()
        self._close_until(step.item)
        if self._failed(step.item):
            # Its records would stand in the ledger at the place of those that failed.
            future.exception()
            return
        found = future.result()
        if isinstance(found, InputError):
            self._shared.failures[step.item.model.name] = found
        else:
            self._keep(step, found)

    def _failed(self, item: Item) -> bool:
        return item.model.name in self._shared.failures

    def _work(self, step: Pass) -> Records | InputError:
        """Records; or why the model fails. Raises InputError of an image, and StoppedError where nobody waits."""
        if self._shared.gate.stopped or self._failed(step.item):
            raise StoppedError
        row = step.part.row + step.start - step.part.start
        batch = step.item.block.take(row, row + step.images)
        task = step.part.progress.task
        try:
            outputs = self._passes.outputs(task.model.name, self._loader.loaded(task.model), batch)
            return records(
                task, checked(task, outputs, len(batch), step.start), step.start, self._shared.logits
            )
        except InputError as error:
            return error

    def _keep(self, step: Pass, found: Records) -> None:
        progress = step.part.progress
        progress.ledger.made_with(self._passes.size(step.item.model.name))
        self._writer.add(progress.ledger, found)
        progress.seen += len(found)
        progress.right += int((found["rank"] == 0).sum())
        self._shared.shown.step(progress, len(found))

    def _close_until(self, item: Item | None) -> None:
        """Items before ``item`` are done with, of which all passes have come."""
        while self._open and self._open[0] is not item:
            done = self._open.popleft()
            self._writer.flush()
            again = self._shared.schedule.finish(done)
            self._loader.done(done, again and not self._failed(done))
