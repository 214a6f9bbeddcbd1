"""What is left to compute, and computing it: unfinished records go on at the next image, finished ones stay."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from pathlib import Path
from time import perf_counter
from typing import Literal

import numpy as np

from imagenetv2.atomically import write_bytes
from imagenetv2.errors import InputError
from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.classifier import Array, Classifier, Compute
from imagenetv2.evaluation.outputs import OUTPUTS
from imagenetv2.evaluation.running import runner
from imagenetv2.evaluation.running.devices import device_name, devices
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.sample import Difference, differences
from imagenetv2.evaluation.running.tasks import Resources, Runnable, Task
from imagenetv2.evaluation.scorecard import hidden, shelf
from imagenetv2.evaluation.scorecard.entrants import Entrant, key
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.shelf import Made
from imagenetv2.evaluation.scorecard.wanted import Wanted


@dataclass(frozen=True)
class Piece:
    """A model on a set.

    Attributes:
        entrant, of: which.
        columns: the model's output of each class.
        key: names what makes the predictions.
        path: where they lie, or will.
        records: folder of records that are not stored yet.
        device: see ``settings.Evaluation``.
        logits: whether all outputs are kept.
    """

    entrant: Entrant
    of: Opened
    columns: tuple[int, ...]
    key: str
    path: Path
    records: Path
    device: Literal["auto", "cpu", "cuda"]
    logits: bool

    @cached_property
    def ledger(self) -> Ledger:
        """Records that are not stored yet. Where all are, nobody asks which devices there are, which takes seconds."""
        kind = record_type(self.of.set.classes.size, self.logits)
        # A set half computed here and half elsewhere would be nobody's: on another device it begins again.
        text = json.dumps([self.key, device_name(found_devices(self.device)[0]), kind.itemsize])
        name = hashlib.sha256(text.encode()).hexdigest()[:16]
        return Ledger(self.records / f"{name}.records", kind)

    @property
    def finished(self) -> Made | None:
        """What made the predictions, where they are there."""
        return shelf.finished(self.path, self.key, self.logits)

    @property
    def complete(self) -> bool:
        """Whether records of all images are there."""
        return self.ledger.done == len(self.of.set.ids)


def resources(wanted: Wanted) -> Resources:
    """What a run may use. Raises InputError where there is no such device."""
    return Resources(
        found_devices(wanted.device),
        wanted.cores,
        wanted.memory,
        wanted.batch,
        wanted.mode,
        wanted.compile,
        wanted.logits,
    )


@cache
def found_devices(wanted: Literal["auto", "cpu", "cuda"]) -> tuple[str, ...]:
    """Devices of PyTorch's. Raises InputError where a GPU is wanted and there is none."""
    found = devices("cpu" if wanted == "cpu" else "auto")
    if wanted == "cuda" and found == ("cpu",):
        raise InputError("--device is cuda, but PyTorch finds no GPU; give auto or cpu.")
    return found


def pieces(
    entrants: Sequence[Entrant], sets: Sequence[Opened], wanted: Wanted
) -> tuple[list[Piece], dict[str, str]]:
    """Every model on every set, set by set; and why some models have none, by name."""
    found, failed = [], {}
    for entrant in entrants:
        try:
            found += [_piece(entrant, of, wanted) for of in sets]
        except InputError as error:
            failed[entrant.name] = str(error)
    return found, failed


def _piece(entrant: Entrant, of: Opened, wanted: Wanted) -> Piece:
    name, place = key(entrant, of, wanted), shelf.place(wanted.out, of, entrant.name, wanted.mode)
    columns = tuple(entrant.columns(of))
    return Piece(
        entrant, of, columns, name, place, hidden.unfinished(wanted.out), wanted.device, wanted.logits
    )


def compute(todo: Sequence[Piece], how: Resources, log: logging.Logger) -> dict[str, str]:
    """Compute what is not complete, and store all that is; returns why models failed, by name.

    Where the run is stopped, records stay, and the next one stores those that are complete.
    """
    clocks = {piece.entrant.name: Clock() for piece in todo}
    runnables = {
        name: _runnable(entrant, clocks[name], [_notes(p) for p in todo if p.entrant is entrant])
        for name, entrant in {piece.entrant.name: piece.entrant for piece in todo}.items()
    }
    tasks = [_task(piece, runnables[piece.entrant.name]) for piece in todo]
    try:
        failed = runner.run(tasks, how, log)
    finally:
        for piece in todo:
            if (clock := clocks[piece.entrant.name]).images:
                remember(_notes(piece), clock)
    found = [None] * len(tasks) if how.mode == "reference" else differences(tasks, how, log)
    for piece, difference in zip(todo, found, strict=True):
        if piece.complete:
            _store(piece, how, difference)
    return {name: str(error) for name, error in failed.items()}


def _runnable(entrant: Entrant, clock: Clock, notes: Sequence[Path] = ()) -> Runnable:
    def load(compute: Compute) -> Classifier:
        loaded = Watched(classifier.load(entrant.model, entrant.facts, {}, compute), clock)
        for path in notes:
            remember(path, clock)
        return loaded

    return Runnable(entrant.name, entrant.preprocessing.cut, load)


def _task(piece: Piece, model: Runnable) -> Task:
    columns = np.asarray(piece.columns, np.int64)
    return Task(model, piece.of.labelled, columns, OUTPUTS, piece.ledger.path)


def _notes(piece: Piece) -> Path:
    return piece.ledger.path.with_suffix(".json")


def _store(piece: Piece, how: Resources, difference: Difference | None) -> None:
    """Predictions of a complete set; then its records are not needed any more."""
    known = recall(_notes(piece))
    on_cpu = how.devices[0] == "cpu"
    images = len(piece.of.set.ids)
    made = Made(
        key=piece.key,
        weights=known.weights,
        device=device_name(how.devices[0]),
        batch=piece.ledger.batch or how.batch,
        # Passes that run at once share the time.
        seconds=known.rate * images / (how.cores if on_cpu else 1),
        logits=how.logits,
        difference=difference,
    )
    shelf.store(piece.path, piece.ledger.read(), piece.of, made)
    for path in sorted(piece.ledger.path.parent.glob(f"{piece.ledger.path.stem}.*")):
        path.unlink()


@dataclass
class Clock:
    """Seconds and images of a model's passes, added from several threads, and the digest of its weights."""

    seconds: float = 0.0
    images: int = 0
    weights: str | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, seconds: float, images: int) -> None:
        """A pass is done."""
        with self._lock:
            self.seconds += seconds
            self.images += images

    @property
    def rate(self) -> float:
        """Seconds an image."""
        return self.seconds / max(1, self.images)


class Watched:
    """A classifier that tells a clock what it did."""

    def __init__(self, of: Classifier, clock: Clock) -> None:
        self._of, self._clock = of, clock
        self.digest = clock.weights = of.digest

    def outputs(self, batch: Array) -> Array:
        """Those of the classifier."""
        start = perf_counter()
        found = self._of.outputs(batch)
        self._clock.add(perf_counter() - start, len(batch))
        return found


def remember(path: Path, clock: Clock) -> None:
    """Keep what is known, for a run that finds all records there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    facts = {"seconds": clock.seconds, "images": clock.images, "weights": clock.weights}
    write_bytes(path, json.dumps(facts).encode())


def recall(path: Path) -> Clock:
    """What was kept; nothing where a run was killed before it could."""
    try:
        return Clock(**json.loads(path.read_bytes()))
    except (OSError, ValueError, TypeError):
        return Clock()
