"""The stages between candidates and selection frequencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

TASKS = Table(
    "tasks.parquet",
    "What each task shows, one row a task and position.",
    (
        Column("task_id", "string", "WordNet ID and running number"),
        Column("position", "int64", "place in the grid, from 0"),
        Column("wnid", "string", "WordNet ID asked about"),
        Column("image_id", "string", "the image shown"),
        Column("origin", "string", "candidates or reference: where the image comes from"),
        Column(
            "role",
            "string",
            "candidate, validation (annotated validation image), positive or negative (a control)",
        ),
        Column("token", "string", "opaque name of the image on this task's page, 32 hex digits"),
    ),
    ("task_id", "position"),
)
PAGES = Table(
    "pages.parquet",
    "One row a task: its page and what publishing it means.",
    (
        Column("task_id", "string", "WordNet ID and running number"),
        Column("wnid", "string", "WordNet ID asked about"),
        Column("page", "string", "its page in pages.zip and on the host: an opaque name"),
        Column("images", "int64", "images shown"),
        Column("bytes", "int64", "size of the page", "bytes"),
    ),
    ("task_id",),
)
ASSIGNMENTS = Table(
    "assignments.parquet",
    "What workers answered, one row a worker and task.",
    (
        Column("task_id", "string", "the task"),
        Column("worker", "string", "keyed hash of the worker's id, 16 hex digits"),
        Column("hit_id", "string", "Mechanical Turk's id of the task"),
        Column("assignment_id", "string", "Mechanical Turk's id of the answer"),
        Column("status", "string", "Submitted, Approved or Rejected"),
        Column("seconds", "int64", "from acceptance to submission", "seconds"),
        Column("selected", "list<int64>", "positions ticked, ascending"),
    ),
    ("task_id", "worker"),
)
PROBLEMS = Table(
    "problems.parquet",
    "Answers that are not in assignments.parquet, and why.",
    (
        Column("assignment_id", "string", "Mechanical Turk's id of the answer"),
        Column("task_id", "string", "the task"),
        Column("worker", "string", "keyed hash of the worker's id, 16 hex digits"),
        Column("problem", "string", "what is wrong with it"),
    ),
    ("assignment_id",),
)
FREQUENCIES = Table(
    "frequencies.parquet",
    "Selection frequencies, one row an image and class that workers were asked about.",
    (
        Column("image_id", "string", "the image"),
        Column("wnid", "string", "WordNet ID asked about"),
        Column("origin", "string", "candidates or reference"),
        Column(
            "negative", "bool", "whether it was only a negative control: a validation image of another class"
        ),
        Column("shown", "int64", "distinct workers who were shown it for this class"),
        Column("selected", "int64", "how many of them selected it"),
        Column("frequency", "float64", "selected / shown"),
        Column("low", "float64", "lower end of the Clopper–Pearson interval"),
        Column("high", "float64", "upper end of the Clopper–Pearson interval"),
    ),
    ("image_id", "wnid"),
)
WORKERS = Table(
    "workers.parquet",
    "Quality of workers, one row a worker.",
    (
        Column("worker", "string", "keyed hash of the worker's id"),
        Column("tasks", "int64", "tasks answered"),
        Column("positive_rate", "float64", "share of positive controls selected", nullable=True),
        Column("negative_rate", "float64", "share of negative controls selected", nullable=True),
        Column(
            "agreement",
            "float64",
            "share of images on which the worker agrees with most others; images without a majority left out",
            nullable=True,
        ),
        Column("seconds_median", "float64", "median time for a task", "seconds"),
    ),
    ("worker",),
)


def stages(config: Config) -> list[Stage]:
    """``hits``, ``assignments`` and ``frequencies``."""
    embedded = config.world.source != "real"
    return [
        Stage(
            "hits",
            algorithm=1,
            run="imagenetv2.annotation.hits:run",
            files=(
                TASKS,
                PAGES,
                File("pages.zip", "Task pages as HTML."),
                File("shown.zip", "Pictures as shown to workers, <image_id>.jpg, all from one encoder."),
                File("estimate.json", "Tasks, assignments and their cost, fees included."),
            ),
            settings={"hits": config.hits},
            reads=("classes", "reference", "candidates"),
            seed=True,
        ),
        Stage(
            "assignments",
            algorithm=1,
            run="imagenetv2.annotation.collect:run",
            files=(ASSIGNMENTS, PROBLEMS),
            settings={"assignments": config.assignments, "hits": config.hits},
            reads=("hits", "world") if embedded else ("hits",),
            service=True,
            seed=embedded,
        ),
        Stage(
            "frequencies",
            algorithm=1,
            run="imagenetv2.annotation.frequencies:run",
            files=(FREQUENCIES, WORKERS),
            settings={"frequencies": config.frequencies},
            reads=("hits", "assignments"),
        ),
    ]
