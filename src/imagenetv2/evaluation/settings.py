"""Which models are evaluated, and how."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section, operational


class Model(Section):
    """One model."""

    name: str = Field(pattern=r"^[A-Za-z0-9._-]+$", description="Its name in tables and figures.")
    kind: Literal[
        "nearest_centroid",
        "random_features",
        "hog",
        "lite0_features",
        "timm_trained",
        "timm",
        "torchvision",
        "lite0",
    ] = Field(
        description="The first five are trained on the training split by the workflow; timm and torchvision are "
        "pretrained networks; lite0 is EfficientNet-Lite0 from its PyPI package."
    )
    architecture: str = Field(
        "", description="Name of the network in its library, with its tag where it has one."
    )
    family: str = Field("", description="Group of models in figures; empty takes the kind.")
    side: int = Field(
        64, ge=8, description="Input size of a model that is trained by the workflow, in pixels."
    )
    epochs: int = Field(10, ge=1, description="Passes over the training split of a network that is trained.")
    learning_rate: float = Field(0.002, gt=0, description="Peak learning rate of AdamW.")
    components: int = Field(1000, ge=1, description="Random features drawn.")


def _spread() -> tuple[Model, ...]:
    """Embedded world: from baselines that barely learn to small networks."""
    return (
        Model(name="nearest_centroid", kind="nearest_centroid", family="baseline", side=16),
        Model(name="random_features", kind="random_features", family="baseline", side=24),
        Model(name="hog_linear", kind="hog", family="baseline", side=64),
        Model(name="lite0_linear", kind="lite0_features", family="transfer", side=64),
        Model(
            name="resnet_short", kind="timm_trained", architecture="test_resnet", family="network", epochs=3
        ),
        Model(name="resnet", kind="timm_trained", architecture="test_resnet", family="network", epochs=12),
        Model(
            name="convnext", kind="timm_trained", architecture="test_convnext", family="network", epochs=12
        ),
        Model(
            name="efficientnet",
            kind="timm_trained",
            architecture="test_efficientnet",
            family="network",
            epochs=12,
        ),
        Model(name="vit", kind="timm_trained", architecture="test_vit", family="network", epochs=12),
    )


class Evaluation(Section):
    """How models are run."""

    precision: Literal["float32"] = Field("float32", description="Arithmetic of the networks, TF32 off.")
    device: Literal["auto", "cpu", "cuda"] = operational("auto", "auto takes a GPU where there is one.")
    batch: int = operational(128, "Images a forward pass.", ge=1)


def models_field() -> tuple[Model, ...]:
    """Default of the ``models`` list."""
    return _spread()
