"""Mechanical Turk tasks, who answers them, and what their answers come to."""

from __future__ import annotations

from decimal import Decimal
from typing import Literal

from pydantic import Field, model_validator

from imagenetv2.settings import Section, operational


class Hits(Section):
    """Tasks (HITs): a grid of images of which workers tick those that show the class."""

    images_per_task: int = Field(48, ge=4, le=100, description="Images in a task, controls included.")
    positive_controls: int = Field(3, ge=0, description="Validation images of the class in each task.")
    negative_controls: int = Field(
        3, ge=0, description="Validation images of a WordNet-near class in each task."
    )
    validation_per_class: int = Field(
        30,
        ge=0,
        description="Validation images a class that are annotated beside the candidates, to be matched against; "
        "slots that are left over in a class's tasks take further ones.",
    )
    shown_side: int = Field(160, ge=32, description="Longest side of the images shown to workers, in pixels.")
    workers_per_task: int = Field(10, ge=1, description="Distinct workers who answer each task.")
    reward: Decimal = Field(
        Decimal("0.20"), ge=Decimal("0.01"), decimal_places=2, description="Reward an assignment, US dollars."
    )
    minutes: int = Field(30, ge=1, description="Time a worker has for a task, in minutes.")
    blinding: Literal["seed", "environment"] = Field(
        "seed",
        description="Key of the opaque image tokens: from the seed, or from the environment variable "
        "IMAGENETV2_BLINDING_KEY (for real workers, who could read a public seed).",
    )

    @model_validator(mode="after")
    def _room(self) -> Hits:
        if self.positive_controls + self.negative_controls >= self.images_per_task:
            raise ValueError(
                f"{self.positive_controls} positive and {self.negative_controls} negative controls leave no room "
                f"for candidates in a task of {self.images_per_task}"
            )
        return self


class Assignments(Section):
    """Publishing tasks, and collecting what workers answered."""

    batch: str = Field(
        "first",
        pattern=r"^[A-Za-z0-9._-]{1,32}$",
        description="Name of this round of tasks; a new name publishes, and pays, again.",
    )
    mode: Literal["sandbox", "live"] = Field(
        "sandbox", description="sandbox: nothing is paid; live: real workers, real money, needs spend_limit."
    )
    spend_limit: Decimal | None = operational(
        None,
        "Largest sum in US dollars that live tasks may cost, fees included; nothing is published above it.",
        ge=0,
    )
    bucket: str = operational("imagenetv2-tasks", "Bucket that holds task pages and pictures.")
    poll_seconds: float = operational(
        1.0, "Pause between two looks at the state of the tasks, in seconds.", gt=0
    )
    lifetime_days: int = operational(
        7, "Days for which workers find a published task; prolonged when collecting goes on.", ge=1, le=365
    )
    approval_days: int = operational(
        7, "Days after which Mechanical Turk approves an answer that was not collected.", ge=1, le=30
    )
    patience_seconds: float = operational(
        600.0, "How long to wait for workers without any new answer before leaving off, in seconds.", gt=0
    )

    @model_validator(mode="after")
    def _limit(self) -> Assignments:
        if self.mode == "live" and self.spend_limit is None:
            raise ValueError("mode is live but spend_limit is not set: state the most that may be spent")
        return self


class Frequencies(Section):
    """Selection frequencies: the share of an image's workers who selected it."""

    level: float = Field(0.95, gt=0, lt=1, description="Level of the Clopper–Pearson intervals.")
