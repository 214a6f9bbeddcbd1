"""The kinds of models. A new kind is one module beside this file and one entry in ``KINDS``.

The module of a trained kind has ``train(model, training) -> Fitted``, that of a pretrained kind
``outline(model) -> Facts``; both have ``load(model, facts, weights, compute) -> Classifier``.
The types are in ``imagenetv2.evaluation.classifier``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """The module that implements a kind, and whether the workflow trains it on the training split."""

    module: str
    trained: bool


KINDS = {
    "nearest_centroid": Kind("imagenetv2.evaluation.kinds.nearest_centroid", trained=True),
    "random_features": Kind("imagenetv2.evaluation.kinds.random_features", trained=True),
    "fisher_vectors": Kind("imagenetv2.evaluation.kinds.fisher_vectors", trained=True),
    "hog": Kind("imagenetv2.evaluation.kinds.gradients", trained=True),
    "lite0_features": Kind("imagenetv2.evaluation.kinds.lite0_features", trained=True),
    "timm_trained": Kind("imagenetv2.evaluation.kinds.timm_trained", trained=True),
    "timm": Kind("imagenetv2.evaluation.kinds.timm_pretrained", trained=False),
    "torchvision": Kind("imagenetv2.evaluation.kinds.torchvision_pretrained", trained=False),
    "lite0": Kind("imagenetv2.evaluation.kinds.lite_pretrained", trained=False),
    "lite1": Kind("imagenetv2.evaluation.kinds.lite_pretrained", trained=False),
    "lite2": Kind("imagenetv2.evaluation.kinds.lite_pretrained", trained=False),
    "onnx": Kind("imagenetv2.evaluation.kinds.onnx_file", trained=False),
    "python": Kind("imagenetv2.evaluation.kinds.python_function", trained=False),
}
