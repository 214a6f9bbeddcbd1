"""Checking requests against botocore's model of a service."""

from __future__ import annotations

import re
from typing import Any

from botocore.loaders import Loader
from botocore.model import ServiceModel
from botocore.validate import ParamValidator


class Checker:
    """Knows one service by botocore's name for it, such as ``mturk``."""

    def __init__(self, service: str) -> None:
        self._model = ServiceModel(Loader().load_service_model(service, "service-2"), service)
        self._validator = ParamValidator()

    def problems(self, operation: str, request: Any) -> str:
        """What is wrong with the request of an operation, in one text; empty where nothing is."""
        return self._report(request, self._model.operation_model(operation).input_shape)

    def answer_problems(self, operation: str, answer: Any) -> str:
        """What is wrong with the answer to an operation, in one text; empty where nothing is."""
        return self._report(answer, self._model.operation_model(operation).output_shape)

    def _report(self, value: Any, shape: Any) -> str:
        if not isinstance(value, dict):
            return "The request is not a JSON object"
        report = self._validator.validate(value, shape)
        if report.has_errors():
            return str(report.generate_report())
        return "; ".join(_bounds(value, shape, "")) + "; ".join(
            f"unknown parameter {name}" for name in sorted(set(value) - set(shape.members))
        )


def _bounds(value: Any, shape: Any, where: str) -> list[str]:
    """Upper bounds, patterns and enumerations, which ParamValidator leaves to the service."""
    if shape.type_name == "structure":
        known = [(name, member) for name, member in shape.members.items() if name in value]
        return [p for name, member in known for p in _bounds(value[name], member, f"{where}.{name}")]
    if shape.type_name == "list":
        return [p for i, item in enumerate(value) for p in _bounds(item, shape.member, f"{where}[{i}]")]
    found, limits, name = [], shape.metadata, where.lstrip(".")
    size = len(value) if isinstance(value, str) else value
    if "max" in limits and not isinstance(value, bool) and size > limits["max"]:
        found.append(f"{name} {size} is above {limits['max']}")
    if isinstance(value, str):
        if limits.get("pattern") and not re.search(limits["pattern"], value):
            found.append(f"{name} {value!r} does not fit {limits['pattern']}")
        if limits.get("enum") and value not in limits["enum"]:
            found.append(f"{name} {value!r} is none of {', '.join(limits['enum'])}")
    return found
