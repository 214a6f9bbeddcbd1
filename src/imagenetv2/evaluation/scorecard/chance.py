"""Accuracies that no trained network has: labels in another order are the usual reason."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]
MANY = 500
"""From so many classes on a trained network is right twenty times as often as a guess, below twice. In the order of
strings, 0, 1, 10, 100, …, twelve of a thousand classes keep their index, so that such labels give 1.2 % and less."""
FEWEST_IMAGES = 50
"""With fewer, a weak network may have nothing right by bad luck."""
FEWEST_A_CLASS = 5
"""With fewer, labels can be assigned to any predictions so that many are right."""
ORDERED = 0.4
"""Share that is right with labels assigned otherwise, from which on they are taken to be in another order."""


def suspicion(labels: Integers, first: Integers, classes: int) -> str:
    """What is wrong with predictions near chance, in words; empty where nothing is.

    Args:
        labels: class index of each image, int64, shape (images,).
        first: the model's first class index of each.
        classes: between how many classes the model could choose, at least 1.
    """
    accuracy = float(np.mean(labels == first))
    if labels.size < FEWEST_IMAGES or accuracy >= (20 if classes >= MANY else 2) / classes:
        return ""
    share = reassigned(labels, first)
    if labels.size >= FEWEST_A_CLASS * np.unique(labels).size and share >= ORDERED:
        return (
            f"near chance, but {100 * share:.0f} % would be right with class indices in another order: the labels of "
            "the set, or the outputs of the model, are permuted"
        )
    return "near chance: labels or outputs may be permuted, the input may be prepared wrongly, or the weights untrained"


def reassigned(labels: Integers, first: Integers) -> float:
    """Share that is right under the best one-to-one assignment of predicted to true classes."""
    from scipy.optimize import linear_sum_assignment

    true, rows = np.unique(labels, return_inverse=True)
    said, columns = np.unique(first, return_inverse=True)
    counts = np.zeros((true.size, said.size), np.int64)
    np.add.at(counts, (rows, columns), 1)
    return float(counts[linear_sum_assignment(counts, maximize=True)].sum() / labels.size)
