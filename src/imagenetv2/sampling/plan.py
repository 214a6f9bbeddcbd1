"""What a chain of revisions is made from, other than verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.sampling.pool import Pool, pools, rows
from imagenetv2.sampling.rules import RULES
from imagenetv2.sampling.settings import Eligibility, Threshold
from imagenetv2.sampling.staying import Component, components
from imagenetv2.settings import Section

if TYPE_CHECKING:
    import pandas as pd

TABLES = {
    "classes": "classes",
    "candidates": "candidates",
    "frequencies": "frequencies",
    "duplicates": "fates",
}
"""Table of each stage that a plan is made from."""


@dataclass(frozen=True)
class Plan:
    """Everything but verdicts that determines the chain of a rule."""

    rule: str
    pools: Mapping[str, Pool]
    eligibility: Eligibility
    settings: Section
    seed: int
    components: Mapping[str, Component] = field(default_factory=dict)

    @cached_property
    def of_image(self) -> dict[str, set[str]]:
        """Names of the components that an image may stay of, by image_id."""
        found: dict[str, set[str]] = {}
        for name, component in self.components.items():
            for image, _ in component.order:
                found.setdefault(image, set()).add(name)
        return found


def plan_of(job: Job) -> Plan:
    """The plan of the rule that a ``datasets/<rule>`` or ``reviews/<rule>`` stage is of."""
    rule = job.stage.name.partition("/")[2]
    tables = {stage: job.read(stage).table(table) for stage, table in TABLES.items()}
    return plan_from(rule, tables, job.settings(Eligibility), job.settings(RULES[rule].settings), job.seed)


def plan_from(
    rule: str, tables: Mapping[str, pd.DataFrame], eligibility: Eligibility, settings: Section, seed: int
) -> Plan:
    """A plan from the tables of ``TABLES``, by stage.

    Raises InputError where sampling.threshold.by_class names a class that is not in the table of classes.
    """
    wnids = tables["classes"]["wnid"].tolist()
    if isinstance(settings, Threshold):
        unknown = sorted(set(settings.by_class) - set(wnids))
        if unknown:
            raise InputError(
                f"sampling.threshold.by_class: {unknown[0]} is not among the {len(wnids)} classes; remove it."
            )
    found = pools(wnids, tables["candidates"], tables["frequencies"], tables["duplicates"])
    fates = rows(tables["duplicates"], ("image_id", "wnid", "component", "fate", "place"))
    few = {
        (candidate.image_id, wnid)
        for wnid, pool in found.items()
        for candidate in pool.candidates
        if candidate.shown < eligibility.minimum_votes
    }
    return Plan(rule, found, eligibility, settings, seed, components(fates, few))
