"""A few images in which every metric finds the same near-duplicates."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.unit.duplicates_inputs import Image, inputs


def blotches(number: int, width: int = 40) -> Image:
    """An image of coloured squares, another for every number."""
    rng = np.random.default_rng(number)
    return np.kron(rng.integers(0, 256, (5, width // 8, 3)), np.ones((8, 8, 1))).astype(np.uint8)


def brighter(image: Image, levels: int) -> Image:
    """The image with so many levels added."""
    return np.clip(image.astype(int) + levels, 0, 255).astype(np.uint8)


def world() -> dict[str, dict[str, Any]]:
    """b is brighter than the training image t1; v has the pixels of the validation image v; d2 is a copy of d1."""
    one = blotches(1)
    return inputs(
        [("t1", "train", "n1", one), ("t2", "train", "n2", blotches(2)), ("v", "val", "n1", blotches(3, 48))],
        [
            ("a", "n1", blotches(4)),
            ("b", "n1", brighter(one, 12)),
            ("b", "n2", brighter(one, 12)),
            ("v", "n1", blotches(3, 48)),
            ("d1", "n2", blotches(5)),
            ("d2", "n2", brighter(blotches(5), 3)),
        ],
        {"n1": ["n2"], "n2": ["n1"]},
    )
