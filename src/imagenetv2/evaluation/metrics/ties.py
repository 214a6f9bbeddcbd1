"""Images in the order of a model's confidence, whatever the order of the rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Ranked:
    """Groups of images with equal confidence, the least confident first.

    Confidence does not tell the images of a group apart, so each counts as their average: what a metric would be on
    average over all orders of them. A model that is equally confident of every image has one group.

    Attributes:
        confidence: ascending and distinct, shape (groups,).
        images: how many have it, int64.
        right: how many of them are right, int64.
    """

    confidence: Floats
    images: Integers
    right: Integers

    @property
    def shares(self) -> Floats:
        """Share of right images of its group, for each image: shape (images,)."""
        return np.repeat(self.right / self.images, self.images)

    @property
    def confidences(self) -> Floats:
        """Confidence of each image: shape (images,)."""
        return np.repeat(self.confidence, self.images)


def ranked(confidence: npt.ArrayLike, right: npt.ArrayLike) -> Ranked:
    """Group images by confidence.

    Args:
        confidence: probability of the first answer of each image, shape (images,).
        right: whether that answer is right.

    Raises:
        ValueError: there are no images, the two differ in length, or a confidence is no probability.
    """
    values, hits = np.asarray(confidence, np.float64), np.asarray(right, np.bool_)
    if values.shape != hits.shape or values.ndim != 1:
        raise ValueError(f"confidence has shape {values.shape}, but right has {hits.shape}")
    if not values.size:
        raise ValueError("calibration needs at least one image")
    if not ((values >= 0) & (values <= 1)).all():
        raise ValueError("confidence must lie between 0 and 1")
    distinct, place, images = np.unique(values, return_inverse=True, return_counts=True)
    count = np.bincount(place.ravel(), hits, distinct.size)
    return Ranked(distinct, images.astype(np.int64), count.astype(np.int64))
