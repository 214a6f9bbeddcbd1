"""Models of one lane: the next one is loaded while one runs, and some are kept for the next block."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from imagenetv2.errors import InputError, first_line
from imagenetv2.evaluation.classifier import Classifier, Compute
from imagenetv2.evaluation.running.failing import free_share, out_of_memory, release
from imagenetv2.evaluation.running.tasks import Runnable
from imagenetv2.evaluation.running.work import Item
from imagenetv2.networks.reproducible import one_thread

KEPT = {"cpu": 4, "cuda": 64}
"""Models that are kept beside the one that runs and the one that comes next. On a CPU, looking at a block takes
far longer than loading."""
FREE = 0.5
"""Share of a GPU's memory that has to be free for one more to be kept."""


class Loader:
    """Loads models in a thread of its own.

    Args:
        compute: for ``Runnable.load``.
    """

    def __init__(self, compute: Compute) -> None:
        self._compute = compute
        self._most = KEPT[compute.device.partition(":")[0]]
        self._pool = ThreadPoolExecutor(1, initializer=one_thread)
        self._lock = threading.Lock()
        self._loaded: dict[str, Future[Classifier]] = {}
        self._users: dict[str, set[Item]] = {}
        self._kept: set[str] = set()

    def begin(self, model: Runnable) -> Future[Classifier]:
        """Begin to load a model, unless it is there."""
        with self._lock:
            if model.name not in self._loaded:
                self._loaded[model.name] = self._pool.submit(model.load, self._compute)
            return self._loaded[model.name]

    def get(self, item: Item, drain: Callable[[], None]) -> None:
        """Have the model of an item loaded until ``done`` is called with that item.

        Args:
            item: which.
            drain: waits until no other model runs; called where memory does not suffice, to load once more after it.

        Raises InputError where the model cannot be loaded.
        """
        with self._lock:
            self._users.setdefault(item.model.name, set()).add(item)
        if not self._tried(item.model, last=False):
            drain()
            self.forget(but="")
            self._tried(item.model, last=True)

    def _tried(self, model: Runnable, *, last: bool) -> bool:
        """Whether it is loaded; False where memory does not suffice, unless this was the last try."""
        try:
            self.begin(model).result()
        except Exception as error:  # libraries raise whatever they like.
            # What it holds of the model goes with it.
            with self._lock:
                del self._loaded[model.name]
            if isinstance(error, InputError):
                raise
            if not out_of_memory(error):
                raise _failure(model, error) from error
            if last:
                raise self._too_large(model, error) from error
            return False
        return True

    def loaded(self, model: Runnable) -> Classifier:
        """The model of an item that is not done."""
        return self._loaded[model.name].result()

    def done(self, item: Item, again: bool) -> None:
        """A model has seen its block; it is kept where it is needed again and there is room.

        Models are needed in turns, so those that came first are kept: the last used would be gone before its turn.
        """
        name = item.model.name
        with self._lock:
            users = self._users.get(name, set())
            users.discard(item)
            if users or name not in self._loaded:
                return
            room = len(self._kept) < self._most and free_share(self._compute.device) > FREE
            if again and (name in self._kept or room):
                self._kept.add(name)
            else:
                self._kept.discard(name)
                del self._loaded[name]

    def forget(self, but: str) -> bool:
        """Let go of all other models that do not run, as memory does not suffice; returns whether there were any.

        Those that are needed again are loaded again.
        """
        with self._lock:
            others = [
                name
                for name, found in self._loaded.items()
                if name != but and found.done() and not self._users.get(name)
            ]
            for name in others:
                del self._loaded[name]
            self._kept.difference_update(others)
        release()
        return bool(others)

    def close(self) -> None:
        """Begin nothing any more."""
        self._pool.shutdown(wait=True, cancel_futures=True)

    def _too_large(self, model: Runnable, error: Exception) -> InputError:
        device = self._compute.device
        where = "this machine" if device.startswith("cpu") else device
        return InputError(
            f"models: {model.name}: it needs more memory than {where} has ({first_line(error)}); use a device with "
            "more memory."
        )


def _failure(model: Runnable, error: Exception) -> InputError:
    return InputError(
        f"models: {model.name}: it cannot be loaded ({first_line(error)}); correct its weights."
    )
