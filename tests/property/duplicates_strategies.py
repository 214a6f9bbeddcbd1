"""Hostile sets of images, and ways to cut a search up."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from tests.unit.duplicates_pixels import Pixels

SIZE = st.integers(1, 9)


def varied(draw: st.DrawFn, known: Pixels, most: int, noise: int) -> Pixels:
    """Of ``known`` images up to ``most``, near ties and copies of one another, in any order; ``noise`` in grey levels."""
    side = known.shape[1]
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    images = known[rng.integers(len(known), size=draw(st.integers(1, most)))].astype(np.int64)
    for image in images:
        kind = draw(st.sampled_from(["as it is", "one value", "a level", "noise", "part"]))
        if kind == "one value":
            image[tuple(rng.integers(side, size=2))] += rng.choice([-1, 1])
        elif kind == "a level":
            image += rng.integers(-2, 3)
        elif kind == "noise":
            image += rng.integers(-noise, noise + 1, image.shape)
        elif kind == "part":
            image[: side // 2] = rng.integers(0, 256)
    return np.clip(images, 0, 255).astype(np.uint8)


@st.composite
def plans(draw: st.DrawFn) -> dict[str, object]:
    """Fields of ``search.Plan`` that change no result."""
    return {
        "block": draw(SIZE),
        "shard": draw(SIZE),
        "tile": (draw(SIZE), draw(SIZE)),
        "pairs": draw(SIZE),
        "cache": draw(st.sampled_from([0, 2**28])),
        "cores": draw(st.integers(1, 3)),
    }
