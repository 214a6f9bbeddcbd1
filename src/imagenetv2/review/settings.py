"""Who reviews, and what they are shown."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section, operational


class Simulated(Section):
    """The embedded world's reviewer, who sees the faults that the world knows of."""

    rounds: int = Field(
        30, ge=1, description="Most rounds of sampling and review before a set counts as stuck."
    )
    oversight: float = Field(
        0.1, ge=0, lt=1, description="Share of the faults in front of it that it overlooks at each look."
    )


class Review(Section):
    """Review of near-duplicate pairs and of the sampled sets."""

    reviewer: Literal["simulated", "people"] = Field(
        "simulated",
        description="simulated: the embedded world's reviewer; people: verdicts recorded in the store.",
    )
    simulated: Simulated = Field(Simulated(), description="The simulated reviewer.")
    store: Path = operational(
        Path("data/stores/verdicts"),
        "Folder of the verdicts that people gave, one JSON object a line: pairs.jsonl and one file a rule.",
    )
    beside: int = operational(10, "Random validation images shown beside the images of a class.", ge=1)
