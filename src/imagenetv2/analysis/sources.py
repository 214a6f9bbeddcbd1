"""The tables of a run that the analysis and the report both read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from imagenetv2.job import Job
from imagenetv2.sampling.stages import RULES


@dataclass(frozen=True)
class World:
    """What an embedded world knows: see ``imagenetv2.world.stages``."""

    photos: pd.DataFrame
    truth: pd.DataFrame


@dataclass(frozen=True)
class Sources:
    """Tables by the names of the stages' declarations; ``images`` and ``counts`` have one table a rule.

    ``world`` is None in the real world, where nobody knows the truth.
    """

    classes: pd.DataFrame
    reference: pd.DataFrame
    queries: pd.DataFrame
    found: pd.DataFrame
    candidates: pd.DataFrame
    copies: pd.DataFrame
    rejected: pd.DataFrame
    tasks: pd.DataFrame
    assignments: pd.DataFrame
    frequencies: pd.DataFrame
    workers: pd.DataFrame
    pairs: pd.DataFrame
    fates: pd.DataFrame
    images: Mapping[str, pd.DataFrame]
    counts: Mapping[str, pd.DataFrame]
    world: World | None


def read(job: Job) -> Sources:
    """Everything that ``job`` reads apart from predictions."""
    datasets = {rule: job.read(f"datasets/{rule}") for rule in RULES}
    world = None
    if "world" in job.stage.reads:
        world = World(job.read("world").table("photos"), job.read("world").table("truth"))
    return Sources(
        classes=job.read("classes").table("classes"),
        reference=job.read("reference").table("reference"),
        queries=job.read("search").table("queries"),
        found=job.read("search").table("photos"),
        candidates=job.read("candidates").table("candidates"),
        copies=job.read("candidates").table("copies"),
        rejected=job.read("candidates").table("rejected"),
        tasks=job.read("hits").table("tasks"),
        assignments=job.read("assignments").table("assignments"),
        frequencies=job.read("frequencies").table("frequencies"),
        workers=job.read("frequencies").table("workers"),
        pairs=job.read("duplicates").table("pairs"),
        fates=job.read("duplicates").table("fates"),
        images={rule: artifact.table("images") for rule, artifact in datasets.items()},
        counts={rule: artifact.table("classes") for rule, artifact in datasets.items()},
        world=world,
    )


def annotated(frequencies: pd.DataFrame, minimum_votes: int) -> pd.DataFrame:
    """Selection frequencies of the original: validation images asked about for their own class, enough votes."""
    chosen = (
        (frequencies["origin"] == "reference")
        & ~frequencies["negative"]
        & (frequencies["shown"] >= minimum_votes)
    )
    return frequencies[chosen].reset_index(drop=True)
