"""Run tasks: decode each image once a preprocessing, and have all models with that preprocessing look at it."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.running.blocks import CHUNK, Gate, StoppedError
from imagenetv2.evaluation.running.lane import Lane, Shared
from imagenetv2.evaluation.running.loader import Loader
from imagenetv2.evaluation.running.passes import CPU_PASS, Passes
from imagenetv2.evaluation.running.schedule import Schedule
from imagenetv2.evaluation.running.shown import Shown
from imagenetv2.evaluation.running.tasks import Resources, Task
from imagenetv2.evaluation.running.work import Item, items
from imagenetv2.images import silent
from imagenetv2.networks.reproducible import numerics, one_thread
from imagenetv2.progress import bar

GPU_PASSES = 3
"""Passes at once on a GPU: while one computes, the next is copied there, and the last turned into records."""


def run(tasks: Sequence[Task], resources: Resources, log: logging.Logger) -> dict[str, InputError]:
    """Fill the ledger of every task.

    Args:
        tasks: any models on any sets.
        resources: what may be used; results on a CPU do not depend on it.
        log: for counts, and for what failed.

    Returns:
        Why a model failed, by its name; its tasks are left unfinished, others are not touched by it. How many images
        a pass had is in ``Ledger.batch``.

    Raises:
        InputError: an image cannot be decoded; a ledger is another set's, or another run writes it.
        ValueError: two tasks have one ledger.
        OSError: a ledger cannot be written, the disk being full.
    """
    if len({task.ledger for task in tasks}) < len(tasks):
        raise ValueError("two tasks have one ledger")
    on_cpu = all(device.startswith("cpu") for device in resources.devices)
    gate = Gate()
    blocks = items(tasks, resources, CPU_PASS if on_cpu else resources.batch, gate)
    steps = sum(item.images for block in blocks for item in block)
    if not steps:
        return {}
    images = sum(block[0].block.rows for block in blocks)
    log.info("%d images are decoded, in %d blocks, for %d steps of models", images, len(blocks), steps)
    with silent(), numerics(resources.mode), bar("evaluation", steps, "image") as moved:
        schedule = Schedule(blocks, len(resources.devices))
        shared = Shared(schedule, gate, resources.logits, Shown(moved, steps, log))
        lanes = [_lane(number, shared, resources, log) for number in range(len(resources.devices))]
        _run(lanes, gate, [] if on_cpu else blocks, resources.cores)
    return dict(shared.failures)


def _lane(number: int, shared: Shared, resources: Resources, log: logging.Logger) -> Lane:
    device = resources.devices[number]
    loader = Loader(Compute(device, resources.mode, resources.compile))
    if device.startswith("cpu"):
        passes = Passes(CPU_PASS, loader.forget, log, halved=False, filled=True)
        return Lane(number, shared, loader, passes, resources.cores)
    # For every other size a network would be compiled again, or algorithms timed again.
    filled = resources.mode != "reference"
    passes = Passes(resources.batch, loader.forget, log, halved=True, filled=filled)
    return Lane(number, shared, loader, passes, GPU_PASSES)


def _run(lanes: Sequence[Lane], gate: Gate, ahead: Sequence[Sequence[Item]], cores: int) -> None:
    """Lanes in threads, so that a signal, which the main thread gets, never interrupts a write."""
    with ExitStack() as stack:
        if ahead:
            stack.enter_context(_decoding(ahead, cores, gate))
        pool = stack.enter_context(ThreadPoolExecutor(len(lanes)))
        try:
            futures = [pool.submit(lane.run) for lane in lanes]
            wait(futures, return_when=FIRST_EXCEPTION)
        finally:
            gate.stop()
    for future in futures:
        future.result()


@contextmanager
def _decoding(blocks: Sequence[Sequence[Item]], cores: int, gate: Gate) -> Iterator[None]:
    """Threads that decode all blocks in order, as far ahead as memory allows."""
    chunks = (
        (items[0].block, first, min(first + CHUNK, items[0].block.rows))
        for items in blocks
        for first in range(0, items[0].block.rows, CHUNK)
    )
    lock = threading.Lock()

    def decode() -> None:
        while True:
            with lock:
                chunk = next(chunks, None)
            if chunk is None:
                return
            try:
                chunk[0].prepare(chunk[1], chunk[2])
            except StoppedError:
                return

    with ThreadPoolExecutor(cores, initializer=one_thread) as pool:
        for _ in range(cores):
            pool.submit(decode)
        try:
            yield
        finally:
            gate.stop()
