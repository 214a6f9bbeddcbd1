"""Stage ``record/duplicates``: near-duplicates as judged, and which neighbours people looked at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Set
from typing import TYPE_CHECKING, Any

from imagenetv2.job import Job
from imagenetv2.record.datasets import validation
from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.ids import Mender, origin
from imagenetv2.record.looked_at import read_reviews
from imagenetv2.record.reader import Reader, short, some, texts

if TYPE_CHECKING:
    import pandas as pd

JUDGED = "data/metadata/near_duplicates.json"
LOOKED = "data/metadata/nearest_neighbor_reviews_v2.json"
OVERRIDES = "data/metadata/near_duplicate_resolution_override.json"

Lists = Mapping[str, list[str]]


def run(job: Job) -> None:
    """Write ``pairs.parquet``, ``exempted.parquet``, ``looked_at.parquet`` and ``faults.parquet``."""
    import pandas as pd

    reader = Reader.of(job)
    known = set(job.read("record/candidates").table("candidates")["image_id"])
    wnids = set(job.read("record/classes").table("classes")["wnid"])
    mender = Mender(known)
    judged = read_lists(reader, mender)
    pairs, faults = unordered(JUDGED, judged)
    reader.faults += faults
    reader.faults += unknown(JUDGED, pairs, known, wnids, set(validation(Reader(reader.source))))
    reviews, seen = read_reviews(reader, LOOKED, mender, known)
    reader.faults += unseen(JUDGED, pairs, seen)
    exempted = read_exempted(reader, {image for pair in pairs for image in pair})
    reader.faults += mender.faults
    job.log.info("record/duplicates: %s pairs, %s reviews", f"{len(pairs):,}", f"{len(reviews):,}")
    rows = [(a, b, origin(b) or "candidates") for a, b in sorted(pairs)]
    job.out.table("pairs", pd.DataFrame(rows, columns=["image_id", "neighbour_id", "origin"]))
    job.out.table("exempted", pd.DataFrame({"image_id": exempted}, dtype="str"))
    job.out.table("looked_at", _frame(reviews))
    reader.write(job)


def read_lists(reader: Reader, mender: Mender) -> dict[str, list[str]]:
    """Near-duplicates by image as released, with ids made whole where possible."""
    found: dict[str, list[str]] = {}
    for key, value in (reader.value(JUDGED, dict) or {}).items():
        listed = texts(value)
        if listed is None:
            reader.fault(
                JUDGED, key, "value of another type", f"holds {short(value)}", LEFT_OUT, "it names no images"
            )
            continue
        if not listed:
            reader.fault(JUDGED, key, "list empty", "names no near-duplicate")
        for image, times in sorted(Counter(listed).items()):
            if times > 1:
                reader.fault(
                    JUDGED,
                    key,
                    "near-duplicate repeated",
                    f"names {image} {times} times",
                    LEFT_OUT,
                    "a pair is one",
                )
        found.setdefault(mender(JUDGED, key), []).extend(mender(JUDGED, v) for v in dict.fromkeys(listed))
    return found


def read_exempted(reader: Reader, paired: Set[str]) -> list[str]:
    """Images that the resolution of near-duplicates passes over, sorted; those in no pair are a fault."""
    listed = reader.value(OVERRIDES, list, optional=True) or []
    for image in listed:
        if not isinstance(image, str) or image not in paired:
            detail = "exempted from resolution, but in no pair of near-duplicates"
            subject = image if isinstance(image, str) else short(image)
            reader.fault(OVERRIDES, subject, "image in no pair", detail)
    return sorted({image for image in listed if isinstance(image, str)})


def unordered(file: str, judged: Lists) -> tuple[set[tuple[str, str]], list[Fault]]:
    """Pairs of a candidate and another image; of two candidates the smaller id comes first."""
    pairs, faults = set(), []
    one_way, both = [], 0
    for key, listed in judged.items():
        for other in listed:
            if other == key:
                reason = "an image is no near-duplicate of itself"
                faults.append(
                    Fault(file, key, "image is its own near-duplicate", "names itself", LEFT_OUT, reason)
                )
                continue
            foreign = {a for a in (key, other) if origin(a) in ("train", "val", "test")}
            if len(foreign) == 2:
                detail = f"{key} and {other} are both original images"
                faults.append(Fault(file, key, "pair without a candidate", detail, REPORTED))
            first, second = (other, key) if foreign == {key} else (key, other)
            pairs.add((first, second) if foreign else (min(key, other), max(key, other)))
            if not foreign:
                both += 1
                if key not in judged.get(other, ()):
                    one_way.append(f"{key} and {other}")
    if one_way:
        detail = f"{len(one_way):,} of {both:,} between candidates are not stated the other way: {some(one_way, 1)}"
        evidence = "being near-duplicates has no direction, so each counts as an unordered pair"
        faults.append(Fault(file, "pairs", "relation not symmetric", detail, CORRECTED, evidence))
    return pairs, faults


def unknown(
    file: str, pairs: Set[tuple[str, str]], known: Set[str], wnids: Set[str], originals: Set[str]
) -> Iterator[Fault]:
    """Images of pairs that nothing else in the record names."""
    images = sorted({image for pair in pairs for image in pair})
    candidates = [i for i in images if origin(i) in ("candidates", "")]
    strange = [i for i in candidates if i not in known]
    if strange:
        detail = f"{len(strange):,} of {len(candidates):,} candidates are in no search result, task or list: {some(strange)}"
        yield Fault(file, "images", "images unknown to the record", detail, REPORTED)
    for image in images:
        if origin(image) == "val" and originals and image not in originals:
            yield Fault(
                file, image, "validation image unknown", "not in the list of validation images", REPORTED
            )
        if origin(image) == "train" and image.split("_")[0] not in wnids:
            yield Fault(
                file, image, "class unknown", "a training image of a class that is not listed", REPORTED
            )


def unseen(file: str, pairs: Set[tuple[str, str]], seen: Set[tuple[str, str]]) -> Iterator[Fault]:
    """Pairs that were judged although no review says that somebody looked at them."""
    missing = sorted(p for p in pairs if p not in seen and p[::-1] not in seen)
    if missing:
        detail = f"{len(missing):,} of {len(pairs):,}: {some((' and '.join(p) for p in missing), 1)}"
        yield Fault(file, "pairs", "judged pairs in no review", detail, REPORTED)


def _frame(reviews: Mapping[tuple[str, str], Mapping[str, Any]]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        (image, metric, r["date"], r["references"], r["cutoff"])
        for (image, metric), r in sorted(reviews.items())
    ]
    return pd.DataFrame(rows, columns=["image_id", "metric", "date", "references", "cutoff"])
