"""Who reviews, and what they are shown."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section


class Review(Section):
    """Review of near-duplicate pairs and of the sampled sets."""

    reviewer: Literal["simulated", "people"] = Field(
        "simulated",
        description="simulated: the embedded world's reviewer; people: verdicts recorded under data/stores/verdicts.",
    )
    beside: int = Field(10, ge=1, description="Random validation images shown beside the images of a class.")
    rounds: int = Field(
        30, ge=1, description="Most rounds of sampling and review before a set counts as stuck."
    )
