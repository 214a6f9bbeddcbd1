"""Stage ``record/datasets``: lists of images, revision by revision, with what is wrong in them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from imagenetv2.job import Job
from imagenetv2.record import list_checks, lists, published_sets
from imagenetv2.record.faults import LEFT_OUT
from imagenetv2.record.ids import Mender
from imagenetv2.record.lists import IMAGES, ORIGINAL, ImageList
from imagenetv2.record.reader import Reader, tuples, whole

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "data/datasets"
THRESHOLDS = "data/dataset_metadata/sampling_thresholds_a.json"
VALIDATION = f"{FOLDER}/imagenet-validation-original.json"


def run(job: Job) -> None:
    """Write ``lists.parquet``, ``revisions.parquet``, ``originals.parquet`` and ``faults.parquet``."""
    reader = Reader.of(job)
    classes = job.read("record/classes").table("classes")
    records = job.read("record/search").table("records")
    index = dict(tuples(classes, "wnid", "class_index"))
    found = read(reader, list(index), records)
    named = published_sets.named(reader.source)
    thresholds = reader.value(THRESHOLDS, dict, optional=True)
    reader.faults += list_checks.all_of(found, list(index), thresholds, FOLDER, named)
    final = list_checks.finals(found, named)
    job.log.info("record/datasets: %s lists, %s of them published", len(found), len(final))
    job.out.table("lists", summary(found, final))
    job.out.table("revisions", revisions(found, final, index))
    job.out.table("originals", originals(found))
    reader.write(job)


def read(reader: Reader, wnids: Sequence[str], records: pd.DataFrame) -> list[ImageList]:
    """All lists of the record. What they hold for an image is checked against search results and each other."""
    values = reader.family(FOLDER, dict)
    named: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for image, wnid in tuples(records, "image_id", "wnid"):
        named[image][wnid].add("search")
    for file, value in values.items():
        for image, wnid in pairs(value):
            named[image][wnid].add(file)
    mender = Mender(named.keys())
    found: dict[str, ImageList] = {}
    for file, value in values.items():

        def elsewhere(image: str, file: str = file) -> set[str]:
            return {wnid for wnid, files in named.get(image, {}).items() if files - {file}}

        one, faults = lists.read(file, value, set(wnids), elsewhere, mender)
        reader.faults += faults
        if one is not None and one.name in found:
            other = found[one.name].file
            reader.fault(
                file, one.name, "list repeated", f"{other} has that name too", LEFT_OUT, "the first counts"
            )
        elif one is not None:
            found[one.name] = one
    reader.faults += mender.faults
    return list(found.values())


def pairs(value: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Image ids and classes in a list as released, without entries that are none."""
    entries = value.get(IMAGES)
    return [
        (e[0], e[1])
        for e in (entries if isinstance(entries, list) else [])
        if isinstance(e, list) and len(e) == 2 and all(isinstance(x, str) for x in e)
    ]


def validation(reader: Reader) -> dict[str, str]:
    """Class of every validation image; empty where the record lacks that list."""
    return dict(pairs(reader.value(VALIDATION, dict, optional=True) or {}))


def summary(found: Sequence[ImageList], final: set[str]) -> pd.DataFrame:
    """One row a list, as ``record.part_tables.LISTS`` declares."""
    import pandas as pd

    rows = [
        {
            "name": one.name,
            "set": one.set,
            "revision": one.revision,
            "final": one.name in final,
            "images": one.listed,
            "target": whole(one.settings.get("target_size")),
            "valid": one.settings.get("is_valid", True) is True,
            "time": one.time,
            "starting_from": one.starting_from,
            "settings": json.dumps(one.settings, sort_keys=True, ensure_ascii=False),
        }
        for one in found
    ]
    names = [
        "name",
        "set",
        "revision",
        "final",
        "images",
        "target",
        "valid",
        "time",
        "starting_from",
        "settings",
    ]
    return pd.DataFrame(rows, columns=names)


def revisions(found: Sequence[ImageList], final: set[str], index: Mapping[str, int]) -> pd.DataFrame:
    """One row a list of a new set and image, as ``record.part_tables.REVISIONS`` declares."""
    import pandas as pd

    rows = [
        (one.set, one.revision, image, wnid, index[wnid], one.name in final)
        for one in found
        if one.set != ORIGINAL
        for image, wnid in one.images
    ]
    names = ["set", "revision", "image_id", "wnid", "class_index", "final"]
    return pd.DataFrame(rows, columns=names)


def originals(found: Sequence[ImageList]) -> pd.DataFrame:
    """One row a list of original images and image, as ``record.part_tables.ORIGINALS`` declares."""
    import pandas as pd

    rows = [(one.name, image, wnid) for one in found if one.set == ORIGINAL for image, wnid in one.images]
    return pd.DataFrame(rows, columns=["name", "image_id", "wnid"])
