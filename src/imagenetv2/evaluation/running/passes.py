"""Forward passes: a fixed number of images on a CPU, as many as memory allows on a GPU."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from imagenetv2.errors import InputError, first_line
from imagenetv2.evaluation.classifier import Classifier
from imagenetv2.evaluation.running.failing import out_of_memory
from imagenetv2.images import Pixels

CPU_PASS = 8
"""Images a pass on a CPU, always: what an image gets then depends on nothing but the model and its pixels."""


class Passes:
    """The sizes of the passes of one device.

    Args:
        size: images a pass to begin with.
        room: called with a model's name where memory does not suffice for it; says whether it made room.
        log: says when passes become smaller.
        halved: whether they become smaller, where there is no room to be made.
        filled: whether short passes are filled up with black images.
    """

    def __init__(
        self, size: int, room: Callable[[str], bool], log: logging.Logger, *, halved: bool, filled: bool
    ) -> None:
        self._size, self._room, self._log = size, room, log
        self._halved, self._filled = halved, filled
        self._sizes: dict[str, int] = {}

    def size(self, model: str) -> int:
        """Images a pass of that model."""
        return self._sizes.get(model, self._size)

    def outputs(self, name: str, classifier: Classifier, batch: Pixels) -> Any:
        """What a model says of a batch, in one pass or, where memory does not suffice, in several.

        Raises InputError where the model fails, whatever it raises.
        """
        found: list[Any] = []
        done = 0
        while done < len(batch):
            size = self.size(name)
            part = batch[done : done + size]
            given = _filled(part, size) if self._filled else part
            outputs = self._tried(name, classifier, given)
            if outputs is None:
                if not self._room(name):
                    self._halve(name, len(given))
            else:
                found.append(outputs[: len(part)] if len(given) > len(part) else outputs)
                done += len(part)
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _tried(self, name: str, classifier: Classifier, batch: Pixels) -> Any:
        """One pass; None where memory does not suffice and a smaller one may be tried."""
        try:
            return np.asarray(classifier.outputs(batch))
        except InputError:
            raise
        except Exception as error:  # networks, runtimes and people's functions raise whatever they like.
            if not out_of_memory(error):
                raise InputError(
                    f"models: {name}: a forward pass of {_shape(batch)} fails ({first_line(error)}); correct the "
                    "model, or what its input has to look like."
                ) from error
            if not self._halved or len(batch) == 1:
                raise InputError(
                    f"models: {name}: memory does not suffice for a forward pass of {_shape(batch)} "
                    f"({first_line(error)}); use a device with more memory, or fewer cores."
                ) from error
        # What the failed pass held goes with the exception, so room is made only after this.
        return None

    def _halve(self, name: str, failed: int) -> None:
        size = max(1, failed // 2)
        if size < self.size(name):
            self._sizes[name] = size
            self._log.warning(
                "%s: memory does not suffice for %d images a pass; it goes on with %d", name, failed, size
            )


def _filled(batch: Pixels, size: int) -> Pixels:
    if len(batch) == size:
        return batch
    black = np.zeros((size - len(batch), *batch.shape[1:]), np.uint8)
    return np.concatenate([batch, black])


def _shape(batch: Pixels) -> str:
    count, height, width = batch.shape[:3]
    return f"{count} image{'s' * (count > 1)} of {height} × {width} pixels"
