"""The study in the small: the worked example as a table, and the rules' bias as a scan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from itertools import product
from typing import Any

import pandas as pd

from imagenetv2.decimals import exact
from imagenetv2.errors import InputError
from imagenetv2.pooling import threaded
from imagenetv2.progress import progress
from imagenetv2.randomness import generator
from imagenetv2.simulation.rules import Indices, Votes, matched_frequency, threshold, top_images
from imagenetv2.simulation.settings import Simulation
from imagenetv2.simulation.study import draw, outcome, vote

MATCHED, THRESHOLD, TOP = "MatchedFrequency", "Threshold", "TopImages"
RULES = (MATCHED, THRESHOLD, TOP)
ANNOTATORS = (5, 10, 20, 30, 40, 60, 80, 100, 150, 200, 300, 400)
"""Numbers of annotators that a scan goes through, unless told otherwise."""


def table(settings: Simulation, seed: int, cores: int = 1) -> pd.DataFrame:
    """Averages over studies, with the columns of ``analysis.results.SIMULATION``.

    MatchedFrequency with each number of annotators, the other rules with the smallest. Raises InputError where a
    rule cannot find as many photographs as are to be sampled. ``cores`` changes nothing but the time it takes.
    """
    work = partial(_rows, settings, seed)
    rows = [row for found in threaded(work, range(settings.seeds), cores) for row in found]
    frame = _averages(pd.DataFrame(rows), ["rule", "annotators"])
    short = frame[frame["true"].isna()]
    if len(short):
        raise InputError(
            f"simulation.sampled: {short['rule'].iloc[0]} cannot find {settings.sampled} photographs; ask for fewer, or "
            "raise simulation.candidates."
        )
    return frame


def scan(
    settings: Simulation,
    seed: int,
    annotators: Sequence[int] = ANNOTATORS,
    thresholds: Sequence[float] | None = None,
    qualities: Sequence[float] | None = None,
    cores: int = 1,
) -> pd.DataFrame:
    """Bias of each rule against the number of annotators, for thresholds and for qualities of the pool.

    Returns:
        a row a quality, rule, threshold (missing for the other rules) and number of annotators: the columns of
        ``table``, of which ``expected_change`` is the bias in accuracy, and ``bias``, that in the true frequency:
        ``true`` less ``true_original``. Values are missing where a rule cannot find enough photographs.
    """
    limits = [settings.threshold] if thresholds is None else thresholds
    grid = list(product([settings.quality] if qualities is None else qualities, range(settings.seeds)))
    work = partial(_scanned, settings, seed, annotators, limits)
    found = progress(threaded(work, grid, cores), "simulate", len(grid))
    rows = [row for rows in found for row in rows]
    frame = _averages(pd.DataFrame(rows), ["quality", "rule", "threshold", "annotators"])
    return frame.assign(bias=frame["true"] - frame["true_original"])


def label(rule: str, limit: float) -> str:
    """How a rule is written: Threshold0.7."""
    return f"{rule}{limit:g}" if rule == THRESHOLD else rule


def _rows(settings: Simulation, seed: int, number: int) -> list[dict[str, Any]]:
    """Outcomes of study ``number``: MatchedFrequency with each number of annotators, all rules with the smallest."""
    study, fewest = draw(settings, seed, number), min(settings.annotators)
    rows = []
    for k in settings.annotators:
        votes = vote(study, k, generator(seed, "simulation", number, "votes", k))
        for rule in RULES if k == fewest else (MATCHED,):
            taken = _take(settings, seed, number, votes, rule, settings.threshold)
            result = asdict(outcome(study, votes, taken, settings.sampled))
            rows.append({"rule": rule, "annotators": k, **result})
    return rows


def _scanned(
    settings: Simulation,
    seed: int,
    annotators: Sequence[int],
    limits: Sequence[float],
    place: tuple[float, int],
) -> list[dict[str, Any]]:
    """Outcomes of one study with candidates of one quality: every rule with each number of annotators."""
    quality, number = place
    study = draw(settings.model_copy(update={"quality": quality}), seed, number)
    rules = [(MATCHED, float("nan")), *((THRESHOLD, limit) for limit in limits), (TOP, float("nan"))]
    rows = []
    for k in annotators:
        votes = vote(study, k, generator(seed, "simulation", number, "votes", k))
        for rule, limit in rules:
            taken = _take(settings, seed, number, votes, rule, limit)
            result = asdict(outcome(study, votes, taken, settings.sampled))
            rows.append({"quality": quality, "rule": rule, "threshold": limit, "annotators": k, **result})
    return rows


def _take(settings: Simulation, seed: int, number: int, votes: Votes, rule: str, limit: float) -> Indices:
    if rule == TOP:
        return top_images(votes, settings.sampled)
    rng = generator(seed, "simulation", number, "taken", votes.annotators, label(rule, limit))
    if rule == THRESHOLD:
        return threshold(rng, votes, settings.sampled, exact(limit))
    return matched_frequency(rng, votes, settings.sampled, [exact(e) for e in settings.edges])


def _averages(rows: pd.DataFrame, key: list[str]) -> pd.DataFrame:
    """Averages over seeds by key, missing where one study's are; in the order of the rows."""
    groups = rows.groupby(key, sort=False, dropna=False)
    frame = groups.agg(_mean)
    frame["change_deviation"] = groups["change"].agg(_deviation)
    frame.insert(0, "seeds", groups.size())
    ordered = frame.reset_index()
    ordered["rule"] = pd.Categorical(ordered["rule"], RULES)
    return ordered.sort_values(key, ignore_index=True).astype({"rule": "str"})


def _mean(values: pd.Series[float]) -> float:
    return float(values.mean(skipna=False))


def _deviation(values: pd.Series[float]) -> float:
    return float(values.std(ddof=1, skipna=False))
