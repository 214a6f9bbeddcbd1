"""What a model is to the stages: fitted once, loaded, and asked for outputs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.evaluation.settings import Model
from imagenetv2.images import Pixels

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Weights = Mapping[str, Array]
Facts = Mapping[str, Any]
"""JSON values: library, version, architecture, preprocessing, outputs, …"""


@dataclass(frozen=True)
class Training:
    """Training images, the position of each one's class (int64, 0 to ``classes`` − 1), and random numbers."""

    images: Pictures
    labels: Integers
    classes: int
    generator: np.random.Generator


@dataclass(frozen=True)
class Fitted:
    """Weights of a trained model (none for a pretrained one), and the facts that ``load`` needs."""

    facts: Facts
    weights: Weights = field(default_factory=dict)


@dataclass(frozen=True)
class Compute:
    """Where networks run, and on how many threads."""

    device: Literal["auto", "cpu", "cuda"] = "cpu"
    threads: int = 1


class Classifier(Protocol):
    """A model that is ready."""

    def prepare(self, pixels: Pixels) -> Array:
        """One image as the model takes it; all have the same shape and dtype. Called from several threads."""
        ...

    def outputs(self, batch: Array) -> Array:
        """One row an image, one column an output; larger means more likely, on the scale of logits."""
        ...


def train(model: Model, training: Training) -> Fitted:
    """Train a model of a trained kind."""
    fitted: Fitted = _module(model).train(model, training)
    return fitted


def describe(model: Model) -> Fitted:
    """Find a pretrained model and its weights. Raises InputError where either is not to be had."""
    fitted: Fitted = _module(model).describe(model)
    return fitted


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Classifier:
    """Make a model ready."""
    classifier: Classifier = _module(model).load(model, facts, weights, compute)
    return classifier


def _module(model: Model) -> Any:
    return importlib.import_module(KINDS[model.kind].module)
