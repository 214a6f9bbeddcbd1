"""Which images a task shows, and where: pure functions from lists of images to tables of tasks.

Every class has a pool: its candidates and a sample of its validation images, in random order. The pool is spread
over as few tasks as hold it beside their controls, evenly, so that no task is a short tail. Then each task gets its
positive controls (validation images of the class) and negative controls (validation images of a near class); of
these, the least shown come first, so that no image is a control much more often than another. Slots that are still
free take further validation images of the class that no task shows yet, in turn; a task stays shorter than
``images_per_task`` where there are none left. (The paid work then buys more annotated validation images; the
released code fills short tails up too.) Last, each task's images are shuffled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
import pandas as pd

from imagenetv2.annotation.keys import keyed_hash
from imagenetv2.annotation.settings import Hits
from imagenetv2.errors import InputError

COLUMNS = ("task_id", "position", "wnid", "image_id", "origin", "role", "token")


@dataclass(frozen=True)
class Shown:
    """One image in a task; ``origin`` is candidates or reference, ``role`` as in the table of tasks."""

    image_id: str
    origin: str
    role: str


@dataclass
class Deck:
    """Images in a fixed random order from which the least shown is dealt first."""

    order: Sequence[str]
    times: Counter[str] = field(default_factory=Counter)

    def deal(self, count: int, excluded: Collection[str], most: int | None = None) -> list[str]:
        """Up to ``count`` images outside ``excluded``, shown at most ``most`` times so far."""
        free = [
            (self.times[image], place, image)
            for place, image in enumerate(self.order)
            if image not in excluded and (most is None or self.times[image] <= most)
        ]
        dealt = [image for _, _, image in sorted(free)[:count]]
        self.times.update(dealt)
        return dealt


def near_class(
    wnid: str,
    neighbours: Sequence[str],
    validation: Mapping[str, Collection[str]],
    excluded: Collection[str],
    wanted: int,
) -> list[str]:
    """Sorted validation images of the nearest class with at least ``wanted`` that are not in ``excluded``.

    Raises InputError where no neighbour has that many.
    """
    if wanted == 0:
        return []
    for near in neighbours:
        usable = sorted(set(validation.get(near, ())) - set(excluded))
        if near != wnid and len(usable) >= wanted:
            return usable
    raise InputError(
        f"Class {wnid}: none of its {len(neighbours)} WordNet neighbours has {wanted} validation images for negative "
        f"controls; raise classes.neighbours or lower hits.negative_controls."
    )


def draw_tasks(
    wnid: str,
    candidates: Iterable[str],
    validation: Iterable[str],
    near: Iterable[str],
    settings: Hits,
    rng: np.random.Generator,
) -> list[list[Shown]]:
    """The tasks of one class, each a list of distinct images in the order of the grid.

    Args:
        wnid: WordNet ID of the class, for messages.
        candidates: image_ids of the class's candidates.
        validation: image_ids of its validation images. One that is also a candidate and falls into the sample is in
            the pool once, as a validation image.
        near: image_ids from which negative controls are taken; images of the class itself are left out.
        settings: sizes of tasks.
        rng: generator of this class.

    Raises:
        InputError: no candidates, or too few validation images for the sample or the controls.
    """
    own = sorted(set(validation))
    deck = Deck([own[i] for i in rng.permutation(len(own))])
    pool = _pool(wnid, sorted(set(candidates)), deck, settings, rng)
    tasks = _spread(pool, settings)
    taken = {shown.image_id for shown in pool} | set(own)
    foreign = sorted(set(near) - taken)
    negatives = Deck([foreign[i] for i in rng.permutation(len(foreign))])
    for task in tasks:
        _add(task, "positive", deck, settings.positive_controls, wnid)
        _add(task, "negative", negatives, settings.negative_controls, wnid)
    _fill(tasks, deck, settings.images_per_task)
    return [[task[i] for i in rng.permutation(len(task))] for task in tasks]


def _pool(
    wnid: str, candidates: Sequence[str], deck: Deck, settings: Hits, rng: np.random.Generator
) -> list[Shown]:
    if not candidates:
        raise InputError(
            f"Class {wnid} has no candidates; widen the search (search.uploaded_from, search.uploaded_to) or leave "
            f"the class out with classes.only."
        )
    if len(deck.order) < settings.validation_per_class:
        raise InputError(
            f"Class {wnid} has {len(deck.order)} validation images but hits.validation_per_class is "
            f"{settings.validation_per_class}; lower it or complete the reference data set."
        )
    sample = deck.deal(settings.validation_per_class, ())
    pool = [Shown(image, "reference", "validation") for image in sample]
    pool += [Shown(image, "candidates", "candidate") for image in candidates if image not in set(sample)]
    return [pool[i] for i in rng.permutation(len(pool))]


def _spread(pool: Sequence[Shown], settings: Hits) -> list[list[Shown]]:
    """As few tasks as hold the pool, whose sizes differ by one at most."""
    slots = settings.images_per_task - settings.positive_controls - settings.negative_controls
    count = -(-len(pool) // slots)
    bounds = [len(pool) * i // count for i in range(count + 1)]
    return [list(pool[a:b]) for a, b in pairwise(bounds)]


def _add(task: list[Shown], role: str, deck: Deck, count: int, wnid: str) -> None:
    dealt = deck.deal(count, {shown.image_id for shown in task})
    if len(dealt) < count:
        raise InputError(
            f"Class {wnid} has {len(deck.order)} validation images that can be {role} controls, too few for "
            f"{count} a task beside those annotated in it; lower hits.{role}_controls or hits.validation_per_class, "
            f"or complete the reference data set."
        )
    task += [Shown(image, "reference", role) for image in dealt]


def _fill(tasks: list[list[Shown]], deck: Deck, size: int) -> None:
    """Give free slots, always of a shortest task, to validation images that no task shows yet."""
    candidates = {s.image_id for task in tasks for s in task if s.role == "candidate"}
    for image in deck.deal(sum(size - len(task) for task in tasks), candidates, most=0):
        min(tasks, key=len).append(Shown(image, "reference", "validation"))


def table(tasks: Mapping[str, Sequence[Sequence[Shown]]], key: bytes) -> pd.DataFrame:
    """The table of tasks of all classes, by WordNet ID, with their opaque tokens."""
    rows = []
    for wnid, of_class in tasks.items():
        for number, task in enumerate(of_class):
            task_id = f"{wnid}-{number:04d}"
            for position, shown in enumerate(task):
                mark = token(key, task_id, shown.image_id)
                rows.append((task_id, position, wnid, shown.image_id, shown.origin, shown.role, mark))
    return pd.DataFrame(rows, columns=list(COLUMNS))


def token(key: bytes, task_id: str, image_id: str) -> str:
    """Opaque name of an image in a task: 32 hex digits of an HMAC-SHA256."""
    return keyed_hash(key, "image", task_id, image_id)[:32]


def page_name(key: bytes, task_id: str) -> str:
    """Opaque file name of a task's page."""
    return f"{keyed_hash(key, 'page', task_id)[:32]}.html"
