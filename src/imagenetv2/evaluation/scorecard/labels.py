"""Names beside a plot, none on another: each as near to its point's height as the others let it be."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def spread(wanted: Sequence[float], gap: float, low: float, high: float) -> Floats:
    """Places at least ``gap`` apart that are nearest to those wanted, by the sum of squared distances.

    This is isotonic regression of the places less their number times the gap (pool adjacent violators), shifted into
    [low, high]; where they do not fit, the gap is what fits.

    Args:
        wanted: heights, any order.
        gap: least distance of two.
        low, high: ends within which all places lie.

    Returns:
        float64, in the order of ``wanted``.
    """
    heights = np.asarray(wanted, np.float64)
    if heights.size < 2:
        return np.clip(heights, low, high)
    gap = min(gap, (high - low) / (heights.size - 1))
    order = np.argsort(heights, kind="stable")
    steps = gap * np.arange(heights.size)
    level = np.clip(_rising(heights[order] - steps), low, high - steps[-1])
    out = np.empty(heights.size)
    out[order] = level + steps
    return out


def _rising(values: Floats) -> Floats:
    """The rising sequence nearest to ``values``."""
    blocks: list[tuple[float, int]] = []
    for value in values.tolist():
        mean, size = value, 1
        while blocks and blocks[-1][0] > mean:
            other, count = blocks.pop()
            mean, size = (mean * size + other * count) / (size + count), size + count
        blocks.append((mean, size))
    return np.repeat([mean for mean, _ in blocks], [size for _, size in blocks])


def shortened(name: str, longest: int) -> str:
    """A name cut in its middle where it is longer: beginning and end tell models apart."""
    if len(name) <= longest:
        return name
    end = (longest - 1) // 2
    return f"{name[: longest - 1 - end]}…{name[len(name) - end :]}"
