"""Time that work takes on a device which only queues what it is given."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import torch


def timed(work: Callable[[], object], device: torch.device, times: int) -> float:
    """Median of some runs after one that compiles, uploads and chooses algorithms, in seconds."""
    work()
    took = []
    for _ in range(times):
        wait(device)
        start = time.perf_counter()
        work()
        wait(device)
        took.append(time.perf_counter() - start)
    return float(np.median(took))


def wait(device: torch.device) -> None:
    """Until all that is queued is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
