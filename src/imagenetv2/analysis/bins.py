"""Accuracy by selection frequency: images that more people selected are those that more models get right."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import resampled_sums
from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import interval
from imagenetv2.analysis.ranks import places
from imagenetv2.analysis.results import BINS
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.study import Study
from imagenetv2.randomness import generator


def bins(study: Study, level: float, samples: int, seed: int, edges: Sequence[float]) -> pd.DataFrame:
    """The table ``results.BINS``: a row for every bin of every set whose votes are known.

    Args:
        study: predictions and selection frequencies; images without a frequency are in no bin.
        level: of the intervals.
        samples: bootstrap samples of the images in a bin.
        seed: of the run.
        edges: inner edges of the bins, rising. Each bin holds its lower edge, the last also 1. A frequency and a
            decimal edge are each the double nearest to a fraction, so equal fractions compare as equal.
    """
    counts = study.right(ORIGINAL).sum(axis=1)
    best = int(np.argmin(places(counts, study.models)))
    ends = [0.0, *edges, 1.0]
    rows: list[Row] = []
    for name in study.labels:
        if name not in study.frequencies:
            continue
        votes = _voted(study, name, best)
        number = np.searchsorted(np.asarray(edges, np.float64), votes["frequency"], side="right")
        for b in range(len(edges) + 1):
            inside = votes[number == b]
            row: Row = {"set": name, "bin": b, "from": ends[b], "to": ends[b + 1], "images": len(inside)}
            if len(inside):
                rng = generator(seed, "analysis", "bins", name, b)
                row |= _accuracy(inside["right"].to_numpy(), len(study.models), level, samples, rng)
                row["best"] = inside["best"].mean()
            rows.append(row)
    return frame(rows, BINS)


def _voted(study: Study, name: str, best: int) -> pd.DataFrame:
    """Images with votes: ``frequency``, how many models are ``right``, whether the ``best`` is."""
    predictions = study.sets[name]
    right = predictions.top(1)
    images = predictions.images[["image_id", "wnid"]].assign(right=right.sum(axis=0), best=right[best])
    votes = study.frequencies[name][["image_id", "wnid", "frequency"]]
    return images.merge(votes, on=["image_id", "wnid"], validate="one_to_one")


def _accuracy(
    counts: npt.NDArray[np.int64], models: int, level: float, samples: int, rng: np.random.Generator
) -> dict[str, float]:
    cells = counts.size * models
    drawn = resampled_sums.of_counts(counts, counts.size).draw(samples, rng)[0]
    low, high = interval(drawn / cells, level)
    return {"top1": float(counts.sum() / cells), "top1_low": low, "top1_high": high}
