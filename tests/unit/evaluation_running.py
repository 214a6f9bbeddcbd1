"""Small sets, and models that can be computed by hand, for tests of the runner."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.preprocessing import Cut
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable, Task
from imagenetv2.images import Pixels

CLASSES = 7
CUT = Cut.square(3, 4)
LOG = logging.getLogger("test")


class Photographs(Sequence[Pixels]):
    """Images of noise, counted whenever one is decoded; may be broken."""

    def __init__(self, count: int, seed: int = 0, broken: Sequence[int] = ()) -> None:
        self._count, self._seed, self.broken = count, seed, tuple(broken)
        self.decoded: list[int] = []

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index):  # type: ignore[no-untyped-def]
        self.decoded.append(index)
        if index in self.broken:
            raise InputError(f"image {index} is broken; mend it.")
        return self.plain(index)

    def plain(self, index: int) -> Pixels:
        """The image, not counted."""
        random = np.random.default_rng((self._seed, index))
        return random.integers(0, 256, (5 + index % 2, 6, 3)).astype(np.uint8)


def images(count: int, seed: int = 0, name: str = "noise", **options: Any) -> LabelledImages:
    """A set; its class indices are not positions."""
    true = np.random.default_rng((seed, 77)).integers(0, CLASSES, count)
    pixels = Photographs(count, seed, **options)
    return LabelledImages(name, [f"{name}-{i}" for i in range(count)], true, 10 * np.arange(CLASSES), pixels)


class Linear:
    """Outputs are exact, so that none depends on the size of a pass; some are equal."""

    digest = None

    def __init__(self, seed: int, cut: Cut = CUT, outputs: int = CLASSES) -> None:
        height, width = cut.size
        self.weights = np.random.default_rng((seed, 5)).integers(-2, 3, (3 * height * width, outputs))
        self.passes: list[int] = []

    def outputs(self, batch: Pixels) -> Any:
        assert batch.dtype == np.uint8
        self.passes.append(len(batch))
        return (batch.reshape(len(batch), -1).astype(np.int64) // 32 @ self.weights).astype(np.float32) / 8


class Loads:
    """Makes models, and notes which were loaded where."""

    def __init__(self) -> None:
        self.devices: dict[str, list[str]] = {}
        self.lock = threading.Lock()

    def model(
        self, name: str, make: Callable[[], Any] | None = None, cut: Cut = CUT, seed: int | None = None
    ) -> Runnable:
        def load(compute: Compute) -> Any:
            with self.lock:
                self.devices.setdefault(name, []).append(compute.device)
            return make() if make else Linear(sum(name.encode()) if seed is None else seed, cut)

        return Runnable(name, cut, load)


def task(
    folder: Path,
    model: Runnable,
    of: LabelledImages,
    columns: Sequence[int] | None = None,
    outputs: int = CLASSES,
) -> Task:
    chosen = np.arange(CLASSES) if columns is None else np.asarray(columns)
    return Task(model, of, chosen, outputs, folder / f"{model.name}@{of.name}.records")


def filled(tasks: Sequence[Task], **how: Any) -> dict[str, InputError]:
    return run(tasks, Resources(**how), LOG)


def read(done: Task, logits: bool = False) -> Any:
    return Ledger(done.ledger, record_type(len(done.columns), logits)).read()


def expected(done: Task, classifier: Any = None) -> list[tuple[int, list[int], float, float]]:
    """Records image by image, with sorts and sums of plain Python."""
    classifier = classifier or Linear(sum(done.model.name.encode()), done.model.cut)
    found = []
    for index in range(len(done.images.ids)):
        pixels = done.model.cut(done.images.pixels.plain(index))  # type: ignore[attr-defined]
        outputs = classifier.outputs(pixels[None])[0][done.columns].tolist()
        order = sorted(range(len(outputs)), key=lambda c: (-outputs[c], c))
        true = int(done.images.true[index])
        total = sum(np.exp(np.float64(x) - max(outputs)) for x in outputs)
        share = [float(np.exp(np.float64(outputs[c]) - max(outputs)) / total) for c in (true, order[0])]
        top5 = [int(done.images.classes[c]) for c in order[:5]]
        found.append((order.index(true), top5, share[0], share[1]))
    return found


def require_expected(done: Task, classifier: Any = None) -> None:
    wanted, records = expected(done, classifier), read(done)
    assert len(records) == len(wanted)
    assert records["rank"].tolist() == [row[0] for row in wanted]
    assert records["top5"].tolist() == [row[1] for row in wanted]
    np.testing.assert_allclose(records["probability"], [row[2] for row in wanted], rtol=6e-6)
    np.testing.assert_allclose(records["top_probability"], [row[3] for row in wanted], rtol=6e-6)
