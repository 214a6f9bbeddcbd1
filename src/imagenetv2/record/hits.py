"""Stage ``record/hits``: Mechanical Turk tasks as released, with what is wrong in them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from imagenetv2.job import Job
from imagenetv2.record import task_checks
from imagenetv2.record.datasets import validation
from imagenetv2.record.faults import CORRECTED
from imagenetv2.record.ids import Mender
from imagenetv2.record.reader import Reader, text, tuples
from imagenetv2.record.tasks import Known, Task
from imagenetv2.record.tasks import read as read_task

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "data/mturk/hit_data_live"
REFUSED = "data/mturk/hit_blacklist_live.json"
ADDITIONAL = "data/metadata/additional_pos_val_images_for_20_per_wnid.json"


def run(job: Job) -> None:
    """Write ``tasks.parquet``, ``submissions.parquet`` and ``faults.parquet``."""
    reader = Reader.of(job)
    classes = job.read("record/classes").table("classes")
    elsewhere = [job.read("record/search").table("records"), job.read("record/datasets").table("revisions")]
    classes_of = defaultdict(set)
    for frame in elsewhere:
        for image, wnid in tuples(frame, "image_id", "wnid"):
            classes_of[image].add(wnid)
    originals = validation(Reader(reader.source))
    mender = Mender(set(classes_of))
    tasks = read(reader, Known(set(classes["wnid"]), originals, mender))
    neighbours = {w: list(n) for w, n in zip(classes["wnid"], classes["neighbours"], strict=True)}
    reader.faults += mender.faults
    reader.faults += task_checks.all_of(tasks, originals, neighbours, classes_of, FOLDER)
    more = reader.value(ADDITIONAL, dict, optional=True) or {}
    reader.faults += task_checks.additional(ADDITIONAL, more, set(classes["wnid"]), originals)
    refused = blacklist(reader, tasks)
    job.log.info("record/hits: %s tasks", f"{len(tasks):,}")
    job.out.table("tasks", shown(tasks))
    job.out.table("submissions", submissions(tasks, refused))
    reader.write(job)


def read(reader: Reader, known: Known) -> list[Task]:
    """All tasks of the record, in the order of its files; repeated ids are numbered."""
    tasks = []
    seen: Counter[str] = Counter()
    for file, listed in reader.family(FOLDER, list).items():
        for place, item in reader.objects(file, listed):
            task_id = text(item.get("uuid")) or f"{file.rsplit('/', 1)[-1]}:{place}"
            seen[task_id] += 1
            if seen[task_id] > 1:
                reader.fault(
                    file, task_id, "task id repeated", f"task {place} is number {seen[task_id]} of that id",
                    CORRECTED, f"told apart as {task_id}#{seen[task_id]}; which of them an answer means is unknown",
                )  # fmt: skip
                task_id = f"{task_id}#{seen[task_id]}"
            task, faults = read_task(file, place, item, task_id, known)
            reader.faults += faults
            tasks.append(task)
    return tasks


def blacklist(reader: Reader, tasks: Sequence[Task]) -> dict[str, str]:
    """Why answers to a task were not used, by its id; tasks that the record does not hold are a fault."""
    found = reader.value(REFUSED, dict, optional=True) or {}
    there = {t.task_id.split("#")[0] for t in tasks}
    for task_id, reason in sorted(found.items()):
        if task_id not in there:
            reader.fault(REFUSED, task_id, "task unknown", f"{text(reason)}; no file of tasks holds it")
    return {task_id: text(reason) for task_id, reason in found.items()}


def shown(tasks: Sequence[Task]) -> pd.DataFrame:
    """One row a task and position, as ``annotation.stages.TASKS`` declares, without tokens."""
    import pandas as pd

    rows = [
        (t.task_id, place, t.wnid, image, "candidates" if role == "candidate" else "reference", role)
        for t in tasks
        for place, (image, role) in enumerate(t.shown)
    ]
    return pd.DataFrame(rows, columns=["task_id", "position", "wnid", "image_id", "origin", "role"])


def submissions(tasks: Sequence[Task], refused: Mapping[str, str]) -> pd.DataFrame:
    """One row a task, as ``record.part_tables.SUBMISSIONS`` declares."""
    import pandas as pd

    rows = []
    for task in tasks:
        counts = Counter(role for _, role in task.shown)
        rows.append(
            {
                "task_id": task.task_id,
                "hit_id": task.hit_id,
                "wnid": task.wnid,
                "source_file": task.file,
                "time": task.time,
                "images": len(task.shown),
                "candidates": counts["candidate"],
                "positive": counts["positive"],
                "negative": counts["negative"],
                "submitted": task.submitted,
                "blacklisted": refused.get(task.task_id.split("#")[0], ""),
            }
        )
    names = [
        "task_id", "hit_id", "wnid", "source_file", "time", "images", "candidates", "positive", "negative",
        "submitted", "blacklisted",
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=names)
