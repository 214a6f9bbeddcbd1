"""Images in a device's memory: those in use stay there, others are uploaded when they are asked for.

Everything here runs on CPU tensors too. Work is queued on the default stream and nothing waits for it, so what is
queued while images are held sees them, even if they are replaced right afterwards.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from imagenetv2.duplicates.engine import Indices
from imagenetv2.pooling import slices

LOG = logging.getLogger(__name__)

Derive = Callable[[torch.Tensor], Sequence[torch.Tensor]]
"""From images × … to the tensors that are kept of them, images first."""

PIECE = 2**26
"""Bytes of an upload: the next piece is read while one is on its way."""

FEW = 8
"""Calls for which compiling, which takes some ten seconds, does not pay."""


class Resident:
    """The images used last, as many as fit into a number of bytes.

    Attributes:
        capacity: so many different images can be held at once.
        bytes: of one image, all that is kept of it.
    """

    def __init__(
        self, images: npt.NDArray[Any], derive: Derive, device: str | torch.device, memory: int
    ) -> None:
        """``images`` lie in memory or in a file that is mapped to it, images first; at least one."""
        self._images, self._derive, self._device = images, derive, torch.device(device)
        example = derive(upload(images, np.zeros(1, np.int64), self._device))
        self.bytes = sum(part.nbytes for part in example)
        self.capacity = max(2, min(len(images), memory // self.bytes))
        self._kept = [part.new_empty((self.capacity, *part.shape[1:])) for part in example]
        self._slot = np.full(len(images), -1, np.int64)
        self._image = np.full(self.capacity, -1, np.int64)
        self._used = np.zeros(self.capacity, np.int64)
        self._clock = 0
        self._lock = Lock()

    @contextmanager
    def held(self, *indices: Indices) -> Iterator[tuple[list[torch.Tensor], list[torch.Tensor]]]:
        """All that is kept, and for each array of indices the places of its images therein.

        No image is replaced before the end. Raises ValueError where there are more than ``capacity``.
        """
        with self._lock:
            self._bring(np.unique(np.concatenate(indices)))
            yield self._kept, [on(self._slot[some], self._device) for some in indices]

    def tiles(self, rows: Indices, columns: Indices, size: int) -> Iterator[tuple[slice, slice]]:
        """Slices of both that can be held together, of at most that size."""
        size = min(size, self.capacity // 2)
        for down in slices(len(rows), size):
            for across in slices(len(columns), size):
                yield down, across

    def _bring(self, wanted: Indices) -> None:
        if len(wanted) > self.capacity:
            raise ValueError(f"{len(wanted)} images where {self.capacity} fit")
        self._clock += 1
        slots = self._slot[wanted]
        self._used[slots[slots >= 0]] = self._clock
        missing = wanted[slots < 0]
        if len(missing) == 0:
            return
        oldest = np.argpartition(self._used, len(missing) - 1)[: len(missing)]
        step = max(1, min(PIECE, self.capacity * self.bytes // 16) // self.bytes)
        for start in range(0, len(missing), step):
            self._replace(oldest[start : start + step], missing[start : start + step])

    def _replace(self, slots: Indices, images: Indices) -> None:
        before = self._image[slots]
        self._slot[before[before >= 0]] = -1
        self._image[slots] = -1
        places = on(slots, self._device)
        for kept, new in zip(
            self._kept, self._derive(upload(self._images, images, self._device)), strict=True
        ):
            kept[places] = new
        self._slot[images], self._image[slots], self._used[slots] = slots, images, self._clock


class Fused:
    """A function of tensors that a GPU runs compiled once it is called often; as it is where that fails."""

    def __init__(self, function: Callable[..., Any], device: torch.device) -> None:
        self._plain = function
        self._fused = torch.compile(function, dynamic=True) if device.type == "cuda" else None
        self._calls = 0
        self._lock = Lock()

    def __call__(self, *given: Any) -> Any:
        """What the function returns."""
        with self._lock:
            self._calls += 1
            if self._fused is None or self._calls <= FEW:
                return self._plain(*given)
            try:
                return self._fused(*given)
            except torch.OutOfMemoryError:
                raise
            except Exception as error:
                LOG.warning("slower, without torch.compile: %s", str(error).partition("\n")[0])
                self._fused = None
                return self._plain(*given)


def upload(images: npt.NDArray[Any], which: Indices, device: torch.device) -> torch.Tensor:
    """Some of the images on the device."""
    kind = torch.from_numpy(np.empty(0, images.dtype)).dtype
    shape = (len(which), *images.shape[1:])
    # A copy from pinned memory is queued; PyTorch frees that memory only once the copy is done.
    staged = torch.empty(shape, dtype=kind, pin_memory=device.type == "cuda")
    np.take(images, which, axis=0, out=staged.numpy(), mode="clip")
    return staged.to(device, non_blocking=True)


def on(values: npt.NDArray[Any], device: torch.device) -> torch.Tensor:
    """An array on the device."""
    return upload(values, np.arange(len(values)), device)


def home(*values: torch.Tensor) -> list[npt.NDArray[Any]]:
    """Arrays of what is on the device; waits for nothing that is queued later."""
    out = [torch.empty(v.shape, dtype=v.dtype, pin_memory=v.is_cuda) for v in values]
    for there, value in zip(out, values, strict=True):
        there.copy_(value, non_blocking=True)
    if any(v.is_cuda for v in values):
        done = torch.cuda.Event()  # type: ignore[no-untyped-call]
        done.record(torch.cuda.current_stream(values[0].device))
        done.synchronize()
    return [there.numpy() for there in out]


def side(memory: int, image: int, pair: int) -> int:
    """Images along both sides of a tile that takes so much memory, at so many bytes an image and a pair."""
    return max(1, int(min(memory / 4 / image, (memory / 2 / pair) ** 0.5)))


def check_single_precision(device: torch.device) -> None:
    """Raise RuntimeError where products of float32 matrices round their factors to fewer digits."""
    values = torch.full((256, 256), 1 + 2.0**-20, device=device)
    if not torch.equal(values @ torch.eye(256, device=device), values):
        raise RuntimeError(
            "matrix products in float32 are rounded to TF32 or bfloat16: unset TORCH_ALLOW_TF32_CUBLAS_OVERRIDE "
            "and torch.set_float32_matmul_precision"
        )
