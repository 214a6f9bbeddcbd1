"""Random draws that are the same on every machine: uniform numbers, their sums, and tabled directions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

T = TypeVar("T")

DIRECTIONS = tuple(
    (round(math.cos(k * math.pi / 180), 6), round(math.sin(k * math.pi / 180), 6)) for k in range(360)
)
"""Cosine and sine of each whole degree; rounded, so that no library's last digit matters."""


def between(rng: np.random.Generator, low: float, high: float) -> float:
    """Uniform on [low, high)."""
    return low + (high - low) * float(rng.random())


def pick(rng: np.random.Generator, items: Sequence[T]) -> T:
    """One of ``items``, each equally likely."""
    return items[int(rng.integers(len(items)))]


def happens(rng: np.random.Generator, probability: float) -> bool:
    """True with that probability."""
    return float(rng.random()) < probability


def degrees(rng: np.random.Generator, most: int) -> tuple[float, float]:
    """Cosine and sine of an angle of at most ``most`` whole degrees to either side."""
    return DIRECTIONS[int(rng.integers(-most, most + 1)) % 360]


def jittered(rng: np.random.Generator, colour: Sequence[float], amount: float) -> tuple[float, float, float]:
    """A colour near the given one."""
    r, g, b = (min(1.0, max(0.0, c + between(rng, -amount, amount))) for c in colour)
    return r, g, b


def bell(rng: np.random.Generator, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
    """Bell-shaped numbers of mean 0 and standard deviation 1: scaled sums of three random bytes."""
    count = math.prod(shape)
    whole = np.frombuffer(rng.bytes(3 * count), np.uint8).reshape(3, *shape)
    total: npt.NDArray[np.float32] = (
        np.add(whole[0], whole[1], dtype=np.uint16) + whole[2] - np.float32(382.5)
    )
    return total * np.float32(1 / 128)
