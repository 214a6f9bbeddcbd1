"""Whether a model knows when it is wrong: accuracy on the images that it is most confident of."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.metrics.estimate import Estimate
from imagenetv2.evaluation.metrics.ties import ranked
from imagenetv2.intervals import reach


def aurra(confidence: npt.ArrayLike, right: npt.ArrayLike, level: float = 0.95) -> Estimate:
    """Area under the response rate accuracy curve.

    The mean over k = 1 … n of the accuracy on the k images of highest confidence (Hendrycks et al., Natural Adversarial
    Examples, CVPR 2021): 1 where the model is right on every image; the accuracy, on average, where confidence says
    nothing. Images of equal confidence count as their average (``ties``), which is the mean of this area over all orders
    of them.

    Args:
        confidence: probability of the first answer of each image, shape (images,).
        right: whether that answer is right.
        level: of the interval.

    Returns:
        The area from 0 to 1, with a normal interval cut to 0 and 1, whose standard error is the infinitesimal
        jackknife's (Efron 1982): the root of Σ U² / n² over images, U the derivative of the area by an image's weight.
        No interval where all images are right, or all wrong.

    Raises:
        ValueError: see ``ties.ranked``.
    """
    order = ranked(confidence, right)
    n = int(order.images.sum())
    place = np.arange(1, n + 1)
    curve = np.cumsum(order.shares[::-1]) / place
    area = float(curve.sum() / n)
    hits = int(order.right.sum())
    if hits in (0, n):
        return Estimate(n, hits / n)
    # An image at place i with c right adds A_i + c Σ 1/k − Σ A_k/k over k ≥ i; its place in its group is any.
    later, lost = _from_end(1 / place), _from_end(curve / place)
    images, correct = order.images[::-1], order.right[::-1]
    starts = np.cumsum(images) - images
    wrong = np.add.reduceat(curve - lost, starts) / images - area
    gain = np.add.reduceat(later, starts) / images
    squares = correct * (wrong + gain) ** 2 + (images - correct) * wrong**2
    half = reach(level) * math.sqrt(float(squares.sum())) / n
    return Estimate(n, area, max(0.0, area - half), min(1.0, area + half))


def _from_end(values: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Sums from each value to the last."""
    return np.asarray(np.cumsum(values[::-1])[::-1], np.float64)
