"""Stage ``record/candidates``: candidates that the record knows, and those that people excluded."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING

from imagenetv2.job import Job
from imagenetv2.record import datasets, hits, search
from imagenetv2.record.faults import LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import Mender
from imagenetv2.record.lists import list_name
from imagenetv2.record.reader import Reader, short, some, text, tuples

if TYPE_CHECKING:
    import pandas as pd

BLACKLISTED = "data/metadata/candidate_blacklist.json"
PARTS = ("search", "tasks", "datasets")
FOLDERS = {"search": search.FOLDER, "tasks": hits.FOLDER, "datasets": datasets.FOLDER}

Pairs = Mapping[str, Set[tuple[str, str]]]


def run(job: Job) -> None:
    """Write ``candidates.parquet``, ``blacklist.parquet`` and ``faults.parquet``."""
    reader = Reader.of(job)
    classes = job.read("record/classes").table("classes")
    records = job.read("record/search").table("records")
    tasks = job.read("record/hits").table("tasks")
    revisions = job.read("record/datasets").table("revisions")
    frames = {"search": records, "tasks": tasks[tasks["role"] == "candidate"], "datasets": revisions}
    pairs = {part: set(tuples(f, "image_id", "wnid")) for part, f in frames.items()}
    index = dict(tuples(classes, "wnid", "class_index"))
    photos = dict(tuples(records, "image_id", "photo_id"))
    reader.faults += unknown_classes(pairs, index.keys())
    excluded = blacklist(reader, {image for found in pairs.values() for image, _ in found})
    reader.faults += listed_though_excluded(revisions, excluded)
    reader.faults += classes_disagree(pairs, revisions)
    found = gathered(pairs, index, photos)
    job.log.info(
        "record/candidates: %s images and classes, %s excluded", f"{len(found):,}", f"{len(excluded):,}"
    )
    job.out.table("candidates", found)
    job.out.table("blacklist", _frame(excluded))
    reader.write(job)


def gathered(pairs: Pairs, index: Mapping[str, int], photos: Mapping[str, str]) -> pd.DataFrame:
    """One row an image and class, as ``record.part_tables.CANDIDATES`` declares."""
    import pandas as pd

    parts: dict[tuple[str, str], list[str]] = defaultdict(list)
    for part in PARTS:
        for key in pairs[part]:
            parts[key].append(part)
    found = [
        (image, wnid, index[wnid], photos.get(image), known)
        for (image, wnid), known in parts.items()
        if wnid in index
    ]
    return pd.DataFrame(found, columns=["image_id", "wnid", "class_index", "photo_id", "known_from"])


def unknown_classes(pairs: Pairs, wnids: Set[str]) -> Iterator[Fault]:
    """Classes that are in no list of classes: their images are no candidates of anything."""
    for part in PARTS:
        images = defaultdict(list)
        for image, wnid in sorted(p for p in pairs[part] if p[1] not in wnids):
            images[wnid].append(image)
        for wnid, found in images.items():
            detail = f"{len(found):,} images: {some(found)}"
            reason = "candidates belong to a class of the list of classes"
            yield Fault(FOLDERS[part], wnid or "missing", "class unknown", detail, LEFT_OUT, reason)


def blacklist(reader: Reader, known: Set[str]) -> dict[str, str]:
    """Reason by image id. Ids are made whole where possible; those of images that nothing else names are counted."""
    value = reader.value(BLACKLISTED, dict) or {}
    mender = Mender(known)
    found: dict[str, str] = {}
    for image_id, reason in sorted(value.items()):
        if not isinstance(reason, str) or not reason:
            reader.fault(BLACKLISTED, image_id, "reason missing", f"holds {short(reason)}")
        found.setdefault(mender(BLACKLISTED, image_id), text(reason))
    reader.faults += mender.faults
    unknown = [image for image in found if image not in known]
    if unknown:
        detail = f"{len(unknown):,} of {len(found):,} are in no search result, task or list: {some(unknown)}"
        reader.fault(BLACKLISTED, "images", "images unknown to the record", detail)
    return found


def listed_though_excluded(revisions: pd.DataFrame, excluded: Mapping[str, str]) -> Iterator[Fault]:
    """Excluded images in lists: one fault an image in published ones, one a list in earlier ones."""
    found: dict[tuple[str, int, bool], list[tuple[str, str]]] = defaultdict(list)
    for rule, revision, final, image, wnid in tuples(
        revisions, "set", "revision", "final", "image_id", "wnid"
    ):
        if image in excluded:
            found[rule, revision, final].append((image, wnid))
    for (rule, revision, final), listed in sorted(found.items()):
        file = f"{datasets.FOLDER}/{list_name(rule, revision)}.json"
        if final:
            for image, wnid in listed:
                detail = f"of {wnid}; excluded because: {excluded[image]}"
                yield Fault(file, image, "excluded image in a published list", detail, REPORTED)
        else:
            detail = (
                f"{len(listed):,} images that people excluded, then or later: {some(i for i, _ in listed)}"
            )
            yield Fault(file, "images", "excluded images in an earlier list", detail, REPORTED)


def classes_disagree(pairs: Pairs, revisions: pd.DataFrame) -> Iterator[Fault]:
    """Listed images that search results and tasks know, but for other classes only."""
    known = defaultdict(set)
    for part in ("search", "tasks"):
        for image, wnid in pairs[part]:
            known[image].add(wnid)
    names = defaultdict(list)
    for image, wnid, rule, revision in tuples(revisions, "image_id", "wnid", "set", "revision"):
        if image in known and wnid not in known[image]:
            names[image, wnid].append(f"{rule} {revision}")
    for (image, wnid), where in sorted(names.items()):
        detail = (
            f"listed for {wnid} in {', '.join(where)}; elsewhere known for {', '.join(sorted(known[image]))}"
        )
        yield Fault(
            datasets.FOLDER, image, "listed for a class that no search or task names", detail, REPORTED
        )


def _frame(excluded: Mapping[str, str]) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(sorted(excluded.items()), columns=["image_id", "reason"])
