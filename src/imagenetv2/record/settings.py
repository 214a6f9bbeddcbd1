"""A study that was released: read from its record instead of being run."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from imagenetv2.settings import Section, operational


class Record(Section):
    """Where a released record lies, and what it is."""

    path: Path | None = operational(
        None,
        "Record of a released study: a checkout, or its archive as .tar.gz. With it, the study is read from there "
        "and only the analysis runs.",
    )
    kind: Literal["imagenetv2", "cifar10.1"] = Field(
        "imagenetv2",
        description="Layout of the record: imagenetv2 (modestyachts/ImageNetV2) or cifar10.1 (the predictions of "
        "modestyachts/CIFAR-10.1).",
    )
    families: dict[str, tuple[str, ...]] = Field(
        {"Fisher vectors": ("fv_*",), "Random features": ("random_features_*",)},
        description="Families of models by patterns of their names; a model that fits none is a convolutional network.",
    )
