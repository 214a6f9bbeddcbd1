"""fc7: squared Euclidean distance of a network's features.

Features are float32 and differ in their last digits between machines, so distances are rounded to six significant
digits before they are ranked; equal ones are ordered by id.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

import numpy as np
import numpy.typing as npt
import torch
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates import squashed, tiles
from imagenetv2.duplicates.neighbours import Distances, Nearest, table
from imagenetv2.duplicates.settings import Features
from imagenetv2.images import Pixels
from imagenetv2.job import Job
from imagenetv2.networks import lite0, vgg16
from imagenetv2.pooling import threaded

DIGITS = 6
CANCELLED = 1e-6
"""Distances below this share of the squared norms lose too many digits in the expansion |x|² + |y|² − 2xy."""
PAIRS = 4096

Embedding = Callable[[Pixels], npt.NDArray[np.float32]]


def run(job: Job) -> None:
    """Write the nearest neighbours of each candidate among originals and other candidates."""
    settings = job.settings(Features)
    images, archives = squashed.of(job)
    embedding, width = network(settings)
    features = squashed.room((len(images.ids), width), np.dtype(np.float32), job.data)
    pictures = squashed.batches(images, archives, settings.side, settings.batch, 1)
    with _deterministic():
        filled = threaded(lambda item: (item[0], embedding(item[1])), pictures, job.cores)
        for place, values in filled:
            features[place] = values
    with threadpool_limits(job.cores, user_api="blas"):
        nearest = search(features, images.candidates, images.never, settings.k)
    ids = [images.ids[i] for i in images.candidates]
    job.out.table("neighbours", table(nearest, ids, images.ids, images.origins))
    job.log.info("fc7: %d candidates against %d images", len(ids), len(images.ids))


def network(settings: Features) -> tuple[Embedding, int]:
    """The function from pixels (images × side × side × 3) to features, and their number."""
    prepare: Callable[[Pixels], torch.Tensor]
    if settings.network == "vgg16":
        module, features, width = vgg16.load(settings.weights), vgg16.features, vgg16.FEATURES
        prepare = partial(vgg16.prepare, preprocessing=settings.preprocessing)
    else:
        module, features, width = lite0.load(), lite0.features, lite0.FEATURES
        prepare = lite0.prepare
    last = torch.channels_last
    module = module.to(memory_format=last)

    def embedding(pixels: Pixels) -> npt.NDArray[np.float32]:
        with torch.inference_mode():
            batch = prepare(pixels).contiguous(memory_format=last)
            values: npt.NDArray[np.float32] = features(module, batch).numpy()
        return values

    return embedding, width


@contextmanager
def _deterministic() -> Iterator[None]:
    """One thread an operation (batches run beside each other instead): sums don't depend on their number."""
    threads, before = torch.get_num_threads(), torch.are_deterministic_algorithms_enabled()
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        torch.set_num_threads(threads)


def search(
    features: npt.NDArray[np.float32],
    candidates: npt.NDArray[np.int64],
    never: npt.NDArray[np.int64],
    k: int,
    tile: int = tiles.TILE,
) -> Nearest:
    """The k nearest images of each candidate; arguments as for ``tiles.search``, features in float32."""
    return tiles.search(features, candidates, never, k, _in_float64, what="fc7", tile=tile)


def _in_float64(x: npt.NDArray[np.float32], y: npt.NDArray[np.float32]) -> Distances:
    return squared_distances(x.astype(np.float64), y.astype(np.float64))


def squared_distances(x: Distances, y: Distances) -> Distances:
    """Σ (x − y)² of every pair, rounded to six significant digits; exactly 0 for equal rows."""
    norm = np.einsum("ij,ij->i", x, x)[:, None] + np.einsum("ij,ij->i", y, y)[None, :]
    distance = norm - 2 * (x @ y.T)
    row, column = np.nonzero(distance <= CANCELLED * norm)
    for start in range(0, len(row), PAIRS):
        r, c = row[start : start + PAIRS], column[start : start + PAIRS]
        distance[r, c] = np.sum((x[r] - y[c]) ** 2, axis=1)
    return rounded(distance)


def rounded(values: Distances) -> Distances:
    """To six significant digits; values are not negative."""
    places = DIGITS - 1 - np.floor(np.log10(np.where(values > 0, values, 1.0)))
    scale = 10.0**places
    return np.rint(values * scale) / scale
