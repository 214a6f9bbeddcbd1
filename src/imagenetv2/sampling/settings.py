"""The three sampling rules."""

from __future__ import annotations

from pydantic import Field, field_validator, model_validator

from imagenetv2.settings import Section


class Eligibility(Section):
    """Which images any rule may take."""

    per_class: int = Field(30, ge=1, description="Images a class in each set; the study: 10.")
    minimum_votes: int = Field(10, ge=1, description="Votes an image must have.")
    blacklist: tuple[str, ...] = Field((), description="image_ids that are never taken.")


class MatchedFrequency(Section):
    """Match the validation images' histogram of selection frequencies, class by class."""

    edges: tuple[float, ...] = Field(
        (0.2, 0.4, 0.6, 0.8),
        description="Inner edges of the bins; each bin holds its lower edge, the last holds 1.",
    )
    minimum_validation: int = Field(
        20, ge=1, description="Annotated validation images that a class needs to be matched against."
    )

    @field_validator("edges")
    @classmethod
    def _rising(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if list(value) != sorted(set(value)) or (value and not 0 < value[0] <= value[-1] < 1):
            raise ValueError(f"{list(value)} must rise strictly between 0 and 1")
        return value


class Threshold(Section):
    """Draw from the images at or above a selection frequency."""

    frequency: float = Field(0.7, ge=0, le=1, description="Lowest selection frequency.")
    by_class: dict[str, float] = Field(
        default_factory=dict, description="Lower thresholds for single classes, by WordNet ID."
    )

    @model_validator(mode="after")
    def _lower(self) -> Threshold:
        for wnid, value in self.by_class.items():
            if not 0 <= value <= self.frequency:
                raise ValueError(
                    f"by_class.{wnid}: {value} must lie between 0 and frequency ({self.frequency})"
                )
        return self


class TopImages(Section):
    """Take the images with the highest selection frequency."""


class Sampling(Section):
    """What is common to the rules, and the rules."""

    eligibility: Eligibility = Field(Eligibility(), description="Which images any rule may take.")
    matched_frequency: MatchedFrequency = Field(MatchedFrequency(), description="MatchedFrequency.")
    threshold: Threshold = Field(Threshold(), description="Threshold; with 0.7 the study's Threshold0.7.")
    top_images: TopImages = Field(TopImages(), description="TopImages.")
