"""Lines of bootstrap samples over models, images, classes, or models and images both."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.lines.least_squares import sampled, weighted
from imagenetv2.analysis.resamples import Resamples
from imagenetv2.analysis.scales import forward
from imagenetv2.pooling import threaded
from imagenetv2.randomness import generator

Floats = npt.NDArray[np.float64]
Members = npt.NDArray[np.bool_]
Weights = npt.NDArray[np.uint16]
OVER = ("models", "images", "classes", "both")
BLOCK = 1000


@dataclass(frozen=True)
class Lines:
    """Slopes and offsets of the samples in which a line is defined, float64, shape (samples,) each."""

    slopes: Floats
    offsets: Floats

    @classmethod
    def none(cls) -> Lines:
        """Where no sample has a line."""
        return cls(np.empty(0), np.empty(0))


def model_weights(groups: Mapping[str, Members], samples: int, seed: int) -> dict[str, Weights]:
    """How often each model of a group is drawn, samples × models of the group: the group's size with replacement."""
    out = {}
    for group, members in groups.items():
        size = int(members.sum())
        rng = generator(seed, "analysis", "lines", "models", group)
        out[group] = np.empty((samples, size), np.uint16)
        for start in range(0, samples, BLOCK):
            rows = out[group][start : start + BLOCK]
            drawn = rng.integers(0, size, rows.shape) + size * np.arange(len(rows))[:, None]
            rows[:] = np.bincount(drawn.ravel(), minlength=rows.size).reshape(rows.shape)
    return out


def resampled_lines(
    points: Mapping[str, Floats],
    groups: Mapping[str, Members],
    scale: str,
    weights: Mapping[str, Weights] | None,
    accuracies: Resamples | None,
    cores: int = 1,
) -> dict[tuple[str, str], Lines]:
    """Lines of every new set and group on bootstrap samples.

    Args:
        points: by set, the models' observed accuracies on the axis.
        groups: which models belong to each.
        scale: of the axis: linear, probit or logit.
        weights: from ``model_weights`` where models are resampled; None takes each once.
        accuracies: where images or classes are resampled; None takes the observed ones.
        cores: threads; the result does not depend on them.

    Returns:
        By new set and group.

    Raises:
        ValueError: nothing is resampled.
    """
    new = [name for name in points if name != ORIGINAL]
    samples = _samples(weights, accuracies)
    found = {group: np.empty((len(new), 2, samples)) for group in groups}

    def block(start: int) -> None:
        rows = slice(start, min(samples, start + BLOCK))
        axes = points if accuracies is None else _axes(accuracies, scale, rows)
        x, ys = axes[ORIGINAL], np.stack([axes[name] for name in new])
        for group, members in groups.items():
            w = None if weights is None else weights[group][rows].astype(np.float64)
            if accuracies is None and w is not None:
                found[group][:, :, rows] = weighted(x[members], ys[:, members], w)
            else:
                found[group][:, :, rows] = sampled(x[:, members], ys[:, :, members], w)

    with threadpool_limits(1, user_api="blas"):
        for _ in threaded(block, range(0, samples, BLOCK), cores):
            pass
    return {
        (name, group): _defined(*lines[place])
        for group, lines in found.items()
        for place, name in enumerate(new)
    }


def _samples(weights: Mapping[str, Weights] | None, accuracies: Resamples | None) -> int:
    if weights is not None:
        return len(next(iter(weights.values())))
    if accuracies is not None:
        return len(accuracies.top1[ORIGINAL])
    raise ValueError("a bootstrap resamples models, images or both")


def _axes(accuracies: Resamples, scale: str, rows: slice) -> dict[str, Floats]:
    """Accuracies on each set, on the axis: samples × models."""
    return {
        name: forward(shares[rows], accuracies.sizes[name][rows, None], scale)
        for name, shares in accuracies.top1.items()
    }


def _defined(slopes: Floats, offsets: Floats) -> Lines:
    kept = np.isfinite(slopes)
    return Lines(slopes[kept], offsets[kept])
