"""How the workflow divides evaluation into jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imagenetv2.evaluation.stages import SETS

if TYPE_CHECKING:
    from imagenetv2.plan import Plan


@dataclass(frozen=True)
class Job:
    """One job: a set, the stages whose artifacts it makes, and its only model, or None for every model."""

    name: str
    member: str
    stages: tuple[str, ...]
    model: str | None = None


def jobs(plan: Plan) -> list[Job]:
    """One job for each set; with ``evaluation.separate``, one for each model and set."""
    found = []
    for member in SETS:
        stages = plan.family(f"predictions/{member}")
        if plan.config.evaluation.separate:
            for n, stage in enumerate(stages):
                found.append(Job(f"evaluate_{member}_{n}", member, (stage,), stage.rsplit("/", 1)[1]))
        else:
            found.append(Job(f"evaluate_{member}", member, tuple(stages)))
    return found
