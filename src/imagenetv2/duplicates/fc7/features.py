"""Features of many images."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates.fc7.network import Embedding
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.networks.reproducible import reproducible
from imagenetv2.pooling import threaded


def extract(
    batches: Iterable[tuple[slice, Pixels]], embedding: Embedding, at_once: int
) -> Iterator[tuple[slice, npt.NDArray[np.float32]]]:
    """Each place and the features of its images, images × features, in the order of the batches.

    Batches run beside each other, ``at_once`` of them, each on one thread, so that features don't depend on the
    number of threads. They depend in their last digits on the machine and on the libraries.

    Args:
        batches: places, which are handed on, and pixels.
        embedding: as from ``network.embedding``.
        at_once: batches at once.

    Raises InputError where a feature is no finite number: then the weights are damaged.
    """

    def run(batch: tuple[slice, Pixels]) -> tuple[slice, npt.NDArray[np.float32]]:
        return batch[0], embedding(batch[1])

    with reproducible(threads=1):
        for place, values in threaded(run, batches, at_once):
            if not np.isfinite(values).all():
                raise InputError(
                    "neighbours.fc7.weights: features of the network are not finite; the weights are damaged, or "
                    "belong to another preprocessing."
                )
            yield place, values
