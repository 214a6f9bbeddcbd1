"""Random generators: each stage and class draws its own stream."""

from __future__ import annotations

import hashlib

import numpy as np


def generator(seed: int, *names: str | int) -> np.random.Generator:
    """A PCG64 generator for that seed, stage, class, …; no two lists of names share a stream."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))


def uniform(seed: int, *names: str | int) -> float:
    """One number in [0, 1) that depends on nothing but its arguments: for decisions made in any order."""
    digest = hashlib.sha256("\x1f".join(map(str, (seed, *names))).encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2.0**64
