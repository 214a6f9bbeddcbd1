"""Accuracies of all models on bootstrap samples of the images, or of the classes with their images.

How many images a model has right on a sample is a sum over the images drawn, so all models' counts on a block of
samples are one matrix product of the samples' counts of images with who has which image right. These sums are whole
numbers below 2²⁴, which float32 adds without error in any order: the result does not depend on the processor.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.analysis.multinomial import Multinomial, collapse
from imagenetv2.analysis.study import Study
from imagenetv2.pooling import threaded
from imagenetv2.progress import progress
from imagenetv2.randomness import generator

Shares = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]
BLOCK = 128
"""Samples that share a generator: part of what the result is, not only of how fast it comes."""


@dataclass(frozen=True)
class Resamples:
    """Accuracies on resampled sets, the same resamples for every model.

    Attributes:
        over: images (each set by itself) or classes (the same classes in every set, with all their images).
        top: by k and set, float32 shares, resamples × models in the order of ``study.models``: how many images have
            their true class among the first k. Not a number where a resample of classes has no image of that set.
        sizes: by set, images in each resample, int64, shape (resamples,). ``rint(share * size)`` is the exact count.
    """

    over: str
    top: Mapping[int, Mapping[str, Shares]]
    sizes: Mapping[str, Ints]

    @property
    def top1(self) -> Mapping[str, Shares]:
        """By set, top-1 accuracies: resamples × models."""
        return self.top[1]

    @property
    def top5(self) -> Mapping[str, Shares]:
        """By set, top-5 accuracies: resamples × models. Raises KeyError where only k = 1 was asked for."""
        return self.top[5]


def resamples(
    study: Study, over: str, samples: int, seed: int, cores: int = 1, k: Sequence[int] = (1,)
) -> Resamples:
    """Resample and count; the result depends on the seed, not on ``cores``.

    Args:
        study: predictions on all sets; a set has fewer than 2²⁴ images.
        over: images or classes.
        samples: resamples.
        seed: of the run.
        cores: threads.
        k: accuracies wanted: (1,) or (1, 5), counted on the same resamples.

    Raises:
        ValueError: ``over`` is something else.
    """
    if over == "images":
        return _over_images(study, samples, seed, cores, k)
    if over == "classes":
        return _over_classes(study, samples, seed, cores, k)
    raise ValueError(f"resamples are over images or classes, not {over}")


def _over_images(study: Study, samples: int, seed: int, cores: int, k: Sequence[int]) -> Resamples:
    top: dict[int, dict[str, Shares]] = {each: {} for each in k}
    for name, predictions in study.sets.items():
        right, copies = collapse(_right(predictions, k))
        names = ("images", name)
        counts = _sums(Multinomial(copies), right.astype(np.float32), samples, (seed, *names), cores)
        shares = counts / np.float32(predictions.ranks.shape[1])
        for each, part in zip(k, np.split(shares, len(k), axis=1), strict=True):
            top[each][name] = np.ascontiguousarray(part)
    sizes = {name: np.full(samples, p.ranks.shape[1]) for name, p in study.sets.items()}
    return Resamples("images", top, sizes)


def _over_classes(study: Study, samples: int, seed: int, cores: int, k: Sequence[int]) -> Resamples:
    classes = np.unique(np.concatenate([p.images["class_index"] for p in study.sets.values()]))
    drawn = Multinomial(np.ones(classes.size, np.int64))
    features = np.concatenate([_by_class(p, classes, k) for p in study.sets.values()], axis=1)
    counts = _sums(drawn, features, samples, (seed, "classes"), cores)
    top: dict[int, dict[str, Shares]] = {each: {} for each in k}
    sizes = {}
    for name, of_set in zip(study.sets, np.split(counts, len(study.sets), axis=1), strict=True):
        images = of_set[:, -1:]
        sizes[name] = images[:, 0].astype(np.int64)
        for each, right in zip(k, np.split(of_set[:, :-1], len(k), axis=1), strict=True):
            top[each][name] = np.full(right.shape, np.nan, np.float32)
            np.divide(right, images, out=top[each][name], where=images > 0)
    return Resamples("classes", top, sizes)


def _by_class(predictions: Predictions, classes: Ints, k: Sequence[int]) -> Shares:
    """How many images of each class each model has right, for the first k, then for the next; last, how many it has."""
    right = _right(predictions, k)
    out = np.zeros((classes.size, right.shape[1] + 1), np.float32)
    place = np.searchsorted(classes, predictions.images["class_index"])
    np.add.at(out, place, np.column_stack([right, np.ones(len(right), bool)]).astype(np.float32))
    return out


def _right(predictions: Predictions, k: Sequence[int]) -> npt.NDArray[np.bool_]:
    """Images × models for the first k, then for the next."""
    return np.concatenate([predictions.top(each) for each in k]).T


def _sums(
    drawn: Multinomial, features: Shares, samples: int, names: tuple[int | str, ...], cores: int
) -> Shares:
    """Sums of the features of what each sample draws: samples × features, whole numbers."""
    out = np.empty((samples, features.shape[1]), np.float32)

    def block(start: int) -> None:
        stop = min(samples, start + BLOCK)
        rng = generator(int(names[0]), "analysis", "resamples", *names[1:], start)
        np.matmul(drawn.draw(stop - start, rng), features, out=out[start:stop])

    starts = range(0, samples, BLOCK)
    with threadpool_limits(1, user_api="blas"):
        for _ in progress(threaded(block, starts, cores), f"resampling {names[-1]}", len(starts)):
            pass
    return out
