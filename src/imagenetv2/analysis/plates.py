"""The figures of the report, and the same as files for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd
from altair.utils import schemapi

from imagenetv2.analysis.figures.accuracy import Lines, accuracy
from imagenetv2.analysis.figures.bins import bins
from imagenetv2.analysis.figures.changes import changes
from imagenetv2.analysis.figures.classes import classes
from imagenetv2.analysis.figures.distances import distances
from imagenetv2.analysis.figures.figure import Figure, Panel, nothing
from imagenetv2.analysis.figures.frequencies import frequencies
from imagenetv2.analysis.figures.influence import influence
from imagenetv2.analysis.figures.order import order
from imagenetv2.analysis.figures.paired import paired
from imagenetv2.analysis.figures.robustness import robustness
from imagenetv2.analysis.figures.simulation import simulation
from imagenetv2.analysis.figures.truth import truth
from imagenetv2.analysis.findings import Findings, first_of

Floats = npt.NDArray[np.float64]
Known = Mapping[str, tuple[str, Floats, Floats]]


@dataclass(frozen=True)
class Votes:
    """Selection frequencies of the images of each set; ``known`` has groups of images whose true ones are known too.

    A group has a label, observed and true frequencies. ``nearest`` is how near the nearest neighbours of candidates are
    under each metric (``sections.searches``).
    """

    observed: Mapping[str, Floats]
    known: Known | None
    nearest: Mapping[str, pd.DataFrame] = field(default_factory=dict)


def plates(found: Findings, votes: Votes | None, rng: np.random.Generator) -> dict[str, Figure]:
    """All figures by name; one of which there is nothing to draw says so.

    Args:
        found: tables of the analysis.
        votes: None where nobody knows them.
        rng: scatters overlapping points.
    """
    # Charts are checked against Vega-Lite's schema in tests; here it would take most of the time of drawing.
    with schemapi.debug_mode(False):
        return {figure.name: figure for figure in _figures(found, votes, rng)}


def _figures(found: Findings, votes: Votes | None, rng: np.random.Generator) -> list[Figure]:
    sets, lines = found.sets, Lines(first_of(found.fits), first_of(found.bands), found.groups_drawn)
    figures = [
        accuracy(found.accuracies, lines, sets, "linear"),
        accuracy(found.accuracies, lines, sets, "probit"),
        changes(found.accuracies, found.averages, sets),
        order(found.accuracies, sets),
        influence(found.influence, found.main_fits, sets) or empty("influence", "no line to change"),
        _robustness(found),
        paired(found.paired, found.accuracies, found.level, sets) or empty("paired", "no two models"),
        simulation(found.simulation),
    ]
    if found.class_changes is not None:
        figures.append(classes(found.class_changes, sets))
    if votes is not None and found.bins is not None and found.rules is not None:
        figures += [
            frequencies(votes.observed, sets),
            bins(found.bins, sets),
            distances(votes.nearest) or empty("distances", "no neighbours"),
        ]
        if votes.known is not None:
            figures.append(truth(votes.known, found.rules, sets, rng))
    return figures


def _robustness(found: Findings) -> Figure:
    line = found.main_line
    drawn = robustness(found.robustness, line, found.sets) if line is not None else None
    return drawn or empty("robustness", "no line to measure from")


def empty(name: str, words: str) -> Figure:
    """A figure that says why there is nothing to see."""
    return Figure(name, (Panel(name, words, nothing(words), width=250, height=80),))
