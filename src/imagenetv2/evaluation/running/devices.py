"""Which devices there are."""

from __future__ import annotations

from typing import Literal

from imagenetv2.errors import InputError


def devices(wanted: Literal["auto", "cpu", "cuda"]) -> tuple[str, ...]:
    """Devices of PyTorch's: all GPUs, or the CPU. Raises InputError where cuda is wanted and there is none."""
    if wanted == "cpu":
        return ("cpu",)
    import torch

    found = tuple(f"cuda:{number}" for number in range(torch.cuda.device_count()))
    if wanted == "cuda" and not found:
        raise InputError("evaluation.device is cuda but PyTorch finds no GPU; set it to auto or cpu.")
    return found or ("cpu",)


def device_name(device: str) -> str:
    """What a device is called: cpu, or the model of the GPU."""
    if device == "cpu":
        return device
    import torch

    return str(torch.cuda.get_device_name(device))
