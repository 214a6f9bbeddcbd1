"""All models of a family in one process: libraries are imported once, and all look at images that are decoded once.

Snakemake deletes what a failed job wrote. So nothing is put in its place before everything is made, and what is made
waits beside its work: a model that fails costs the others nothing.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2 import job as jobs
from imagenetv2.artifacts import MANIFEST, Draft, is_complete, publish
from imagenetv2.errors import InputError
from imagenetv2.stages import Stage

if TYPE_CHECKING:
    from imagenetv2.evaluation.predictions import Work

MADE = "made"
"""The folder, beside a stage's work, of an artifact that waits for the others."""
REASONS = 3
"""How many failures the last message tells; the log has all."""
Failures = dict[str, InputError]


@dataclass(frozen=True)
class Batch:
    """Where and how stages are made.

    Attributes:
        versions: versions of all stages, from ``versions.plan``.
        data: where artifacts lie.
        seed: seed of everything random.
        force: make artifacts again that are there.
        options: further fields of ``Job``: cores, log, endpoints.
    """

    versions: Mapping[str, str]
    data: Path
    seed: int
    force: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def log(self) -> logging.Logger:
        """For what failed."""
        found: logging.Logger = self.options.get("log") or logging.getLogger("imagenetv2")
        return found

    def todo(self, stages: Sequence[Stage]) -> list[Stage]:
        """Those that are not there whole; where they are forced all of them, and nothing is left of their work."""
        found = [stage for stage in stages if self.force or not is_complete(*self._final(stage), hashes=True)]
        for stage in stages:
            if self.force or stage not in found:
                shutil.rmtree(self._work(stage), ignore_errors=True)
        return found

    def make(self, stage: Stage, function: Callable[[jobs.Job], None] | None = None) -> None:
        """Make an artifact, to wait beside its work; by another function than the stage's where one is given."""
        made = self._work(stage) / MADE
        jobs.make(stage, self.versions, self.data, self.seed, made, function, **self.options)

    def waits(self, stage: Stage) -> bool:
        """Whether the artifact was made, and waits."""
        return is_complete(self._work(stage) / MADE, self.versions[stage.name], hashes=True)

    def put(self, stages: Sequence[Stage]) -> list[str]:
        """Put artifacts that wait in their places; returns the names of their stages."""
        for stage in stages:
            final, work = self._final(stage)[0], self._work(stage)
            final.parent.mkdir(parents=True, exist_ok=True)
            publish(Draft(stage, work / MADE), final)
        for stage in stages:
            shutil.rmtree(self._work(stage), ignore_errors=True)
        return [stage.name for stage in stages]

    def job(self, stage: Stage) -> jobs.Job:
        """The job of a stage, for what it reads and where its records lie; nothing is written through it."""
        final, version = self._final(stage)
        draft = Draft(stage, final)
        return jobs.Job(stage, version, self.versions, self.data, self.seed, draft, **self.options)

    def _final(self, stage: Stage) -> tuple[Path, str]:
        version = self.versions[stage.name]
        return jobs.folder(self.data, stage.name, version), version

    def _work(self, stage: Stage) -> Path:
        return jobs.workplace(self.data, stage.name, self.versions[stage.name])


def prepare(stages: Sequence[Stage], batch: Batch) -> list[str]:
    """Make stages ``models/<name>``, one after the other.

    Returns:
        Names of those that were made.

    Raises:
        InputError: some failed; all others wait beside their work, and are not trained again.
    """
    todo, failed = batch.todo(stages), Failures()
    for stage in todo:
        # Only training takes long, and code of a user's may have changed.
        if stage.seed and batch.waits(stage):
            continue
        try:
            batch.make(stage)
        except InputError as error:
            batch.log.error("%s: %s", stage.name, error)
            failed[stage.name] = error
    if failed:
        raise _together(failed, len(todo))
    return batch.put(todo)


def evaluate(stages: Sequence[Stage], batch: Batch) -> list[str]:
    """Make stages ``predictions/<set>/<name>`` in one run of all models.

    Returns:
        Names of those that were made.

    Raises:
        InputError: some failed, and all others have their records; or an image cannot be decoded; or finished
            predictions are by other weights.
    """
    from imagenetv2.evaluation.predictions import resources, write
    from imagenetv2.evaluation.running.runner import run
    from imagenetv2.evaluation.running.sample import differences

    todo = batch.todo(stages)
    works, failed = _works(todo, [stage for stage in stages if stage not in todo], batch)
    if works:
        how = resources(batch.job(todo[0]))
        tasks = [work.task for work in works.values()]
        failures = run(tasks, how, batch.log)
        failed |= {n: failures[w.task.model.name] for n, w in works.items() if w.task.model.name in failures}
    if failed:
        for name, error in failed.items():
            batch.log.error("%s: %s", name, error)
        raise _together(failed, len(todo))
    if not works:
        return []
    found = [None] * len(tasks) if how.mode == "reference" else differences(tasks, how, batch.log)
    for stage, difference in zip(todo, found, strict=True):
        work = works[stage.name]
        batch.make(stage, partial(write, work=work, how=how, difference=difference))
    return batch.put(todo)


def _works(todo: Sequence[Stage], there: Sequence[Stage], batch: Batch) -> tuple[dict[str, Work], Failures]:
    """What is to be done, by stage, and why some cannot be done, or are not what they were taken for."""
    from imagenetv2.evaluation.predictions import Opener, require_same_weights, work_of

    opener, works, failed = Opener(), {}, Failures()
    for stage in (*todo, *there):
        job = batch.job(stage)
        try:
            if stage in todo:
                works[stage.name] = work_of(job, opener)
            elif _model(job):
                require_same_weights(job)
        except InputError as error:
            failed[stage.name] = error
    return works, failed


def _model(job: jobs.Job) -> bool:
    """Whether the model is there; who only has predictions may keep them."""
    name = next(read for read in job.stage.reads if read.startswith("models/"))
    return (job.read(name).folder / MANIFEST).exists()


def _together(failed: Failures, stages: int) -> InputError:
    """One error of several: reasons, and what becomes of the others."""
    reasons = list(dict.fromkeys(str(error) for error in failed.values()))
    more = [f"{len(reasons) - REASONS} more reasons are in the log."] if len(reasons) > REASONS else []
    said = " ".join([*reasons[:REASONS], *more])
    if len(failed) >= stages:
        return InputError(said)
    models = ", ".join(name.rsplit("/", 1)[1] for name in failed)
    family = next(iter(failed)).rsplit("/", 1)[0]
    return InputError(
        f"{said} Nothing of {family} is written before {models} can be: mend, or take out of models, what failed; what "
        f"the other models have done is kept, and the next run goes on from there."
    )
