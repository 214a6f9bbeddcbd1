"""A network in an ONNX file, run by ONNX Runtime in the precision that it was exported in.

What its input has to look like is taken from the configuration, else from the entry ``preprocessing`` of the file's
metadata (JSON, see ``stated.Stated``), and what neither says is as usual: see the fact ``assumed``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from imagenetv2.errors import InputError, first_line
from imagenetv2.evaluation.classifier import Array, Compute, Facts, Weights
from imagenetv2.evaluation.kinds import onnx_graph, stated
from imagenetv2.evaluation.kinds.network import require_imagenet
from imagenetv2.evaluation.kinds.onnx_graph import OnnxGraph
from imagenetv2.evaluation.preprocessing import Preprocessing, Size
from imagenetv2.evaluation.settings import Model

TYPES = {"tensor(float)": np.float32, "tensor(float16)": np.float16}
CPU, CUDA = "CPUExecutionProvider", "CUDAExecutionProvider"
SMALLEST = np.finfo(np.float64).tiny


def outline(model: Model) -> Facts:
    """What the file says of itself.

    Raises InputError where there is no such file, it is no ONNX file, or no network that takes images of three
    channels, channels first, and gives a row of 1,000 outputs for each.
    """
    runtime, graph = _runtime(model), _graph(model)
    session = _session(model, Compute(), light=True)
    size = _image_size(model, session)
    return {
        "library": "onnxruntime",
        "version": runtime.__version__,
        "architecture": graph.made_by,
        "tag": "",
        **stated.facts(model, graph.preprocessing, f"{onnx_graph.PREPROCESSING} in {graph.path}", size),
        "outputs": require_imagenet(model.name, str(graph.path), _count(model, session)),
    }


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> OnnxFile:
    """The network. Raises InputError where it cannot be run in this mode or on this device."""
    if compute.mode != "reference":
        raise InputError(
            f"models: {model.name}: an ONNX file is computed in the precision that it was exported in; "
            "choose mode reference."
        )
    _runtime(model)
    graph, session = _graph(model), _session(model, compute)
    _image_size(model, session)
    return OnnxFile(session, Preprocessing.from_json(facts["preprocessing"]), graph)


class OnnxFile:
    """A session; several threads may call it at once.

    A file with a fixed number of images a pass is given just as many: longer batches in parts, and what is missing
    of a part is black.
    """

    def __init__(self, session: Any, preprocessing: Preprocessing, graph: OnnxGraph) -> None:
        self.digest: str | None = graph.digest()
        (entry,) = session.get_inputs()
        self._session, self._preprocessing, self._name = session, preprocessing, entry.name
        self._type = TYPES[entry.type]
        self._images = entry.shape[0] if isinstance(entry.shape[0], int) else None
        self._probabilities = graph.probabilities

    def outputs(self, batch: Array) -> Array:
        """Images × outputs; of a network that ends in a softmax, logarithms of them."""
        size = self._images or len(batch)
        found = np.concatenate([self._pass(batch[i : i + size], size) for i in range(0, len(batch), size)])
        if self._probabilities:
            # In float64: logarithms of small numbers that differ would be equal in float32.
            return np.asarray(np.log(np.maximum(found.astype(np.float64), SMALLEST)))
        return found

    def _pass(self, batch: Array, size: int) -> Array:
        images = np.zeros((size, *batch.shape[1:]), np.uint8)
        images[: len(batch)] = batch
        try:
            scaled = self._preprocessing.scale(images).astype(self._type, copy=False)
            (found,) = self._session.run(None, {self._name: scaled})
        except Exception as error:
            # ONNX Runtime's errors are of no kind that others know.
            if "allocate memory" in str(error).lower():
                raise MemoryError(first_line(error)) from error
            raise
        return np.asarray(found.reshape(size, -1)[: len(batch)])


def _runtime(model: Model) -> Any:
    try:
        import onnx  # noqa: F401
        import onnxruntime
    except ImportError as error:
        raise InputError(
            f"models: {model.name}: an ONNX file needs the packages onnx and onnxruntime; install imagenetv2[onnx]."
        ) from error
    return onnxruntime


def _graph(model: Model) -> OnnxGraph:
    assert model.weights is not None, "settings see to it"
    return onnx_graph.read(model.weights, model.name)


def _session(model: Model, compute: Compute, *, light: bool = False) -> Any:
    """A session; a light one is not made to be run."""
    runtime = _runtime(model)
    options = runtime.SessionOptions()
    # Whoever calls has a thread for each pass.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.use_deterministic_compute = True
    options.log_severity_level = 3
    if light:
        options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    provider: Any = CPU
    kind, _, number = compute.device.partition(":")
    if kind == "cuda":
        if CUDA not in runtime.get_available_providers():
            raise InputError(
                f"models: {model.name}: this ONNX Runtime cannot use {compute.device}; install onnxruntime-gpu in place of "
                "onnxruntime, or choose device cpu."
            )
        # Not the quickest algorithm of the moment, and no TF32: results would differ from run to run and GPU to GPU.
        provider = (CUDA, {"device_id": number or "0", "use_tf32": "0", "cudnn_conv_algo_search": "DEFAULT"})
    try:
        found = runtime.InferenceSession(str(model.weights), options, providers=[provider])
    except Exception as error:  # onnxruntime has a class for each of its status codes, and ValueError.
        raise InputError(
            f"models: {model.name}: ONNX Runtime cannot run {model.weights} on {compute.device} ({first_line(error)}); "
            "export it again for this version of ONNX Runtime, or run it on another device."
        ) from error
    if kind == "cuda" and CUDA not in found.get_providers():
        raise InputError(
            f"models: {model.name}: ONNX Runtime does not find the libraries that it needs for {compute.device}; install "
            "those that its documentation names, or choose device cpu."
        )
    return found


def _image_size(model: Model, session: Any) -> Size | None:
    """Height and width of the input, None where it takes any. Raises InputError where it takes no RGB images."""
    inputs = session.get_inputs()
    if len(inputs) != 1:
        names = ", ".join(entry.name for entry in inputs) or "none"
        raise _unfit(
            model, f"has {len(inputs)} inputs ({names})", "export it with the image as its only input"
        )
    (entry,) = inputs
    if entry.type not in TYPES:
        raise _unfit(model, f"takes {entry.type}", "export it with an input of float32")
    shape = " × ".join(str(length) for length in entry.shape)
    if len(entry.shape) != 4:
        raise _unfit(
            model, f"takes an input of {shape}", "export it for images × 3 channels × height × width"
        )
    channels, height, width = entry.shape[1:]
    if isinstance(channels, int) and channels != 3:
        if width == 3:
            remedy = "export it with channels first (NCHW)"
            raise _unfit(model, f"takes an input of {shape}, channels last (NHWC)", remedy)
        raise _unfit(
            model, f"needs {channels} channels, not the 3 of an image", "export a network for RGB images"
        )
    return (height, width) if isinstance(height, int) and isinstance(width, int) else None


def _count(model: Model, session: Any) -> int:
    """How many outputs there are for an image."""
    outputs = session.get_outputs()
    if len(outputs) != 1:
        names = ", ".join(entry.name for entry in outputs)
        raise _unfit(
            model, f"has {len(outputs)} outputs ({names})", "export it with the logits as its only output"
        )
    shape = list(outputs[0].shape)
    while len(shape) > 2 and shape[-1] == 1:
        shape.pop()
    if len(shape) != 2 or not isinstance(shape[1], int):
        found = " × ".join(str(length) for length in outputs[0].shape) or "an unknown shape"
        remedy = "export it with a row of logits for each image, of a fixed number"
        raise _unfit(model, f"has an output of {found}", remedy)
    return int(shape[1])


def _unfit(model: Model, what: str, remedy: str) -> InputError:
    return InputError(f"models: {model.name}: {model.weights} {what}; {remedy}.")
