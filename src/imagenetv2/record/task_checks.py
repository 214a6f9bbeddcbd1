"""What is odd among tasks: controls of the wrong class, other sizes, tasks that repeat, times of other files."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from typing import Any

from imagenetv2.record.faults import LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import origin
from imagenetv2.record.reader import short, some, texts, usual
from imagenetv2.record.tasks import Task
from imagenetv2.record.times import DAY, has_zone, in_name, moment

CONTROLS = 3
"""Controls of each kind that a task holds at least (paper, appendix on the Mechanical Turk interface)."""
SET_ASIDE = {"pos_control": True, "neg_control": False}
"""Controls set aside for more tasks, and whether they are of the class itself."""


def all_of(
    tasks: Sequence[Task],
    validation: Mapping[str, str],
    neighbours: Mapping[str, Sequence[str]],
    classes_of: Mapping[str, Set[str]],
    folder: str,
) -> Iterator[Fault]:
    """Every check, one after the other; without validation images the controls are not looked at."""
    size = usual([len(t.shown) for t in tasks])
    for task in tasks:
        yield from amounts(task, size)
        if validation:
            yield from controls(task, validation, neighbours)
        if task.submitted != bool(task.hit_id):
            detail = f"submitted is {task.submitted}, hit_id {task.hit_id or 'missing'}"
            yield Fault(task.file, task.task_id, "submission unclear", detail, REPORTED)
    if tasks and not validation:
        yield Fault(
            folder, "controls", "controls not checked", "the list of validation images is missing", REPORTED
        )
    yield from candidates(tasks, classes_of)
    yield from repeated(tasks, folder)
    yield from times(tasks)


def amounts(task: Task, size: int | None) -> Iterator[Fault]:
    """Tasks of another size than most, or with fewer than three controls of a kind."""
    counts = Counter(role for _, role in task.shown)
    told = ", ".join(f"{n} {role}" for role, n in sorted(counts.items()))
    if len(task.shown) != size:
        detail = f"{len(task.shown)} images, most tasks have {size}: {told}"
        yield Fault(task.file, task.task_id, "task of another size", detail, REPORTED)
    if min(counts["positive"], counts["negative"]) < CONTROLS:
        yield Fault(task.file, task.task_id, "fewer than three controls of a kind", told, REPORTED)


def controls(
    task: Task, validation: Mapping[str, str], neighbours: Mapping[str, Sequence[str]]
) -> Iterator[Fault]:
    """Controls must be validation images: positive ones of the class asked about, negative ones of a near class."""
    for image in task.images("positive", "negative", "validation"):
        if image not in validation:
            yield Fault(
                task.file, task.task_id, "control unknown", f"{image} is no validation image", REPORTED
            )
    for image in task.images("positive", "validation"):
        if validation.get(image, task.wnid) != task.wnid:
            detail = f"{image} is of {validation[image]}; asked about is {task.wnid}"
            yield Fault(task.file, task.task_id, "positive control of another class", detail, REPORTED)
    far = set()
    for image in task.images("negative"):
        wnid = validation.get(image)
        if wnid == task.wnid:
            detail = f"{image} is of {wnid}, the class asked about"
            yield Fault(
                task.file, task.task_id, "negative control of the class asked about", detail, REPORTED
            )
        elif wnid is not None and wnid not in neighbours.get(task.wnid, (wnid,)):
            far.add(wnid)
    if far:
        detail = f"{', '.join(sorted(far))} not among the {len(neighbours[task.wnid])} nearest of {task.wnid}"
        yield Fault(task.file, task.task_id, "negative control of no near class", detail, REPORTED)


def candidates(tasks: Sequence[Task], classes_of: Mapping[str, Set[str]]) -> Iterator[Fault]:
    """Candidates that the rest of the record knows for other classes only, one fault a file; and those of ImageNet."""
    odd: dict[str, list[str]] = defaultdict(list)
    counts: Counter[str] = Counter()
    for task in tasks:
        for image in dict.fromkeys(task.images("candidate")):
            known = classes_of.get(image)
            counts[task.file] += bool(known)
            if known and task.wnid not in known:
                odd[task.file].append(
                    f"{image} asked about as {task.wnid}, known for {', '.join(sorted(known))}"
                )
            elif origin(image) in ("train", "test"):
                detail = f"{image} comes from {origin(image)}"
                yield Fault(task.file, task.task_id, "candidate of another origin", detail, REPORTED)
    for file, found in sorted(odd.items()):
        detail = f"{len(found):,} of {counts[file]:,} that searches or lists name too: {some(found, 2)}"
        yield Fault(file, "candidates", "candidates asked about for another class", detail, REPORTED)


def repeated(tasks: Sequence[Task], folder: str) -> Iterator[Fault]:
    """Ids of Mechanical Turk that several tasks have, and tasks that show the same candidates of the same class."""
    by_hit, by_content = defaultdict(list), defaultdict(list)
    for task in tasks:
        by_hit[task.hit_id].append(task)
        by_content[task.wnid, tuple(sorted(task.images("candidate")))].append(task)
    for hit_id, same in sorted(by_hit.items()):
        if hit_id and len(same) > 1:
            detail = f"tasks {', '.join(t.task_id for t in same)}"
            yield Fault(folder, hit_id, "hit_id repeated", detail, REPORTED)
    for (wnid, images), same in sorted(by_content.items()):
        if images and len(same) > 1:
            first, *others = same
            detail = f"{wnid}, {len(images)} candidates: again as {', '.join(f'{t.task_id} in {t.file}' for t in others)}"
            yield Fault(first.file, first.task_id, "task repeated", detail, REPORTED)


def times(tasks: Sequence[Task]) -> Iterator[Fault]:
    """Times that are none, without a zone, or of another day than the name of their file; the last per file."""
    by_file: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        by_file[task.file].append(task)
        if moment(task.time) is None:
            yield Fault(task.file, task.task_id, "date malformed", f"time: {short(task.time)}", REPORTED)
    spans = {file: sorted(m for t in group if (m := moment(t.time))) for file, group in by_file.items()}
    for file, group in by_file.items():
        without = [t.task_id for t in group if moment(t.time) and not has_zone(t.time)]
        if without:
            detail = f"{len(without)} of {len(group)} tasks: {some(without, 1)}"
            yield Fault(file, "time", "time without a zone", detail, REPORTED)
        named, span = in_name(file), spans[file]
        if named and span and not _near(named, span):
            detail = f"tasks are of {span[0]:%Y-%m-%d %H:%M} to {span[-1]:%Y-%m-%d %H:%M}"
            fits = [other for other in by_file if (n := in_name(other)) and other != file and _near(n, span)]
            if fits:
                detail += f", as the name of {', '.join(fits)}"
            yield Fault(file, "time", "date not that of the file's name", detail, REPORTED)


def _near(named: datetime, span: Sequence[datetime]) -> bool:
    # Differences exist for all dates; a day before the first of the calendar does not.
    return span[0] - named <= DAY and named - span[-1] <= DAY


def additional(
    file: str, value: Mapping[str, Any], wnids: Set[str], validation: Mapping[str, str]
) -> Iterator[Fault]:
    """Controls set aside for more tasks: of the right classes, and as many of each kind in every class."""
    found: dict[str, tuple[list[str], ...]] = {}
    for wnid, parts in sorted(value.items()):
        if wnid not in wnids or not isinstance(parts, dict):
            yield Fault(file, wnid, "class unknown", f"holds {short(parts)}", REPORTED)
            continue
        listed = [texts(parts.get(kind) or []) for kind in SET_ASIDE]
        for kind, images in zip(SET_ASIDE, listed, strict=True):
            if images is None:
                detail = f"{kind} holds {short(parts[kind])}"
                yield Fault(file, wnid, "value of another type", detail, LEFT_OUT, "it names no images")
        found[wnid] = tuple(images or [] for images in listed)
    most = Counter((len(own), len(other)) for own, other in found.values()).most_common(1)
    for wnid, (own, other) in found.items():
        if (len(own), len(other)) != most[0][0]:
            detail = f"{len(own)} positive and {len(other)} negative, most have {most[0][0][0]} and {most[0][0][1]}"
            yield Fault(file, wnid, "controls of unequal number", detail, REPORTED)
        if validation:
            yield from _of_wrong_class(file, wnid, found[wnid], validation)


def _of_wrong_class(
    file: str, wnid: str, parts: Sequence[Sequence[str]], validation: Mapping[str, str]
) -> Iterator[Fault]:
    for (kind, own), images in zip(SET_ASIDE.items(), parts, strict=True):
        for image in images:
            if (validation.get(image) == wnid) is not own:
                detail = f"{kind}: {image} is of {validation.get(image, 'no class')}"
                yield Fault(file, wnid, "control of the wrong class", detail, REPORTED)
