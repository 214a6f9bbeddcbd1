"""GPUs that a job of the workflow asks for."""

from __future__ import annotations

from pathlib import Path

DEVICES = Path("/dev")


def gpus(device: str, elsewhere: bool, devices: Path = DEVICES) -> int:
    """GPUs that a job takes, for Snakemake to count: one, where there may be one, else none.

    Where there is none, jobs may run side by side. ``device`` is the configuration's: auto, cpu or cuda. ``elsewhere``:
    the job runs on another machine than this one, whose ``devices`` say nothing then.
    """
    return int(device != "cpu" and (elsewhere or any(devices.glob("nvidia[0-9]*"))))
