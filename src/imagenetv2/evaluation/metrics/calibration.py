"""Calibration: whether a model that says 80 % is right in 80 % of the cases."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.metrics.ties import Floats, Integers, ranked

BIN_IMAGES = 100
"""Images a bin, as in Hendrycks et al.'s code."""
BINS = 15
"""Bins of equal width, as in Guo et al."""


def rms_calibration_error(
    confidence: npt.ArrayLike, right: npt.ArrayLike, bin_images: int = BIN_IMAGES
) -> float:
    """Root mean square of confidence less accuracy, in bins of equally many images.

    √(Σ_b n_b / n · (mean confidence in b − share right in b)²) over bins of ``bin_images`` images by rising confidence;
    the last takes what is left, and all images are one bin where they do not fill two (Hendrycks, Mazeika and Dietterich,
    ICLR 2019, appendix; Hendrycks et al., Natural Adversarial Examples, CVPR 2021). Differs from the code of those papers,
    which leaves out the last and most confident bin; here every image counts. Images of equal confidence count as their
    average (``ties``), so that the order of the rows does not matter.

    Args:
        confidence: probability of the first answer of each image, shape (images,).
        right: whether that answer is right.
        bin_images: images a bin.

    Returns:
        From 0 to 1. It is biased upwards: see ``calibration_by_chance``.

    Raises:
        ValueError: see ``ties.ranked``; or ``bin_images`` is below 1.
    """
    order = ranked(confidence, right)
    starts, counts = _bins(int(order.images.sum()), bin_images)
    gap = (_sums(order.confidences, starts) - _sums(order.shares, starts)) / counts
    return math.sqrt(math.fsum((counts / counts.sum() * gap**2).tolist()))


def calibration_by_chance(confidence: npt.ArrayLike, bin_images: int = BIN_IMAGES) -> float:
    """The RMS calibration error that a perfectly calibrated model with these confidences has by chance.

    Root of the expected square: in a bin of n images the share right varies by Σ p (1 − p) / n² about the mean
    confidence p. An error that is not larger says nothing against the model.

    Raises:
        ValueError: as for ``rms_calibration_error``.
    """
    values = np.asarray(confidence, np.float64)
    p = ranked(values, np.zeros(values.shape, bool)).confidences
    starts, counts = _bins(p.size, bin_images)
    variance = _sums(p * (1 - p), starts) / counts**2
    return math.sqrt(math.fsum((counts / counts.sum() * variance).tolist()))


def expected_calibration_error(confidence: npt.ArrayLike, right: npt.ArrayLike, bins: int = BINS) -> float:
    """Mean distance of confidence and accuracy, in bins of equal width.

    Σ_b n_b / n · |mean confidence in b − share right in b| over ``bins`` bins ((m − 1) / M, m / M] of confidence, the
    first with 0 (Naeini et al., AAAI 2015; Guo et al., ICML 2017).

    Raises:
        ValueError: see ``ties.ranked``; or ``bins`` is below 1.
    """
    if bins < 1:
        raise ValueError(f"bins must be at least 1, not {bins}")
    order = ranked(confidence, right)
    edges = np.linspace(0, 1, bins + 1)[1:-1]
    place = np.searchsorted(edges, order.confidence)
    claimed = np.bincount(place, order.confidence * order.images, bins)
    gaps = np.abs(claimed - np.bincount(place, order.right, bins))
    return math.fsum(gaps.tolist()) / int(order.images.sum())


def _bins(images: int, size: int) -> tuple[Integers, Integers]:
    """Where bins of images in order start, and how many images each has."""
    if size < 1:
        raise ValueError(f"a bin must hold at least 1 image, not {size}")
    starts = size * np.arange(max(1, images // size), dtype=np.int64)
    return starts, np.diff(starts, append=images)


def _sums(values: Floats, starts: Integers) -> Floats:
    return np.asarray(np.add.reduceat(values, starts), np.float64)
