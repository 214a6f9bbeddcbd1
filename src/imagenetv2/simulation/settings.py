"""The study in the small, without images."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from imagenetv2.settings import Section


class Simulation(Section):
    """A source of photographs of known selection probability, annotators, and one fixed classifier."""

    annotators: tuple[int, ...] = Field(
        (10, 40, 200),
        min_length=1,
        description="Annotators an image: MatchedFrequency with each number, the other rules with the smallest.",
    )
    seeds: int = Field(
        10, ge=1, description="Studies of each kind; the table holds their average and spread."
    )
    originals: int = Field(
        60_000, ge=100, description="Photographs among which the original data set was chosen."
    )
    candidates: int = Field(80_000, ge=100, description="New photographs to choose from.")
    sampled: int = Field(5_000, ge=10, description="Photographs of each sampled set.")
    contrast: tuple[float, float] = Field(
        (0.0, 0.6), description="A photograph's contrast is uniform between these; the lower, the harder."
    )
    side: int = Field(16, ge=2, description="Side of a photograph, in pixels.")
    bar: int = Field(
        3, ge=1, description="Thickness of the bar that a photograph shows, across or upright, in pixels."
    )
    noise: float = Field(
        1.5, gt=0, description="Standard deviation of the noise of a pixel, in units of contrast."
    )
    centre: float = Field(0.3, description="Contrast that half of all people would select.")
    width: float = Field(
        0.2,
        gt=0,
        description="People's spread: an annotator selects a photograph with probability "
        "Φ((contrast - centre) / width).",
    )
    quorum: tuple[int, int] = Field(
        (4, 6), description="Votes for, out of how many, that made a photograph an original."
    )
    quality: float = Field(
        0.0,
        ge=0,
        le=1,
        description="Share of the candidates that passed the same vote as the originals; 0: they come straight from "
        "the source.",
    )
    edges: tuple[float, ...] = Field(
        (0.2, 0.4, 0.6, 0.8), description="Inner edges of the bins in which MatchedFrequency matches."
    )
    threshold: float = Field(
        0.7, ge=0, le=1, description="Lowest observed selection frequency for Threshold."
    )

    @field_validator("annotators")
    @classmethod
    def _different(cls, value: tuple[int, ...]) -> tuple[int, ...]:
        if min(value, default=1) < 1:
            raise ValueError(f"{min(value)} annotators cannot be asked; give at least 1")
        if len(set(value)) < len(value):
            raise ValueError(f"{list(value)} holds a number twice; give each once")
        return value

    @field_validator("contrast")
    @classmethod
    def _range(cls, value: tuple[float, float]) -> tuple[float, float]:
        if not 0 <= value[0] < value[1]:
            raise ValueError(f"{list(value)} must rise from at least 0")
        return value

    @field_validator("quorum")
    @classmethod
    def _reachable(cls, value: tuple[int, int]) -> tuple[int, int]:
        if not 1 <= value[0] <= value[1]:
            raise ValueError(f"{value[0]} of {value[1]} votes is no vote; ask for 1 to {max(1, value[1])}")
        return value

    @field_validator("edges")
    @classmethod
    def _rising(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if list(value) != sorted(set(value)) or (value and not 0 < value[0] <= value[-1] < 1):
            raise ValueError(f"{list(value)} must rise strictly between 0 and 1")
        return value

    @model_validator(mode="after")
    def _sizes(self) -> Simulation:
        if self.sampled > self.candidates:
            raise ValueError(
                f"sampled: {self.sampled} photographs cannot be drawn from {self.candidates} candidates"
            )
        if self.bar >= self.side:
            raise ValueError(f"bar: {self.bar} pixels leave nothing around a bar in a side of {self.side}")
        return self
