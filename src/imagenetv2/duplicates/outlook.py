"""The cost of all searches of a configuration, from its artifacts or from supposed numbers."""

from __future__ import annotations

from dataclasses import dataclass, replace

from imagenetv2.artifacts import Artifact, Draft, is_complete
from imagenetv2.config import Config
from imagenetv2.duplicates.budget import GB
from imagenetv2.duplicates.cost import Size, lines
from imagenetv2.duplicates.device import chosen
from imagenetv2.duplicates.forecast import forecast
from imagenetv2.duplicates.recipe import Counts, recipe
from imagenetv2.duplicates.stage import Prepared, marker, run_part
from imagenetv2.duplicates.stages import enabled
from imagenetv2.duplicates.supposed import photographs
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.plan import Plan

SECONDS = 5.0
"""For timing a metric."""
USUAL = 1000
"""Classes, where nothing says how many."""
READ = ("classes", "reference", "candidates")


@dataclass(frozen=True)
class Given:
    """Numbers of images that somebody named; None: not named."""

    candidates: int | None = None
    references: int | None = None
    held_out: int | None = None
    classes: int | None = None


def one(planned: Plan, stage: str, cores: int) -> list[str]:
    """Lines of a table for one search, on the images that are there."""
    return lines([prepared(planned, stage, cores).forecast(SECONDS)])


def planned(plan: Plan, given: Given, cores: int) -> list[str]:
    """Lines of a table, one column a metric, on the images that are there unless a number is given.

    Raises InputError where numbers are known from neither.
    """
    if not all(is_complete(plan.folder(name), plan.versions[name]) for name in READ):
        return supposed(plan.config, counts(plan.config, given), cores)
    if given != Given():
        return supposed(plan.config, counts(plan.config, given, _known(plan)), cores)
    found = [prepared(plan, name, cores).forecast(SECONDS) for name in plan.family("neighbours")]
    return [f"On {_cores(cores)}, timed on images of these artifacts.", "", *lines(found)]


def supposed(config: Config, numbers: Counts, cores: int) -> list[str]:
    """Lines of a table, one column a metric, for so many images that need not be there."""
    images = numbers.candidates + numbers.references
    pictures, file = photographs(images, config.images.longest_side, cores)
    how, found = config.neighbours.search, []
    pictures = replace(pictures, memory=int(how.memory * GB))
    for metric in enabled(config):
        own, settings = recipe(metric).rehearsal(), getattr(config.neighbours, metric)
        own.check(settings)
        size = Size(images, numbers.candidates, own.supposed(settings, numbers), images * file)
        found.append(forecast(own, settings, how, chosen(how.device), size, pictures, seconds=SECONDS))
    return [
        f"On {_cores(cores)}, timed on synthetic pictures; how much can be skipped, photographs decide.",
        "",
        *lines(found),
    ]


def prepared(plan: Plan, stage: str, cores: int) -> Prepared:
    """A search before it runs. Raises InputError where what it reads is not there."""
    return Prepared.of(unwritten(plan, stage, cores), recipe(stage.partition("/")[2]).rehearsal())


def unwritten(plan: Plan, stage: str, cores: int) -> Job:
    """The job of a search that writes no artifact. Raises InputError where what it reads is not there."""
    own, version = plan.stages[stage], plan.versions[stage]
    for name in own.reads:
        Artifact(plan.folder(name)).manifest  # noqa: B018 - says what is missing
    draft = Draft(own, plan.folder(stage))
    return Job(own, version, plan.versions, plan.data, plan.config.seed, draft, cores=cores)


def part(plan: Plan, stage: str, number: int, cores: int) -> None:
    """Do one part of a search; pieces are kept for the search as a whole.

    Where the artifact is there whole there is nothing to do. The marker that Snakemake waits for is made, and goes with
    its folder when the search as a whole finds nothing to do either.
    Raises InputError for a part that there is not, or that comes before part 0.
    """
    parts = plan.config.neighbours.search.parts
    if number > parts:
        raise InputError(
            f"--part {number}: neighbours.search.parts is {parts}; name a part from 1 to that, or 0 to prepare."
        )
    job = unwritten(plan, stage, cores)
    if is_complete(plan.folder(stage), plan.versions[stage]):
        path = marker(job.work, number, parts)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        job.log.info("%s %s is there whole; nothing to do for part %d", stage, job.version, number)
    else:
        run_part(job, recipe(stage.partition("/")[2]), number)


def counts(config: Config, given: Given, known: Counts | None = None) -> Counts:
    """Numbers that are given, else known, else usual. Raises InputError where that leaves one open."""
    candidates = given.candidates or (known.candidates if known else None)
    references = given.references or (known.references if known else None)
    if candidates is None or references is None:
        raise InputError(
            "The data folder holds no images of this configuration to count; give --candidates and --references, or run "
            "snakemake first."
        )
    held_out = given.held_out
    if held_out is None:
        held_out = known.held_out if known and not given.references else references // 10
    if held_out > references:
        raise InputError(
            f"--held-out {held_out} is more than --references {references}, of which they are part; make it smaller."
        )
    classes = given.classes or (known.classes if known else len(config.classes.only) or USUAL)
    return Counts(candidates, references, held_out, min(classes, candidates))


def _known(plan: Plan) -> Counts:
    tables = {name: Artifact(plan.folder(name)).table(name) for name in READ}
    split = tables["reference"].drop_duplicates("image_id")["split"]
    return Counts(
        candidates=int(tables["candidates"]["image_id"].nunique()),
        references=len(split),
        held_out=int((split != "train").sum()),
        classes=len(tables["classes"]),
    )


def _cores(cores: int) -> str:
    return "1 core" if cores == 1 else f"{cores} cores"
