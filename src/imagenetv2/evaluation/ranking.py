"""From the outputs of a model to the rank of the true class, the first five classes, and a probability."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.int64]


def true_ranks(outputs: Floats, true: Integers) -> Integers:
    """Rank of the true class of each image, 0 is best.

    Counts the classes with a larger output, and those with an equal output and a smaller index: a total order,
    so that accuracy at one k does not depend on which other k is asked for.

    Args:
        outputs: images × classes, finite.
        true: column of the true class of each image.
    """
    own = np.take_along_axis(outputs, true[:, None], axis=1)
    before = np.arange(outputs.shape[1]) < true[:, None]
    ahead = (outputs > own) | ((outputs == own) & before)
    return np.asarray(np.count_nonzero(ahead, axis=1), np.int64)


def leading(outputs: Floats, k: int) -> Integers:
    """Columns of the k largest outputs of each image, best first, ties to the smaller column.

    Args:
        outputs: images × classes, finite.
        k: how many; all where there are fewer classes.

    Returns:
        images × min(k, classes), int64.
    """
    order: Integers = np.argsort(-outputs, axis=1, kind="stable").astype(np.int64)
    return order[:, :k]


def true_probabilities(outputs: Floats, true: Integers) -> npt.NDArray[np.float64]:
    """Softmax probability of the true class, float64, rounded to 6 significant digits."""
    shifted = outputs.astype(np.float64) - outputs.max(axis=1, keepdims=True)
    own = np.take_along_axis(shifted, true[:, None], axis=1)[:, 0]
    exact = np.exp(own - np.log(np.exp(shifted).sum(axis=1)))
    return np.array([float(f"{p:.6g}") for p in exact], np.float64)
