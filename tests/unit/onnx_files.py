"""ONNX files for tests: exports of networks, and small ones built node by node."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper


def export(module: torch.nn.Module, path: Path, side: int, *, dynamo: bool = False) -> Path:
    """The file that PyTorch writes, for any number of images: by its former exporter, which is ten times as quick, or
    by the present one, which keeps weights in a file of their own."""
    batch = torch.zeros(2, 3, side, side)
    options: dict[str, Any]
    if dynamo:
        options = {"dynamic_shapes": ({0: torch.export.Dim("images")},)}
    else:
        options = {"opset_version": 17, "input_names": ["image"], "dynamic_axes": {"image": {0: "images"}}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the exporters use what their own libraries deprecate
        torch.onnx.export(module.eval(), (batch,), path, dynamo=dynamo, verbose=False, **options)
    return path


def mean_colour(
    path: Path,
    *,
    images: int | str = "images",
    size: Sequence[int | str] = (3, 8, 8),
    outputs: int = 1000,
    kind: int = TensorProto.FLOAT,
    softmax: bool = False,
    inputs: int = 1,
    external: bool = False,
    metadata: dict[str, str] | None = None,
) -> Path:
    """A network whose outputs are linear in the mean of each channel, with seeded weights; ``kind`` is the type of its input."""
    random = np.random.default_rng(1)
    channels = size[0] if isinstance(size[0], int) else 3
    weight = random.normal(size=(channels, outputs)).astype(np.float32)
    nodes = [
        helper.make_node("Cast", ["image"], ["cast"], to=TensorProto.FLOAT),
        helper.make_node("GlobalAveragePool", ["cast"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["flat"]),
        helper.make_node("MatMul", ["flat", "weight"], ["scores" if softmax else "logits"]),
    ]
    if softmax:
        nodes.append(helper.make_node("Softmax", ["scores"], ["logits"], axis=1))
    entries = [helper.make_tensor_value_info("image", kind, [images, *size])]
    entries += [helper.make_tensor_value_info(f"more{i}", kind, [1]) for i in range(1, inputs)]
    graph = helper.make_graph(
        nodes,
        "mean colour",
        entries,
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, [images, outputs])],
        [numpy_helper.from_array(weight, "weight")],
    )
    model: Any = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="tests")
    model.ir_version = 9
    helper.set_model_props(model, metadata or {})
    onnx.save(model, path, save_as_external_data=external, location=f"{path.name}.data", size_threshold=0)
    return path
