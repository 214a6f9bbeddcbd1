"""What errors of models say, and running out of memory in all the ways that PyTorch and numpy say it."""

from __future__ import annotations

import gc
import sys

WORDS = ("can't allocate memory", "out of memory", "cannot allocate memory", "failed to allocate memory")


def out_of_memory(error: BaseException) -> bool:
    """Whether that is what an error says."""
    if isinstance(error, MemoryError):
        return True
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(error, torch.OutOfMemoryError):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error).lower() for word in WORDS)


def release() -> None:
    """Give what nobody uses back to the device."""
    gc.collect()
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()


def free_share(device: str) -> float:
    """Share of a device's memory that is free; 1 where nobody knows."""
    torch = sys.modules.get("torch")
    if torch is None or not device.startswith("cuda") or not torch.cuda.is_available():
        return 1.0
    free, whole = torch.cuda.mem_get_info(device)
    return float(free) / float(whole)
