"""From the outputs of a model to the rank of the true class, the first five classes, and probabilities."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.floating]
Integers = npt.NDArray[np.int64]
Doubles = npt.NDArray[np.float64]

DIGITS = 6
"""Significant digits of a probability."""
SMALLEST = -16
"""Power of ten below which a probability is rounded by itself: powers above the 22nd are no doubles."""
TENS = np.array([float(f"1e{power}") for power in range(SMALLEST, 1)])
SCALES = np.array([float(f"1e{DIGITS - 1 - power}") for power in range(SMALLEST, 1)])


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
    left = np.array(outputs, copy=True)
    rows = np.arange(len(left))
    found = np.empty((len(left), min(k, left.shape[1])), np.int64)
    for place in range(found.shape[1]):
        # The first of equal ones, as numpy promises; a sort of all classes takes many times as long.
        found[:, place] = left.argmax(axis=1)
        left[rows, found[:, place]] = -np.inf
    return found


def probabilities(outputs: Floats, columns: Integers) -> Doubles:
    """Softmax probabilities of some classes of each image, float64, rounded to 6 significant digits.

    Args:
        outputs: images × classes, finite.
        columns: images × any number.
    """
    with np.errstate(over="ignore"):
        shifted = outputs.astype(np.float64, order="C") - outputs.max(axis=1, keepdims=True)
    chosen = np.take_along_axis(shifted, columns, axis=1)
    return rounded(np.exp(chosen - np.log(np.exp(shifted).sum(axis=1, keepdims=True))))


def rounded(values: Doubles) -> Doubles:
    """Numbers from 0 to 1 to 6 significant digits: each the double nearest to its decimal fraction."""
    power = np.maximum(np.searchsorted(TENS, values, side="right") - 1, 0)
    # An integer over an exact power of ten, divided once, is rounded once.
    found = np.asarray(np.rint(values * SCALES[power]) / SCALES[power])
    tiny = (values < TENS[0]) & (values > 0)
    found[tiny] = [float(f"{value:.{DIGITS}g}") for value in values[tiny]]
    return found
