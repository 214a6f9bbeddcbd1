"""l2: squared Euclidean distance of pixels, exact for every pair.

The usual expansion |x|² + |y|² − 2xy is exact here: pixels are centred to −128 … 127, so that a sum of 1,024
products stays within 2^24 and is exact in float32 in whatever order it is added; blocks of 1,024 values are added
up in float64, exact up to 2^53. So the result depends neither on tiles nor on threads nor on the linear algebra
library. Rounded expansions lose near-duplicates: see facebookresearch/faiss#297.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates import squashed, tiles
from imagenetv2.duplicates.neighbours import Distances, Nearest, table
from imagenetv2.duplicates.settings import Pixels
from imagenetv2.job import Job

BLOCK = 1024
"""Values of a partial sum in float32: 1,024 · 128² = 2^24."""

Centred = npt.NDArray[np.float32]


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among originals and other candidates."""
    settings = job.settings(Pixels)
    images, archives = squashed.of(job)
    pixels = squashed.squashed(images, archives, settings.side, job.cores, job.data)
    flat = pixels.reshape(len(pixels), -1)
    with threadpool_limits(job.cores, user_api="blas"):
        nearest = search(flat, images.candidates, images.never, settings.k)
    ids = [images.ids[i] for i in images.candidates]
    job.out.table("neighbours", table(nearest, ids, images.ids, images.origins))
    job.log.info("l2: %d candidates against %d images", len(ids), len(images.ids))


def search(
    pixels: npt.NDArray[np.uint8],
    candidates: npt.NDArray[np.int64],
    never: npt.NDArray[np.int64],
    k: int,
    tile: int = tiles.TILE,
) -> Nearest:
    """The k nearest images of each candidate; arguments as for ``tiles.search``, pixels in uint8."""
    return tiles.search(pixels, candidates, never, k, squared_distances, what="l2", tile=tile)


def squared_distances(x: npt.NDArray[np.uint8], y: npt.NDArray[np.uint8]) -> Distances:
    """Σ (x − y)² of every pair: rows of x × rows of y, integers in float64.

    Exact for up to 2^37 values an image.
    """
    product = np.zeros((len(x), len(y)))
    norm_x, norm_y = np.zeros(len(x)), np.zeros(len(y))
    for values in tiles.slices(x.shape[1], BLOCK):
        a, b = _centred(x[:, values]), _centred(y[:, values])
        product += a @ b.T
        norm_x += np.einsum("ij,ij->i", a, a)
        norm_y += np.einsum("ij,ij->i", b, b)
    product *= -2
    product += norm_x[:, None]
    product += norm_y[None, :]
    return product


def _centred(values: npt.NDArray[np.uint8]) -> Centred:
    return values.astype(np.float32) - np.float32(128)
