"""A network that a function of the user's makes: ``package.module:callable``, called without arguments.

It returns a ``torch.nn.Module``, or anything that can be called with images × 3 × height × width, float32, on the
device that is evaluated on, and that returns a row of outputs for each. Modules of the current folder are found, as
by ``python -m``. What the input has to look like is taken from the configuration, else from the attribute
``preprocessing`` of what is returned or of the function (see ``stated.Stated``; a transform of torchvision's weights
will do), else from timm's ``pretrained_cfg`` or ``default_cfg``, and what none of them says is as usual: see the fact
``assumed``.

The code is no part of any version: a digest of the network's state and of the file that holds the function is noted,
and checked. What that file imports is not looked at.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from imagenetv2.errors import InputError, first_line
from imagenetv2.evaluation.classifier import Compute, Facts, Weights
from imagenetv2.evaluation.kinds import stated
from imagenetv2.evaluation.kinds.network import Network, require_imagenet, state_digest
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.settings import Model
from imagenetv2.libraries import version_of
from imagenetv2.versions import digest_file

Made = Callable[[torch.Tensor], Any]
_kept: dict[str, tuple[Any, Made]] = {}
"""Functions, and what they returned when a model was outlined, until it is loaded: making it may take long."""


def outline(model: Model) -> Facts:
    """What the module says of itself. Raises InputError where there is none to be had, or it is not ImageNet's."""
    function, made = _made(model)
    _kept[model.architecture] = function, made
    stating = _stating(made, function)
    count = getattr(made, "num_classes", OUTPUTS)
    outputs = require_imagenet(model.name, model.architecture, count if isinstance(count, int) else OUTPUTS)
    package = model.architecture.partition(".")[0].partition(":")[0]
    return {
        "library": package,
        "version": version_of(package),
        "architecture": model.architecture,
        "tag": "",
        **stated.facts(model, stating, f"preprocessing of {model.architecture}"),
        "outputs": outputs,
    }


def load(model: Model, facts: Facts, weights: Weights, compute: Compute) -> Network:
    """The network. Raises InputError where there is none to be had."""
    made = _made(model)[1]
    # Given away once: a network is moved to its device.
    _kept.pop(model.architecture, None)
    module = made if isinstance(made, torch.nn.Module) else Called(made)
    found = _digest(model, made)
    module.register_forward_hook(_require_tensor)
    return Network(module, Preprocessing.from_json(facts["preprocessing"]), compute, found)


def digest(model: Model) -> str:
    """SHA-256 of the network's state, where it has one, and of the file that holds the function.

    Raises InputError as ``load`` does.
    """
    return _digest(model, _made(model)[1])


def _digest(model: Model, made: Made) -> str:
    module = sys.modules.get(model.architecture.partition(":")[0])
    path = Path(getattr(module, "__file__", None) or "")
    try:
        state = state_digest(made) if isinstance(made, torch.nn.Module) else ""
    except Exception as error:  # Of a lazy module, for one.
        raise InputError(
            f"models: {model.name}: {model.architecture} returns a network without values ({first_line(error)}); "
            "correct it."
        ) from error
    return hashlib.sha256(f"{state} {digest_file(path) if path.is_file() else ''}".encode()).hexdigest()


class Called(torch.nn.Module):
    """A function, as a module without a state."""

    def __init__(self, function: Callable[[torch.Tensor], Any]) -> None:
        super().__init__()
        self._function = function

    def forward(self, batch: torch.Tensor) -> Any:
        """What the function returns."""
        return self._function(batch)


def _require_tensor(_module: torch.nn.Module, _inputs: Any, found: Any) -> None:
    if not isinstance(found, torch.Tensor):
        raise TypeError(f"it returns a {type(found).__name__}, not a tensor of images × outputs")


def _made(model: Model) -> tuple[Any, Made]:
    """The function that was named, and what it returned; a module that was named by itself is both."""
    where = f"models: {model.name}: {model.architecture}"
    name, _, attribute = model.architecture.partition(":")
    if not name or not attribute:
        raise InputError(
            f"{where} is no package.module:callable; write the module, a colon and the function."
        )
    with _current_folder():
        function = _function(name, attribute, where)
        if isinstance(function, torch.nn.Module):
            return function, function
        if not callable(function):
            raise InputError(
                f"{where} is a {type(function).__name__}, which cannot be called; name a function."
            )
        kept = _kept.get(model.architecture)
        if kept is not None and kept[0] is function:
            return kept
        try:
            made = function()
        except (Exception, SystemExit) as error:
            raise InputError(f"{where} raises {_raised(error)}; correct it, or its surroundings.") from error
    if not callable(made):
        raise InputError(
            f"{where} returns a {type(made).__name__}; have it return a torch.nn.Module, or a function of a batch."
        )
    return function, made


def _function(name: str, attribute: str, where: str) -> Any:
    try:
        found: Any = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise InputError(
                f"{where}: its import needs {error.name}, which is not there; install it."
            ) from error
        raise InputError(
            f"{where}: there is no module {error.name}; correct the name, or run in the folder that holds it."
        ) from error
    except (Exception, SystemExit) as error:
        raise InputError(f"{where}: importing {name} raises {_raised(error)}; correct it.") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InputError(f"{where}: {name} has no {attribute}; correct the name of the function.")
        found = getattr(found, part)
    return found


def _raised(error: BaseException) -> str:
    return f"{type(error).__name__} ({first_line(error)})"


def _stating(made: Any, function: Any) -> Any:
    """What is said of the input, by the first who says something."""
    for holder, attribute in (
        (made, "preprocessing"), (function, "preprocessing"), (made, "pretrained_cfg"), (made, "default_cfg"),
    ):  # fmt: skip
        found = getattr(holder, attribute, None)
        if found:
            return found.to_dict() if hasattr(found, "to_dict") else found
    return None


@contextmanager
def _current_folder() -> Iterator[None]:
    """The folder that the command runs in comes first on the path of modules."""
    folder = str(Path.cwd())
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.path.remove(folder)
