"""What makes a metric a stage: from pictures to an engine, and which pairs are compared.

``stage`` runs a recipe, ``cost`` foretells what it takes. A metric's own ``stage.py`` says only what is its own.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from imagenetv2.duplicates import budget, metrics
from imagenetv2.duplicates.budget import Needs
from imagenetv2.duplicates.collection import Collection
from imagenetv2.duplicates.device import gpu_memory
from imagenetv2.duplicates.engine import Engine, Indices
from imagenetv2.duplicates.excluded import Excluded
from imagenetv2.duplicates.neighbours import Pairs
from imagenetv2.duplicates.search import Plan, Skipped, search
from imagenetv2.duplicates.settings import Metric
from imagenetv2.duplicates.shares import Shares
from imagenetv2.duplicates.squashed import squashed
from imagenetv2.duplicates.work import Work
from imagenetv2.images import Pixels
from imagenetv2.job import Job

S = TypeVar("S", bound=Metric)


@dataclass(frozen=True)
class Pictures:
    """Pictures by index, where what is made of them may lie, and with how much.

    Attributes:
        count: of pictures.
        picture: decodes one: height × width × 3.
        folder: for large arrays and finished pieces; None keeps all in memory.
        cores: threads.
        memory: bytes that may be allocated while values are made of them.
        fixed: whether large arrays in the folder are only read, as another process made them.
    """

    count: int
    picture: Callable[[int], Pixels]
    folder: Path | None
    cores: int
    memory: int = 2**32
    fixed: bool = False


@dataclass(frozen=True)
class Counts:
    """Numbers of images: candidates, references, those of the references that are not for training, and classes."""

    candidates: int
    references: int
    held_out: int
    classes: int


@dataclass(frozen=True)
class Searches:
    """Searches of one kind: pairs of all together, and how many they are, each with as many of the candidates."""

    pairs: int
    count: int = 1


@dataclass(frozen=True)
class Compared:
    """Who is compared with whom: ascending indices of readable images, and pairs that do not count."""

    images: Collection
    rows: Indices
    columns: Indices
    excluded: Excluded


class Recipe(Generic[S]):
    """A metric that compares squashed pixels of all candidates with those of all images; others override."""

    metric: str
    section: type[S]
    together = 1
    """Images that values are made of at once: fewer take as long."""

    def check(self, settings: S) -> None:
        """Raise InputError for settings that fit neither each other nor this machine."""

    def rehearsal(self) -> Recipe[S]:
        """What is timed where only the cost is asked for."""
        return self

    def shares(self, lower: npt.NDArray[Any], estimate: npt.NDArray[Any]) -> Shares:
        """What bounds and estimates of a few images say about those of many."""
        return Shares.of(lower, estimate)

    def supposed(self, settings: S, counts: Counts) -> list[Searches]:
        """As ``searches``, of so many images that need not be there."""
        return [Searches(counts.candidates * (counts.references + counts.candidates))]

    def side(self, settings: S) -> int:
        """Pixels of a side to which pictures are squashed."""
        return int(getattr(settings, "side"))  # noqa: B009 - every metric on pictures has it

    def width(self, settings: S, device: str) -> int:
        """Bytes that ``values`` holds of an image."""
        return 3 * self.side(settings) ** 2

    def operations(self, settings: S, width: int) -> float:
        """Additions and multiplications of a distance by its definition."""
        return 3.0 * width

    def usual(self, settings: S) -> float:
        """Seconds that an image takes one thread, by rule of thumb."""
        return 5e-4 + 1e-7 * self.side(settings) ** 2

    def needs(self, settings: S, width: int) -> Needs:
        """What the engine allocates."""
        return Needs()

    def values(self, pictures: Pictures, settings: S, device: str) -> tuple[npt.NDArray[Any], dict[int, str]]:
        """What is compared, images first, and why some images could not be read, by index."""
        return squashed(
            pictures.count,
            pictures.picture,
            self.side(settings),
            pictures.folder,
            pictures.cores,
            what=self.metric,
            fixed=pictures.fixed,
        )

    def at_once(self, settings: S, pictures: Pictures) -> int:
        """Threads that can make values beside each other. Raises InputError where the memory is too little for one."""
        return pictures.cores

    def release(self) -> None:
        """Let go of what only ``values`` needs."""

    def engine(
        self, values: npt.NDArray[Any], settings: S, device: str, room: int = budget.MOST_ROOM
    ) -> Engine:
        """The engine over all images; ``room`` is what it may keep during a call, where it can choose."""
        return self.made(device, values)

    def made(self, device: str, *arguments: Any, **options: Any) -> Engine:
        """The engine class of the metric, over its arguments; on a GPU with most of its memory."""
        if device == "cuda":
            options["memory"] = gpu_memory()
        engine: Engine = metrics.engine(self.metric, device)(*arguments, **options)
        return engine

    def groups(self, job: Job, settings: S, images: Collection) -> Any:
        """Whom each candidate is compared with, where not with all images."""
        return None

    def searches(self, groups: Any, images: Collection) -> list[Searches]:
        """What there is to compare, pairs that do not count included."""
        return [Searches(len(images.candidates) * len(images.ids))]

    def search(
        self, engine: Engine, compared: Compared, groups: Any, plan: Plan, work: Work
    ) -> tuple[Pairs, Skipped]:
        """Pairs that are kept, sorted by row, distance and column, and how many were computed."""
        return search(engine, compared.rows, compared.columns, compared.excluded, plan, work, self.metric)


def recipe(metric: str) -> Recipe[Any]:
    """The recipe of a metric; its module, and what that needs, is imported only now."""
    found: Recipe[Any] = importlib.import_module(f"imagenetv2.duplicates.{metric}.stage").RECIPE
    return found


def left(indices: Indices, unreadable: Mapping[int, str]) -> Indices:
    """Indices of readable images."""
    if not unreadable:
        return indices
    return indices[~np.isin(indices, np.fromiter(unreadable, np.int64))]
