"""The stages ``neighbours/<metric>``: pictures are squashed, an engine is made of them, neighbours are searched."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from threadpoolctl import threadpool_limits

from imagenetv2 import atomically
from imagenetv2.analysis.wording import duration
from imagenetv2.archive import Reader
from imagenetv2.duplicates import budget, collection
from imagenetv2.duplicates.collection import Collection
from imagenetv2.duplicates.cost import Estimate, Size, sentence
from imagenetv2.duplicates.device import chosen
from imagenetv2.duplicates.forecast import forecast
from imagenetv2.duplicates.neighbours import Pairs, table
from imagenetv2.duplicates.recipe import Compared, Pictures, Recipe, left
from imagenetv2.duplicates.search import Plan, Skipped
from imagenetv2.duplicates.settings import Search
from imagenetv2.duplicates.stages import UNREADABLE
from imagenetv2.duplicates.work import Work
from imagenetv2.errors import InputError
from imagenetv2.images import Pixels
from imagenetv2.job import Job

NAMED = 10
"""Unreadable images that are named in the log; all are in the table."""


def run(job: Job, recipe: Recipe[Any]) -> None:
    """Write the nearest neighbours of each candidate, what could not be read, and how much was compared."""
    prepared = Prepared.of(job, recipe)
    job.log.info("%s", sentence(prepared.forecast()))
    started = time.perf_counter()
    values, unreadable = prepared.values()
    _warn(job, recipe.metric, prepared.images, unreadable)
    read = time.perf_counter()
    compared, found, skipped = _search(job, prepared, values, unreadable, prepared.plan)
    _write(job, compared, unreadable, found, skipped)
    done = time.perf_counter()
    job.log.info(
        "%s: took %s (images %s, search %s): %s pairs, of which %.2f %% were skipped",
        recipe.metric, duration(done - started), duration(read - started), duration(done - read),
        f"{skipped.pairs:,}", 100 * _share(skipped),
    )  # fmt: skip


def run_part(job: Job, recipe: Recipe[Any], part: int) -> None:
    """Do one part of ``neighbours.search.parts`` of the work of ``run``, which then finds its pieces.

    Part 0 prepares what is compared and comes first; parts 1, 2, … search, at the same time if they like.
    Raises InputError where part 0 is not done.
    """
    parts = job.settings(Search).parts
    if part and not marker(job.work, 0, parts).is_file():
        raise InputError(
            f"--part {part}: part 0, which prepares what is compared, is not done for neighbours.search.parts of "
            f"{parts}; run --part 0 first."
        )
    prepared = Prepared.of(job, recipe)
    pictures = replace(prepared.pictures, fixed=part > 0)
    values, unreadable = replace(prepared, pictures=pictures).values()
    if part:
        _search(job, prepared, values, unreadable, replace(prepared.plan, part=(part - 1, parts)))
    job.work.mkdir(parents=True, exist_ok=True)  # which is not there where nothing was large
    atomically.write_bytes(marker(job.work, part, parts), b"", durable=True)


def marker(work: Path, part: int, parts: int) -> Path:
    """The file that says that a part is done."""
    return work / f"part-{part}.{parts}.done"


def _search(
    job: Job, prepared: Prepared, values: Any, unreadable: Mapping[int, str], plan: Plan
) -> tuple[Compared, Pairs, Skipped]:
    recipe, images = prepared.recipe, prepared.images
    compared = Compared(
        images,
        left(images.candidates, unreadable),
        left(np.arange(len(images.ids)), unreadable),
        images.excluded(job.read("candidates").table("copies")),
    )
    if not len(compared.rows):  # for which a GPU's engine could not even be made
        return compared, Pairs.none(), Skipped()
    engine = recipe.engine(values, prepared.settings, prepared.device, budget.room(plan))
    work = Work(job.work).within(f"{prepared.device}-{collection.digest(unreadable)}")
    with threadpool_limits(1, user_api="blas"):  # tiles are worked at beside each other instead
        found, skipped = recipe.search(engine, compared, prepared.groups, plan, work)
    return compared, found, skipped


@dataclass(frozen=True)
class Prepared:
    """All that is known before the pictures are read. Raises InputError where the search can't be done like this."""

    recipe: Recipe[Any]
    settings: Any
    how: Search
    device: str
    images: Collection
    pictures: Pictures
    groups: Any
    plan: Plan
    files: int

    @classmethod
    def of(cls, job: Job, recipe: Recipe[Any]) -> Prepared:
        """From the tables that the stage reads."""
        settings, how = job.settings(recipe.section), job.settings(Search)
        recipe.check(settings)
        device = chosen(how.device)
        images, archives = collection.of(job)
        memory = int(how.memory * budget.GB)
        pictures = Pictures(len(images.ids), picture(images, archives), job.work, job.cores, memory)
        width = recipe.width(settings, device)
        plan = budget.plan(
            recipe.metric, settings, how, recipe.needs(settings, width), len(images.ids), len(images.candidates),
            job.cores, width,
        )  # fmt: skip
        groups = recipe.groups(job, settings, images)
        files = sum(archive.path.stat().st_size for archive in archives.values())
        return cls(recipe, settings, how, device, images, pictures, groups, plan, files)

    def values(self) -> tuple[Any, dict[int, str]]:
        """What is compared, and why some images could not be read."""
        try:
            return self.recipe.values(self.pictures, self.settings, self.device)
        finally:
            self.recipe.release()

    def forecast(self, seconds: float | None = None) -> Estimate:
        """What the search takes; ``seconds`` may be spent on finding out."""
        searches = self.recipe.searches(self.groups, self.images)
        size = Size(len(self.images.ids), len(self.images.candidates), searches, self.files)
        return forecast(
            self.recipe, self.settings, self.how, self.device, size, self.pictures, seconds=seconds
        )


def picture(images: Collection, archives: Mapping[str, Reader]) -> Callable[[int], Pixels]:
    """What decodes an image of the collection by its index."""

    def decoded(index: int) -> Pixels:
        archive, name = images.files[index]
        return archives[archive].pixels(name)

    return decoded


def _warn(job: Job, metric: str, images: Collection, unreadable: Mapping[int, str]) -> None:
    for index in sorted(unreadable)[:NAMED]:
        archive, name = images.files[index]
        job.log.warning(
            "%s: %s in images.zip of %s cannot be read (%s) and takes no part",
            metric, name, archive, unreadable[index],
        )  # fmt: skip
    if len(unreadable) > NAMED:
        job.log.warning(
            "%s: %d images cannot be read in all; unreadable.parquet lists them", metric, len(unreadable)
        )


def _write(
    job: Job, compared: Compared, unreadable: Mapping[int, str], found: Pairs, skipped: Skipped
) -> None:
    images = compared.images
    job.out.table("neighbours", table(found, images.ids, images.origins))
    job.out.table(
        "unreadable",
        pd.DataFrame(
            [(images.ids[i], images.origins[i], reason) for i, reason in sorted(unreadable.items())],
            columns=[column.name for column in UNREADABLE.columns],
        ),
    )
    job.out.json(
        "searched.json",
        {
            "images": len(compared.columns),
            "candidates": len(compared.rows),
            "unreadable": len(unreadable),
            "pairs": skipped.pairs,
            "computed": skipped.computed,
            "skipped": round(_share(skipped), 6),
        },
    )


def _share(skipped: Skipped) -> float:
    """Of the pairs, the share whose distance was not computed."""
    return 1 - skipped.computed / skipped.pairs if skipped.pairs else 0.0
