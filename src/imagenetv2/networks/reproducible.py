"""PyTorch run so that the same input gives the same output, whoever else computes, or as fast as it can."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def numerics(mode: str = "reference") -> Iterator[None]:
    """What models run under: one thread a call of any library, and the mode's numerics; restored afterwards."""
    from threadpoolctl import threadpool_limits

    with (reproducible if mode == "reference" else fast_numerics)(1), threadpool_limits(1):
        yield


def one_thread() -> None:
    """To be called first in each thread that computes: OpenMP counts threads for each caller by itself."""
    import torch
    from threadpoolctl import threadpool_limits

    torch.set_num_threads(1)
    threadpool_limits(1)


@contextmanager
def reproducible(threads: int) -> Iterator[None]:
    """Deterministic algorithms, full float32 (no TF32), no choice of algorithm by timing; restored afterwards."""
    # cuBLAS reads this when its first handle is made; without it deterministic algorithms are refused.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    with _numerics(threads, True):
        yield


@contextmanager
def fast_numerics(threads: int) -> Iterator[None]:
    """TF32 where float32 is left, and for each shape the algorithm that is the fastest; restored afterwards."""
    with _numerics(threads, False):
        yield


@contextmanager
def _numerics(threads: int, same: bool) -> Iterator[None]:
    import torch

    filling: Any = torch.utils.deterministic
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = (
        torch.get_num_threads(),
        torch.get_deterministic_debug_mode(),
        (cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32),
        filling.fill_uninitialized_memory,
    )
    torch.set_num_threads(threads)
    # ``use_deterministic_algorithms`` does the same, and imports the compiler, which takes seconds.
    torch.set_deterministic_debug_mode("error" if same else "default")
    cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = (
        not same,
        same,
        not same,
        not same,
    )
    # Filling all new memory takes a tenth of a small network's time, and networks read only what they wrote.
    filling.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.set_deterministic_debug_mode(before[1])
        cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = before[2]
        filling.fill_uninitialized_memory = before[3]
