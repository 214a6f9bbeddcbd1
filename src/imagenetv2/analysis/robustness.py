"""Effective robustness: how far a model's new accuracy lies above a line of new on original accuracy.

Taori et al. 2020 (Measuring robustness to natural distribution shifts in image classification, section 2) take the
difference between the new accuracy and what a line predicts from the original one. Its interval counts two
things: the model's accuracies on both sets are measured on a sample of images, and the line is fitted on a
sample of models. This run's line is fitted on the same images as well, so that their luck partly cancels, and on
the other models only, so that a model does not pull the line towards itself. A line that was published is taken
as independent of this run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import scales
from imagenetv2.analysis.accuracies import ORIGINAL
from imagenetv2.analysis.bootstrap import defined_interval
from imagenetv2.analysis.lines.resampling import model_weights
from imagenetv2.analysis.published_lines import NEW_IMAGES, ORIGINAL_IMAGES, Published
from imagenetv2.analysis.resamples import Resamples
from imagenetv2.analysis.results import LINES, ROBUSTNESS
from imagenetv2.analysis.rows import Row, frame
from imagenetv2.analysis.sampled_lines import OwnLine, Sampled, of_points, paper
from imagenetv2.analysis.settings import Line
from imagenetv2.analysis.study import SMALLEST_GROUP, Study
from imagenetv2.errors import InputError
from imagenetv2.pooling import threaded
from imagenetv2.randomness import generator

Floats = npt.NDArray[np.float64]
Members = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Accuracies:
    """Accuracies of all models on the original and one new set, on a line's axes.

    ``x`` and ``y`` have shape (models,), ``xs`` and ``ys`` (models, samples): on resamples of the images.
    """

    scale: str
    x: Floats
    y: Floats
    xs: Floats
    ys: Floats


@dataclass(frozen=True)
class Drawn:
    """A line to measure from: as a whole, and as it is for the model at a place."""

    source: str
    models: int
    whole: Sampled
    of: Callable[[int], Sampled]


def robustness(
    study: Study,
    images: Resamples,
    lines: Sequence[Line],
    tables: Mapping[str, Published],
    level: float,
    seed: int,
    cores: int = 1,
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables ``results.ROBUSTNESS`` and ``results.LINES``.

    A line has no rows for sets that it says nothing of, nor where fewer than three models, or equal original
    accuracies, leave it undefined.

    Args:
        study: predictions of all models.
        images: accuracies on resamples of the images; as many lines are drawn.
        lines: lines to measure from.
        tables: published accuracies by name of the line that is fitted on them.
        level: of the intervals.
        seed: of the run.
        cores: threads; the result does not depend on them.

    Raises:
        InputError: a line names a family or a set that the study does not have.
    """
    effects: list[Row] = []
    found: list[Row] = []
    for line in lines:
        sets = _sets(study, line)
        draw = _drawing(line, study, images, tables, seed)
        for new in sets:
            at = _accuracies(study, images, new, line.scale)
            drawn = draw(at)
            if drawn is None:
                continue
            key: Row = {"set": new, "line": line.name}
            found.append({**key, "scale": line.scale, **_described(drawn, level)})
            each = _effects(at, drawn, level, cores)
            effects += [{**key, "model": m, **row} for m, row in zip(study.models, each, strict=True)]
    return frame(effects, ROBUSTNESS), frame(found, LINES)


def _sets(study: Study, line: Line) -> list[str]:
    """New sets that a line is about. The paper's is no fault where its set is missing: it is there by default."""
    if line.kind == "run":
        return study.new
    if line.set not in study.new and line.kind != "paper":
        raise InputError(
            f"analysis.lines ({line.name}): there is no new set {line.set}; set one of {', '.join(study.new)}."
        )
    return [line.set] if line.set in study.new else []


def _accuracies(study: Study, images: Resamples, new: str, scale: str) -> Accuracies:
    def axis(name: str) -> tuple[Floats, Floats]:
        right = study.right(name)
        count = right.shape[1]
        drawn = np.ascontiguousarray(images.top1[name].T)
        return scales.forward(right.mean(axis=1), count, scale), scales.forward(drawn, count, scale)

    (x, xs), (y, ys) = axis(ORIGINAL), axis(new)
    return Accuracies(scale, x, y, xs, ys)


def _drawing(
    line: Line, study: Study, images: Resamples, tables: Mapping[str, Published], seed: int
) -> Callable[[Accuracies], Drawn | None]:
    """How the line through accuracies on one new set is found; of a published line, they do not matter."""
    samples = len(images.top1[ORIGINAL])
    if line.kind == "run":
        member = _members(study, line)
        weights = np.ascontiguousarray(model_weights({line.group: member}, samples, seed)[line.group].T)
        return lambda at: _own(at, member, weights, line.group)
    rng = generator(seed, "analysis", "robustness", line.name)
    if line.kind == "paper":
        fixed, models, source = paper(samples, rng), 0, "stated by Recht et al. 2019"
    else:
        table = tables[line.name]
        x = scales.forward(table.original, ORIGINAL_IMAGES, line.scale)
        y = scales.forward(table.new, NEW_IMAGES, line.scale)
        fixed, models, source = of_points(x, y, samples, rng), x.size, table.source
    return lambda at: None if np.isnan(fixed.slope) else Drawn(source, models, fixed, lambda j: fixed)


def _members(study: Study, line: Line) -> Members:
    families = np.array([study.families[m] for m in study.models])
    member = np.full(families.size, True) if line.group == "all" else families == line.group
    if not member.any():
        known = ", ".join(["all", *sorted(set(families.tolist()))])
        raise InputError(
            f"analysis.lines ({line.name}): no model is of the group {line.group}; name one of {known}."
        )
    return member


def _own(at: Accuracies, member: Members, weights: npt.NDArray[np.integer], group: str) -> Drawn | None:
    """The line through a group's models; for each of them, the line through the others."""
    if member.sum() < SMALLEST_GROUP:
        return None
    own = OwnLine(at.x[member], at.y[member], at.xs[member], at.ys[member], weights)
    whole, places = own.without(None), np.cumsum(member) - 1
    if np.isnan(whole.slope):
        return None
    source = "this run's models" if group == "all" else f"this run's models: {group}"
    return Drawn(
        source, int(member.sum()), whole, lambda j: own.without(int(places[j])) if member[j] else whole
    )


def _effects(at: Accuracies, drawn: Drawn, level: float, cores: int) -> list[Row]:
    return list(threaded(lambda j: _effect(at, j, drawn.of(j), level), range(at.x.size), cores))


def _effect(at: Accuracies, j: int, line: Sampled, level: float) -> Row:
    predicted = scales.percent(line.slope * at.x[j] + line.offset, at.scale)
    effective = scales.percent(at.y[j], at.scale) - predicted
    lines = scales.percent(line.slopes * at.xs[j] + line.offsets, at.scale)
    low, high = defined_interval(scales.percent(at.ys[j], at.scale) - lines, level)
    return {
        "predicted": float(predicted),
        "effective": float(effective),
        "effective_low": low,
        "effective_high": high,
    }


def _described(drawn: Drawn, level: float) -> Row:
    slope_low, slope_high = defined_interval(drawn.whole.slopes, level)
    offset_low, offset_high = defined_interval(drawn.whole.offsets, level)
    return {
        "models": drawn.models,
        "slope": drawn.whole.slope,
        "slope_low": slope_low,
        "slope_high": slope_high,
        "offset": drawn.whole.offset,
        "offset_low": offset_low,
        "offset_high": offset_high,
        "source": drawn.source,
    }
