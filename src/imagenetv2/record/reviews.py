"""Stage ``record/reviews``: final reviews of sets, class by class, with what is wrong in them."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import TYPE_CHECKING, Any

from imagenetv2.job import Job
from imagenetv2.record.faults import CORRECTED, LEFT_OUT
from imagenetv2.record.lists import identified, stem
from imagenetv2.record.reader import Reader, short, some

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "data/dataset_reviews"
FIELDS = ("reviewed", "problematic")
WORDS = {"true": True, "false": False, "yes": True, "no": False, "1": True, "0": False}

Row = tuple[str, int, str, bool, bool]


def run(job: Job) -> None:
    """Write ``classes.parquet`` and ``faults.parquet``."""
    import pandas as pd

    reader = Reader.of(job)
    wnids = list(job.read("record/classes").table("classes")["wnid"])
    lists = job.read("record/datasets").table("lists")
    final = set(lists.loc[lists["final"], "name"])
    rows: list[Row] = []
    reviewed: set[str] = set()
    for file, value in reader.family(FOLDER, dict).items():
        name = stem(file).removesuffix("_review")
        which = identified(name)
        if which is None or name in reviewed:
            reason = "reviews are named after the list that was looked at"
            reader.fault(
                file, name, "review of no known list", "its name gives no set and revision", LEFT_OUT, reason
            )
            continue
        reviewed.add(name)
        if name not in set(lists["name"]):
            reader.fault(
                file, name, "list of a review missing", "the record does not hold the list that was reviewed"
            )
        found = read(reader, file, value, wnids)
        rows += [(*which, wnid, *verdict) for wnid, verdict in found.items()]
        if name in final:
            objections(reader, file, found)
    unreviewed(reader, lists, reviewed)
    job.log.info("record/reviews: %s reviews of %s classes each", len(reviewed), f"{len(wnids):,}")
    job.out.table(
        "classes", pd.DataFrame(rows, columns=["set", "revision", "wnid", "reviewed", "problematic"])
    )
    reader.write(job)


def read(
    reader: Reader, file: str, value: dict[str, Any], wnids: Sequence[str]
) -> dict[str, tuple[bool, bool]]:
    """Whether each class was looked at and whether somebody objected; classes that are missing were not looked at."""
    missing = [w for w in wnids if w not in value]
    if missing:
        detail = f"{len(missing):,} of {len(wnids):,}: {some(missing)}"
        reader.fault(file, "classes", "classes missing from a review", detail)
    for wnid in sorted(set(value) - set(wnids)):
        reader.fault(
            file,
            wnid,
            "class unknown",
            f"holds {short(value[wnid])}",
            LEFT_OUT,
            "it is in no list of classes",
        )
    found = {}
    for wnid in wnids:
        if wnid in value:
            reviewed, problematic = (_flag(reader, file, wnid, value[wnid], field) for field in FIELDS)
            found[wnid] = (reviewed, problematic)
    return found


def _flag(reader: Reader, file: str, wnid: str, entry: object, field: str) -> bool:
    """A true or false; missing and unreadable ones count as false: not looked at, no objection on record."""
    if not isinstance(entry, dict) or field not in entry:
        reader.fault(file, wnid, "field missing", f"no {field} in {short(entry)}")
        return False
    value = entry[field]
    if isinstance(value, bool):
        return value
    word = WORDS.get(str(value).strip().casefold())
    detail = f"{field}: {short(value)}"
    if word is None:
        reader.fault(file, wnid, "verdict unreadable", detail, LEFT_OUT, "it says neither yes nor no")
        return False
    reader.fault(
        file, wnid, "value of another type", detail, CORRECTED, f"it can only mean {str(word).lower()}"
    )
    return word


def objections(reader: Reader, file: str, found: dict[str, tuple[bool, bool]]) -> None:
    """Classes of a published list that nobody looked at, or to which somebody objected."""
    for wnid, (reviewed, problematic) in found.items():
        if problematic:
            reader.fault(file, wnid, "objection to a published list", "problematic is true")
        if not reviewed:
            reader.fault(file, wnid, "published class not reviewed", "reviewed is false")


def unreviewed(reader: Reader, lists: pd.DataFrame, reviewed: Set[str]) -> None:
    """Lists of new sets without a review."""
    for name, which, final in zip(lists["name"], lists["set"], lists["final"], strict=True):
        if which != "original" and name not in reviewed:
            detail = f"no review of {name}{', which was published' if final else ''}"
            reader.fault(FOLDER, name, "review missing", detail)
