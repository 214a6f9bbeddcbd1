"""PyTorch run so that the same input gives the same output."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def reproducible(threads: int) -> Iterator[None]:
    """Deterministic algorithms, full float32 (no TF32), no choice of algorithm by timing; restored afterwards."""
    cudnn, matmul = torch.backends.cudnn, torch.backends.cuda.matmul
    before = (
        torch.get_num_threads(),
        torch.are_deterministic_algorithms_enabled(),
        (cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32),
    )
    # cuBLAS reads this when its first handle is made; without it deterministic algorithms are refused.
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    torch.set_num_threads(threads)
    torch.use_deterministic_algorithms(True)
    cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = False, True, False, False
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        torch.use_deterministic_algorithms(before[1])
        cudnn.benchmark, cudnn.deterministic, cudnn.allow_tf32, matmul.allow_tf32 = before[2]
