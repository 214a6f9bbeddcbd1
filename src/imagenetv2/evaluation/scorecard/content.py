"""What a model's file or code holds: an edited one is another model, whatever its name."""

from __future__ import annotations

from imagenetv2.errors import InputError, first_line
from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.classifier import Compute, Facts
from imagenetv2.evaluation.settings import Model
from imagenetv2.versions import digest_file

AT_HAND = ("lite0", "lite1", "lite2", "onnx")
"""Kinds whose weights are on this machine; of others, those with a file of weights."""


def content(model: Model) -> str | None:
    """Digest of a model's own weights and code; None for one that its library and name say all about.

    Raises InputError where they cannot be read, or the code fails.
    """
    if model.kind == "python":
        from imagenetv2.evaluation.kinds import python_function

        return python_function.digest(model)
    if model.weights is None:
        return None
    if model.kind == "onnx":
        from imagenetv2.evaluation.kinds import onnx_graph

        return onnx_graph.read(model.weights, model.name).digest()
    try:
        return digest_file(model.weights)
    except OSError as error:
        raise InputError(
            f"models: {model.name}: its weights {model.weights} cannot be read ({error.strerror}); name another file."
        ) from error


def at_hand(model: Model) -> bool:
    """Whether nothing is fetched to load a model."""
    return model.kind in AT_HAND or model.weights is not None


def require_loadable(model: Model, facts: Facts) -> None:
    """Raises InputError where weights or code that are at hand do not load: better now than after hours."""
    if not at_hand(model) and model.kind != "python":
        return
    try:
        classifier.load(model, facts, {}, Compute())
    except InputError:
        raise
    except Exception as error:  # A model of the user's may raise anything.
        raise InputError(
            f"models: {model.name}: it cannot be loaded ({first_line(error)}); correct it."
        ) from error
