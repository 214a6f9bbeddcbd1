"""What a model is to the stages: fitted once, loaded, and asked for outputs."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from imagenetv2.evaluation.kinds import KINDS
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.evaluation.settings import Mode, Model

Array = npt.NDArray[Any]
Integers = npt.NDArray[np.int64]
Weights = Mapping[str, Array]
Facts = Mapping[str, Any]
"""JSON values: library, version, architecture, tag, preprocessing, outputs, state_sha256, …"""


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
    """Where and how a network runs: a device of PyTorch's, such as cpu or cuda:0, and the mode."""

    device: str = "cpu"
    mode: Mode = "reference"
    compile: bool = False


class Classifier(Protocol):
    """A model that is ready.

    Attributes:
        digest: SHA-256 of a pretrained network's state, in hex; None for a model whose weights are in its artifact.
    """

    digest: str | None

    def outputs(self, batch: Array) -> Array:
        """One row an image, one column an output; larger means more likely, on the scale of logits.

        ``batch`` is what ``Preprocessing.cut`` made, stacked: images × height × width × 3, uint8. Called from
        several threads at once; whoever calls keeps libraries to one thread each (``networks.reproducible``).
        """
        ...


def train(model: Model, training: Training) -> Fitted:
    """Train a model of a trained kind."""
    fitted: Fitted = _module(model).train(model, training)
    return fitted


def outline(model: Model) -> Facts:
    """What is known of a pretrained model without its weights: library, architecture, tag, preprocessing.

    Raises InputError where there is no such model.
    """
    facts: Facts = _module(model).outline(model)
    return facts


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Classifier:
    """Make a model ready; ``weights`` is empty for a pretrained one, which finds its own.

    Raises InputError where weights are not to be had, or are another network's.
    """
    classifier: Classifier = _module(model).load(model, facts, weights, compute)
    return classifier


def _module(model: Model) -> Any:
    return importlib.import_module(KINDS[model.kind].module)
