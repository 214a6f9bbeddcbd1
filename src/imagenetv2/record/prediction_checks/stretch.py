"""A stretch of rows on which a model does worse than the other models' hits there foretell."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imagenetv2.record.sheets import Bools, Floats, Ints

BINS = 20
"""Parts of the range of the others' hits on an image in which a model's own hits are expected to be alike."""
FALL = 0.5
"""Part of the expected hits that a damaged stretch is supposed to have."""
CLEAR = 40.0
"""Log likelihood ratio from which chance does not do that; the published study's sound files stay below 11 where
rows are in no order."""
CLEAR_BY_CLASS = 400.0
"""The same where the stretch has its classes for itself, as in a list by class: a model may be weak at just these.
The published study's original set is such a list: its sound files stay below 135 (Fisher vectors) and 23 (networks),
and 1,500 damaged rows of 50,000 come to 2,700 in a network of usual accuracy."""


@dataclass(frozen=True)
class Stretch:
    """Rows from ``start`` to before ``stop``, with their hits and those expected."""

    start: int
    stop: int
    hits: float
    expected: float
    ratio: float


def expected(own: Bools, others: Floats) -> Floats:
    """Probability of a hit on each image, from how the model does on images that the others find as hard.

    Args:
        own: whether the model is right, shape (images,).
        others: share of the other models that are.
    """
    place = np.minimum((others * BINS).astype(np.int64), BINS - 1)
    hits, images = np.bincount(place, own, BINS), np.bincount(place, minlength=BINS)
    found: Floats = np.clip((hits + 0.5) / (images + 1), 0.02, 0.98)[place]
    return found


def worst(own: Bools, foretold: Floats) -> Stretch:
    """The stretch, of any length, whose hits are best explained by a fall to ``FALL`` of what is expected.

    Of all stretches it has the largest log likelihood ratio, the sum of one term an image; the largest sum of a run is
    the largest rise of the cumulative sum above its lowest value before.
    """
    terms = np.where(own, np.log(FALL), np.log((1 - FALL * foretold) / (1 - foretold)))
    total = np.append(0.0, np.cumsum(terms))
    rise = total - np.minimum.accumulate(total)
    stop = int(rise.argmax())
    start = int(total[: stop + 1].argmin())
    part = slice(start, stop)
    return Stretch(start, stop, float(own[part].sum()), float(foretold[part].sum()), float(rise[stop]))


def clear(found: Stretch, classes: Ints) -> bool:
    """Whether neither chance nor a weakness for some classes explains it.

    Args:
        found: the stretch.
        classes: class index of each image.
    """
    inside, outside = classes[found.start : found.stop], np.delete(classes, slice(found.start, found.stop))
    apart = bool(np.isin(inside, outside).mean() < 0.5) if len(inside) else False
    return found.ratio > (CLEAR_BY_CLASS if apart else CLEAR)
