"""Mechanical Turk tasks in a record: what each shows and in which role, with what is wrong in it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import origin
from imagenetv2.record.reader import short, some, text

PARTS = {"images_to_label": "candidate", "images_pos_control": "positive", "images_neg_control": "negative"}
ALL = "images_all"
FIELDS = ("wnid", *PARTS, ALL, "uuid", "time", "submitted", "hit_id")


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        task_id: the study's own id, unique in the record.
        file: file of the record.
        wnid: class asked about.
        shown: image id and role of every image, in the order of the grid.
        hit_id: Mechanical Turk's id; empty where it was not submitted.
        time: time of submission as written.
        submitted: whether it was submitted.
    """

    task_id: str
    file: str
    wnid: str
    shown: tuple[tuple[str, str], ...]
    hit_id: str
    time: str
    submitted: bool

    def images(self, *roles: str) -> list[str]:
        """Ids of the images that are shown in one of the roles."""
        return [image for image, role in self.shown if role in roles]


@dataclass(frozen=True)
class Known:
    """What tasks are read against: WordNet IDs of all classes, the class of every validation image."""

    wnids: Set[str]
    validation: Mapping[str, str]
    mend: Callable[[str, str, str], str]


def read(
    file: str, place: int, item: Mapping[str, Any], task_id: str, known: Known
) -> tuple[Task, list[Fault]]:
    """A task from its entry in the record, and what is wrong in it."""
    faults = []
    absent = [f for f in FIELDS if f not in item]
    if absent:
        faults.append(
            Fault(file, task_id, "field missing", f"task {place} has no {', '.join(absent)}", REPORTED)
        )
    parts, wrong = _parts(file, task_id, item, known)
    shown, more = _shown(file, task_id, item, parts, known)
    wnid, submitted = text(item.get("wnid")), item.get("submitted")
    if wnid not in known.wnids:
        detail = f"asks about {wnid or 'nothing'}, which is not in the list of classes"
        faults.append(Fault(file, task_id, "class unknown", detail, REPORTED))
    if "submitted" in item and not isinstance(submitted, bool):
        reason = "a task with Mechanical Turk's id was submitted"
        faults.append(
            Fault(file, task_id, "value of another type", f"submitted: {short(submitted)}", CORRECTED, reason)
        )
        submitted = bool(item.get("hit_id"))
    task = Task(
        task_id, file, wnid, tuple(_roles(shown, wnid, known.validation)), text(item.get("hit_id")),
        text(item.get("time")), bool(submitted),
    )  # fmt: skip
    return task, faults + wrong + more


def _images(
    file: str, task_id: str, field: str, value: object, known: Known
) -> tuple[list[str], list[Fault]]:
    if not isinstance(value, list):
        if value is None:
            return [], []
        reason = "it names no images"
        return [], [
            Fault(file, task_id, "value of another type", f"{field}: {short(value)}", LEFT_OUT, reason)
        ]
    odd = [v for v in value if not isinstance(v, str)]
    faults = []
    if odd:
        detail = f"{field} holds {some(map(short, odd))}"
        faults.append(Fault(file, task_id, "image of another type", detail, LEFT_OUT, "ids are texts"))
    return [known.mend(file, v, f"task {task_id}") for v in value if isinstance(v, str)], faults


def _parts(
    file: str, task_id: str, item: Mapping[str, Any], known: Known
) -> tuple[dict[str, str], list[Fault]]:
    """Role of each image that a part names; the first part counts where several name it."""
    roles: dict[str, str] = {}
    faults: list[Fault] = []
    for field, role in PARTS.items():
        images, wrong = _images(file, task_id, field, item.get(field), known)
        faults += wrong
        twice = [image for image, n in Counter(images).items() if n > 1]
        if twice:
            detail = f"{field} names {some(twice)} more than once"
            faults.append(Fault(file, task_id, "image repeated in a task", detail, REPORTED))
        for image in dict.fromkeys(images):
            if image in roles:
                detail = f"{image} is both {roles[image]} and {role}"
                faults.append(Fault(file, task_id, "image in two roles", detail, REPORTED))
            roles.setdefault(image, role)
    return roles, faults


def _shown(
    file: str, task_id: str, item: Mapping[str, Any], roles: Mapping[str, str], known: Known
) -> tuple[list[tuple[str, str]], list[Fault]]:
    """Images in the order of the grid with their roles; what was shown stands in ``images_all``."""
    images, faults = _images(file, task_id, ALL, item.get(ALL), known)
    if not images and roles:
        detail = f"{ALL} names no image, the parts {len(roles)}"
        evidence = "every image of the parts was shown; their order in the grid is unknown"
        return list(roles.items()), [
            *faults,
            Fault(file, task_id, "order of images missing", detail, CORRECTED, evidence),
        ]
    twice = [image for image, n in Counter(images).items() if n > 1]
    if twice and not any(f.fault == "image repeated in a task" for f in faults):
        detail = f"{ALL} names {some(twice)} more than once"
        faults.append(Fault(file, task_id, "image repeated in a task", detail, REPORTED))
    unshown = [image for image in roles if image not in set(images)]
    if unshown:
        detail = f"{len(unshown)} images of the parts are not in {ALL}: {some(unshown)}"
        reason = f"pages are made from {ALL}, so that nobody saw them"
        faults.append(Fault(file, task_id, "images of parts not shown", detail, LEFT_OUT, reason))
    extra = [image for image in dict.fromkeys(images) if image not in roles]
    if extra:
        detail = f"{len(extra)} images of {ALL} are in no part: {some(extra)}"
        reason = "validation images of the class count as positive controls, others as negative, the rest as candidates"
        faults.append(Fault(file, task_id, "images shown in no role", detail, CORRECTED, reason))
    return [(image, roles.get(image, "")) for image in images], faults


def _roles(
    shown: Sequence[tuple[str, str]], wnid: str, validation: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Candidates that are validation images are annotated ones; images in no part get the role that they can have."""
    found = []
    for image, role in shown:
        if role in ("candidate", "") and origin(image) == "val":
            own = validation.get(image, wnid) == wnid
            role = "validation" if role else ("positive" if own else "negative")
        found.append((image, role or "candidate"))
    return found
