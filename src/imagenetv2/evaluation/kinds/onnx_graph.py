"""What an ONNX file says of itself, without the weights that lie beside it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imagenetv2.errors import InputError, first_line
from imagenetv2.versions import digest_file

PREPROCESSING = "preprocessing"
"""The entry of the metadata that may say, as JSON, what the input has to look like; see ``stated.Stated``."""

SHAPING = ("Cast", "Flatten", "Identity", "Reshape", "Squeeze")
"""Operators that leave what they are given as it is."""


@dataclass(frozen=True)
class OnnxGraph:
    """The parts of a file that are asked for.

    Attributes:
        path: the file.
        external: further files beside it that hold weights, sorted.
        made_by: the program that wrote it, and the version of ONNX's operators that it needs.
        preprocessing: the entry of that name of its metadata, decoded; None where there is none.
        probabilities: whether its output is a softmax's.
    """

    path: Path
    external: tuple[Path, ...]
    made_by: str
    preprocessing: Any
    probabilities: bool

    def digest(self) -> str:
        """SHA-256 of the file; with external data, of the SHA-256 and name of the file and of each further one."""
        own = digest_file(self.path)
        if not self.external:
            return own
        lines = [
            own,
            *(f"{digest_file(p)} {p.relative_to(self.path.parent).as_posix()}" for p in self.external),
        ]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def beside(path: Path) -> dict[str, Path]:
    """Files of external data of an ONNX file, by their place beside it.

    None where they cannot be told: the package onnx is missing, or the file is, or is damaged; whoever loads it says so.
    """
    try:
        external = read(path, "").external
    except (ImportError, InputError):
        return {}
    return {file.relative_to(path.parent).as_posix(): file for file in external}


def read(path: Path, name: str) -> OnnxGraph:
    """Of the file of the model called ``name``.

    Raises InputError where it cannot be read, is no ONNX file, or lacks a file of external data.
    """
    import onnx

    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        reason = error.strerror or first_line(error)
        raise InputError(f"models: {name}: {path} cannot be read ({reason}); correct weights.") from error
    except Exception as error:  # protobuf's own, which differ between its versions.
        raise _no_model(path, name) from error
    if not model.graph.node:
        raise _no_model(path, name)
    external = tuple(sorted({path.parent / location for location in _locations(model)}))
    lost = next((p for p in external if not p.is_file()), None)
    if lost is not None:
        raise InputError(
            f"models: {name}: {path} keeps its weights in {lost.name}, which does not lie beside it; copy that file, too."
        )
    opset = next((o.version for o in model.opset_import if o.domain in ("", "ai.onnx")), 0)
    producer = f"{model.producer_name} {model.producer_version}".strip() or "an unnamed program"
    return OnnxGraph(
        path,
        external,
        f"{producer}, opset {opset}",
        _preprocessing(model, path, name),
        _ends_in_softmax(model.graph),
    )


def _no_model(path: Path, name: str) -> InputError:
    return InputError(f"models: {name}: {path} is no ONNX file, or is damaged; set weights to a .onnx file.")


def _preprocessing(model: Any, path: Path, name: str) -> Any:
    text = next((entry.value for entry in model.metadata_props if entry.key == PREPROCESSING), None)
    try:
        return None if text is None else json.loads(text)
    except ValueError as error:
        raise InputError(
            f"models: {name}: the entry {PREPROCESSING} of the metadata of {path} is no JSON ({error}); correct it."
        ) from error


def _ends_in_softmax(graph: Any) -> bool:
    makers = {output: node for node in graph.node for output in node.output}
    node = makers.get(graph.output[0].name) if graph.output else None
    while node is not None and node.op_type in SHAPING:
        node = makers.get(node.input[0])
    return node is not None and node.op_type == "Softmax"


def _locations(message: Any) -> Iterator[str]:
    """Names of files with external data, wherever in a model tensors may be."""
    if message.DESCRIPTOR.name == "TensorProto":
        yield from (entry.value for entry in message.external_data if entry.key == "location")
        return
    for field, value in message.ListFields():
        if field.message_type is not None:
            for part in value if field.is_repeated else [value]:
                yield from _locations(part)
