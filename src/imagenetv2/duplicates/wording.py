"""Distances in words and on scales that people can judge."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

ORIGIN_NAMES = {"train": "training", "val": "validation", "test": "test", "candidates": "candidate"}
"""Where an image comes from."""


def distance(value: float) -> str:
    """A distance with thousands separated: 1,234,567; 0.0123."""
    if float(value).is_integer() and abs(value) < 1e15:
        return f"{int(value):,}"
    return f"{value:,.1f}" if value >= 1000 else f"{value:.4g}"


def scaled(metric: str, side: int, values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Distances on the metric's own scale (``scale_name``)."""
    if metric == "l2":
        return np.sqrt(values / (3 * side * side))
    return np.sqrt(values) if metric == "fc7" else values


def scale_name(metric: str) -> str:
    """What ``scaled`` gives."""
    names = {"l2": "difference of a value, root mean square, grey levels", "ssim": "(1 − SSIM) / 2"}
    return names.get(metric, "distance")


def also(metric: str, side: int, value: float) -> str:
    """The distance once more, as people know it; empty where there is nothing to add."""
    if metric == "l2":
        return (
            "no difference"
            if value == 0
            else f"{float(scaled(metric, side, np.array([value]))[0]):.2f} grey levels RMS"
        )
    return f"SSIM {1 - 2 * value:.4f}" if metric == "ssim" else ""
