"""One study: an original data set, candidates, votes, a rule, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.randomness import generator
from imagenetv2.simulation.rules import Indices, Votes
from imagenetv2.simulation.settings import Simulation
from imagenetv2.simulation.source import Bools, Floats, Source

FEWEST = 0.01
"""Share of photographs that must pass the original vote, so that drawing those that do comes to an end."""


@dataclass(frozen=True)
class Photographs:
    """By photograph: its true selection frequency, whether the classifier is right, and how probable that was."""

    selection: Floats
    right: Bools
    accuracy: Floats


@dataclass(frozen=True)
class Study:
    """The original data set, and the candidates for a new one."""

    originals: Photographs
    candidates: Photographs


@dataclass(frozen=True)
class Outcome:
    """A sampled set beside the originals: averages, as shares; missing where the rule found too few photographs."""

    observed: float
    observed_original: float
    true: float
    true_original: float
    accuracy_original: float
    change: float
    expected_change: float


def draw(settings: Simulation, seed: int, number: int) -> Study:
    """Draw study ``number`` of that seed. Raises InputError where next to no photograph passes the original vote."""
    source = Source.of(settings)
    old, new = (generator(seed, "simulation", number, what) for what in ("originals", "candidates"))
    originals = _passing(source, settings, old)
    if originals.size < FEWEST * settings.originals:
        needed, asked = settings.quorum
        raise InputError(
            f"simulation.quorum: {originals.size} of {settings.originals} photographs get {needed} of {asked} votes; "
            "ask for fewer votes, or for higher contrasts (simulation.contrast)."
        )
    candidates = _candidates(source, settings, new)
    return Study(_photographs(source, old, originals), _photographs(source, new, candidates))


def _passing(source: Source, settings: Simulation, rng: np.random.Generator) -> Floats:
    """Contrasts of those photographs that annotators, asked once, took for the original data set."""
    contrast = source.contrasts(rng, settings.originals)
    needed, asked = settings.quorum
    return contrast[rng.binomial(asked, source.selection(contrast)) >= needed]


def _candidates(source: Source, settings: Simulation, rng: np.random.Generator) -> Floats:
    """Contrasts of the candidates, in random order."""
    contrast = source.contrasts(rng, settings.candidates)
    left = round(settings.quality * settings.candidates)
    if not left:
        return contrast
    while left:
        more = _passing(source, settings, rng)[:left]
        contrast[left - more.size : left] = more
        left -= more.size
    return rng.permutation(contrast)


def _photographs(source: Source, rng: np.random.Generator, contrast: Floats) -> Photographs:
    return Photographs(
        source.selection(contrast), source.classified(rng, contrast), source.accuracy(contrast)
    )


def vote(study: Study, annotators: int, rng: np.random.Generator) -> Votes:
    """Ask so many annotators about every original and every candidate."""
    return Votes(
        annotators,
        rng.binomial(annotators, study.candidates.selection),
        rng.binomial(annotators, study.originals.selection),
    )


def outcome(study: Study, votes: Votes, taken: Indices, wanted: int) -> Outcome:
    """What a rule's choice comes to."""
    old, new = study.originals, study.candidates
    missing = float("nan") if taken.size < wanted else 0.0
    k, accuracy = votes.annotators, float(old.right.mean())
    return Outcome(
        observed=float(votes.candidates[taken].sum()) / (k * wanted) + missing,
        observed_original=float(votes.originals.mean()) / k,
        true=float(new.selection[taken].sum()) / wanted + missing,
        true_original=float(old.selection.mean()),
        accuracy_original=accuracy,
        change=float(new.right[taken].sum()) / wanted - accuracy + missing,
        expected_change=float(new.accuracy[taken].sum()) / wanted - float(old.accuracy.mean()) + missing,
    )
