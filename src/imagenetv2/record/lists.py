"""Lists of images in a record: which set and revision each is, and its images with their classes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import origin
from imagenetv2.record.reader import number, short, text

ORIGINAL = "original"
NAME = re.compile(r"imagenetv2-([a-z])-(0|[1-9]\d{0,3})")
"""Letter of the rule and revision; no study draws its sets ten thousand times."""
RULES = {"a": "threshold", "b": "matched_frequency", "c": "top_images"}
"""Rules by the letter in a list's name."""
FUNCTIONS = {
    "sample_above_threshold": "threshold",
    "sample_wnid_histogram": "matched_frequency",
    "sample_best": "top_images",
    "sample_val_dummy": ORIGINAL,
    "sample_val_annotated": ORIGINAL,
}
"""Sets by the function that a list says it was drawn with."""
IMAGES = "image_filenames"
THRESHOLDS = "wnid_thresholds"
ClassesOf = Callable[[str], set[str]]


@dataclass(frozen=True)
class ImageList:
    """One list.

    Attributes:
        file: file of the record.
        name: its name without folder and ending.
        set: original or a rule.
        revision: revision; -1 for lists of original images.
        listed: how many entries the file has.
        images: image id and WordNet ID of each image, once, in the order of the file.
        settings: everything else that the file states.
    """

    file: str
    name: str
    set: str
    revision: int
    listed: int
    images: tuple[tuple[str, str], ...]
    settings: Mapping[str, Any]

    @property
    def time(self) -> str:
        """When it was drawn, as written."""
        return text(self.settings.get("time_string"))

    @property
    def starting_from(self) -> str:
        """Name of the list that it was drawn from; empty for a first one."""
        return text(self.settings.get("starting_from")).removesuffix(".json")


def stem(file: str) -> str:
    """A file's name without folder and ending."""
    return file.rsplit("/", 1)[-1].removesuffix(".json")


def identified(name: str) -> tuple[str, int] | None:
    """Set and revision that a list's name stands for; None where it stands for none."""
    if found := NAME.fullmatch(name):
        rule = RULES.get(found.group(1))
        return None if rule is None else (rule, int(found.group(2)))
    return (ORIGINAL, -1) if re.fullmatch(r"imagenet-[a-z]\w*(-\w+)*", name) else None


def class_thresholds(settings: Mapping[str, Any]) -> dict[str, float]:
    """Selection frequencies by class that a list was drawn with, those of its statements that are numbers; sorted."""
    stated = settings.get(THRESHOLDS)
    found = {w: number(t) for w, t in sorted(stated.items())} if isinstance(stated, dict) else {}
    return {w: t for w, t in found.items() if t is not None}


def list_name(rule: str, revision: int) -> str:
    """Name of a rule's list; the inverse of ``identified``."""
    letter = next(key for key, name in RULES.items() if name == rule)
    return f"imagenetv2-{letter}-{revision}"


def read(
    file: str,
    value: Mapping[str, Any],
    wnids: Set[str],
    classes_of: ClassesOf,
    mend: Callable[[str, str], str],
) -> tuple[ImageList | None, list[Fault]]:
    """The list in a file, with each image once, and what is wrong in it; no list where it cannot be used.

    ``classes_of`` gives classes that other parts of the record name for an image; ``mend`` makes ids whole.
    """
    name = stem(file)
    which = identified(name)
    if which is None:
        reason = f"names of lists are imagenetv2-{'|'.join(RULES)}-<revision> and imagenet-<what>"
        return None, [Fault(file, name, "list of no known set", f"named {name}", LEFT_OUT, reason)]
    entries = value.get(IMAGES)
    if not isinstance(entries, list):
        detail = f"{IMAGES} holds {short(entries)}"
        return None, [Fault(file, name, "list without images", detail, LEFT_OUT, "it names none")]
    faults = _declared(file, name, which[0], value)
    pairs, wrong = _pairs(file, entries, which[0], mend)
    pairs, unknown = _classes(file, pairs, wnids, classes_of)
    images, doubled = _once(file, pairs, classes_of)
    settings = {k: v for k, v in value.items() if k != IMAGES}
    return ImageList(
        file, name, *which, len(entries), tuple(images), settings
    ), faults + wrong + unknown + doubled


def _declared(file: str, name: str, which: str, value: Mapping[str, Any]) -> list[Fault]:
    faults = []
    function = text(value.get("sampling_function"))
    if FUNCTIONS.get(function) != which:
        detail = f"drawn with {function or 'no function'}, named as a list of {which}"
        faults.append(Fault(file, name, "function of another set", detail, REPORTED))
    if stem(text(value.get("output_filename"))) != name:
        detail = f"says that it is {text(value.get('output_filename')) or 'nothing'}"
        faults.append(Fault(file, name, "list under another name", detail, REPORTED))
    return faults


def _pairs(
    file: str, entries: Sequence[Any], which: str, mend: Callable[[str, str], str]
) -> tuple[list[tuple[str, str]], list[Fault]]:
    pairs, faults = [], []
    form = "val" if which == ORIGINAL else "candidates"
    for place, entry in enumerate(entries):
        if not (isinstance(entry, list) and len(entry) == 2 and all(isinstance(e, str) for e in entry)):
            reason = "it names no image with a class"
            faults.append(Fault(file, f"entry {place}", "entry malformed", short(entry), LEFT_OUT, reason))
            continue
        image = mend(file, entry[0])
        pairs.append((image, entry[1]))
        if origin(image) not in (form, ""):
            detail = f"entry {place} has the form of an image of {origin(image)}, not of {form}"
            faults.append(Fault(file, image, "image of another origin", detail, REPORTED))
    return pairs, faults


def _classes(
    file: str, pairs: Sequence[tuple[str, str]], wnids: Set[str], classes_of: ClassesOf
) -> tuple[list[tuple[str, str]], list[Fault]]:
    kept, faults = [], []
    for image, wnid in pairs:
        if wnid in wnids:
            kept.append((image, wnid))
            continue
        likely = classes_of(image) & wnids
        detail = f"WordNet ID {wnid or 'missing'} is not in the list of classes"
        if len(likely) == 1:
            (found,) = likely
            kept.append((image, found))
            evidence = f"the rest of the record knows this image for {found} only"
            faults.append(Fault(file, image, "class unknown", detail, CORRECTED, evidence))
        else:
            reason = "an image of no known class cannot be right or wrong"
            faults.append(Fault(file, image, "class unknown", detail, LEFT_OUT, reason))
    return kept, faults


def _once(
    file: str, pairs: Sequence[tuple[str, str]], classes_of: ClassesOf
) -> tuple[list[tuple[str, str]], list[Fault]]:
    """Each image once: under the class that the rest of the record knows it for, otherwise where it comes first."""
    places: dict[str, list[int]] = {}
    for place, (image, _) in enumerate(pairs):
        places.setdefault(image, []).append(place)
    faults, dropped = [], set()
    for image, found in places.items():
        if len(found) == 1:
            continue
        known = [p for p in found if pairs[p][1] in classes_of(image)]
        keep = (known or found)[0]
        dropped |= set(found) - {keep}
        classes = sorted({pairs[p][1] for p in found})
        detail = f"entries {', '.join(map(str, found))}, of {', '.join(classes)}"
        evidence = f"a set holds an image once; entry {keep} stays"
        if known and len(classes) > 1:
            evidence += ", of the class that the rest of the record knows it for"
        kind = "image doubled" if len(classes) == 1 else "image doubled under several classes"
        faults.append(Fault(file, image, kind, detail, LEFT_OUT, evidence))
    return [p for k, p in enumerate(pairs) if k not in dropped], faults
