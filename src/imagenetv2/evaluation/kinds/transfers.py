"""Batches to a GPU and outputs from it, while the GPU computes something else."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Any

import torch

cuda: Any = torch.cuda


class Transfers:
    """What two threads need to keep a GPU busy: one computes there while the other one's batch is copied.

    Args:
        device: the GPU.
    """

    def __init__(self, device: torch.device) -> None:
        self._device, self._upload, self._turn = device, cuda.Stream(device), Lock()

    def __call__(self, run: Callable[[torch.Tensor], torch.Tensor], batch: torch.Tensor) -> torch.Tensor:
        """``run`` of a batch, both on the CPU; it is given the batch on the GPU."""
        with cuda.device(self._device):
            with cuda.stream(self._upload):
                moved = batch.pin_memory().to(self._device, non_blocking=True)
            # In turns, lest the work of two batches mixes and the outputs of both come at the end of both.
            with self._turn:
                computing = cuda.current_stream()
                computing.wait_stream(self._upload)
                moved.record_stream(computing)
                found = run(moved).to("cpu", non_blocking=True)
                done = cuda.Event(blocking=True)
                done.record(computing)
            done.synchronize()
        return found
