"""Where distances are computed."""

from __future__ import annotations

import ctypes

from imagenetv2.errors import InputError


def chosen(wanted: str) -> str:
    """``cpu`` or ``cuda`` for ``auto``, ``cpu`` or ``cuda``. Raises InputError for a GPU that is not there."""
    if wanted == "cpu":
        return "cpu"
    if available():
        return "cuda"
    if wanted == "cuda":
        raise InputError(
            "neighbours.search.device is cuda, and PyTorch finds no NVIDIA GPU here; set it to cpu or auto, or "
            "install the driver and a PyTorch built for CUDA."
        )
    return "cpu"


def available() -> bool:
    """Whether PyTorch can use an NVIDIA GPU; PyTorch is imported only where there is a driver for one."""
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    import torch

    return bool(torch.cuda.is_available())


def gpu_memory() -> int:
    """Bytes of a GPU that a search may fill: most of what is free."""
    import torch

    free, _ = torch.cuda.mem_get_info()
    return int(0.8 * free)
