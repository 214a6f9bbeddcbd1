"""What the models of a list say together, against which one of them stands out."""

from __future__ import annotations

import numpy as np

from imagenetv2.record.sheets import Bools, Floats, Ints, Top5

IMAGES = 10_000
"""Images that support is measured on: more make it no sharper than it must be."""
CHUNK = 500


def support(top5: Top5, count: int) -> Floats:
    """How often the other models have a model's class among their own five: models × columns, from 0 to 1.

    A model's first column has the most support and its last the least, whatever the model: classes that are likely
    are on everybody's list.

    Args:
        top5: class indices, models × images × columns; -1 for no class.
        count: number of classes.
    """
    chosen = top5[:, :: max(1, top5.shape[1] // IMAGES)].astype(np.int64)
    models, images, columns = chosen.shape
    total = np.zeros((models, columns))
    for start in range(0, images, CHUNK):
        part = chosen[:, start : start + CHUNK]
        there = part >= 0
        cell = np.where(there, part, count) + (np.arange(part.shape[1]) * (count + 1))[:, None]
        votes = np.bincount(cell.ravel(), minlength=part.shape[1] * (count + 1))
        total += np.where(there, votes[cell] - 1, 0).sum(axis=1)
    found: Floats = total / (max(models - 1, 1) * images)
    return found


def within_class(right: Bools, classes: Ints) -> Floats:
    """Correlation, within classes, of being right with the share of the other models that are: one value a model.

    It is 0 for predictions whose rows belong to other images, even to those of the same class; nan where a model or
    all others do the same on every image of each class.

    Args:
        right: whether the first class is the true one, models × images.
        classes: class index of each image.
    """
    order = np.argsort(classes, kind="stable")
    _, starts, inverse, sizes = np.unique(
        classes[order], return_index=True, return_inverse=True, return_counts=True
    )
    values = right[:, order].astype(np.float64)
    values -= (np.add.reduceat(values, starts, axis=1) / sizes)[:, inverse]
    total = values.sum(axis=0)
    own = (values**2).sum(axis=1)
    with_all = values @ total
    others = (total**2).sum() - 2 * with_all + own
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = (with_all - own) / np.sqrt(own * others)
    return found


def agreement(first: Top5) -> Floats:
    """Share of images on which two models name the same class first: models × models, 1 on the diagonal.

    Args:
        first: class indices, models × images.
    """
    models, images = first.shape
    found = np.eye(models)
    for i in range(models):
        for j in range(i):
            found[i, j] = found[j, i] = np.count_nonzero(first[i] == first[j]) / images
    return found
