"""How the workflow divides evaluation into jobs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from imagenetv2.evaluation.stages import SETS

if TYPE_CHECKING:
    from imagenetv2.config import Config


@dataclass(frozen=True)
class Job:
    """One job: a set, and the only model that it evaluates there, or None for every model."""

    name: str
    member: str
    model: str | None = None

    @property
    def options(self) -> str:
        """What the subcommand is told of models."""
        return "" if self.model is None else f"--model {self.model}"

    @property
    def who(self) -> str:
        """Whom it evaluates, for people."""
        return self.model or "every model"

    def stages(self, config: Config) -> list[str]:
        """Stages whose artifacts it makes."""
        models = [model.name for model in config.models] if self.model is None else [self.model]
        return [f"predictions/{self.member}/{model}" for model in models]


def jobs(config: Config) -> list[Job]:
    """One job for each set; with ``evaluation.separate``, one for each model and set."""
    if not config.evaluation.separate:
        return [Job(f"evaluate_{member}", member) for member in SETS]
    models = [model.name for model in config.models]
    return [Job(f"evaluate_{member}_{n}", member, model) for member in SETS for n, model in enumerate(models)]
