"""Reviews of nearest neighbours in a record: who was looked at, under which metric, down to which cut-off."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Set
from typing import Any

from imagenetv2.record.faults import CORRECTED, LEFT_OUT
from imagenetv2.record.ids import Mender
from imagenetv2.record.reader import Reader, number, short, some, text, texts
from imagenetv2.record.times import moment

METRICS = {"l2": "l2", "fc7": "fc7", "dssim": "ssim", "ssim": "ssim"}

Reviews = dict[tuple[str, str], dict[str, Any]]


def read_reviews(
    reader: Reader, file: str, mender: Mender, known: Set[str]
) -> tuple[Reviews, set[tuple[str, str]]]:
    """Reviews by candidate and metric, and all pairs of a candidate and an image that was looked at beside it."""
    reviews: Reviews = {}
    seen: set[tuple[str, str]] = set()
    cutoffs: dict[str, Counter[str]] = defaultdict(Counter)
    for key, value in (reader.value(file, dict) or {}).items():
        image = mender(file, key)
        if not isinstance(value, dict):
            reader.fault(
                file, key, "value of another type", f"holds {short(value)}", LEFT_OUT, "it names no metric"
            )
            continue
        for name, entry in value.items():
            metric = METRICS.get(name)
            if metric is None or not isinstance(entry, dict) or (image, metric) in reviews:
                reader.fault(
                    file, key, "review malformed", f"{name}: {short(entry)}", LEFT_OUT,
                    f"reviews are objects, one for each of {', '.join(METRICS)}",
                )  # fmt: skip
                continue
            references = _references(reader, file, key, name, entry, mender)
            seen |= {(image, other) for other in references}
            reviews[image, metric] = {
                "date": _date(reader, file, key, name, entry),
                "references": len(references),
                "cutoff": _cutoff(reader, file, f"{key} {name}", entry.get("threshold")),
            }
            cutoffs[metric][type(entry.get("threshold")).__name__] += 1
    _summarise(
        reader, file, cutoffs, sorted({image for image, _ in reviews} - known), len({i for i, _ in reviews})
    )
    return reviews, seen


def _references(
    reader: Reader, file: str, key: str, name: str, entry: dict[str, Any], mender: Mender
) -> list[str]:
    listed = texts(entry.get("references"))
    if listed is None:
        detail = f"{name}: references are {short(entry.get('references'))}"
        reader.fault(file, key, "references missing", detail)
        return []
    for image, times in sorted(Counter(listed).items()):
        if times > 1:
            detail = f"{name}: names {image} {times} times"
            reader.fault(file, key, "reference repeated", detail, LEFT_OUT, "it was looked at once")
    if key in listed:
        reader.fault(
            file, key, "image is its own neighbour", name, LEFT_OUT, "the nearest other images were looked at"
        )
    return [mender(file, other) for other in dict.fromkeys(listed) if other != key]


def _date(reader: Reader, file: str, key: str, name: str, entry: dict[str, Any]) -> str:
    date = text(entry.get("date"))
    if moment(date) is None:
        reader.fault(file, key, "date malformed", f"{name}: {short(entry.get('date'))}")
    return date


def _cutoff(reader: Reader, file: str, subject: str, value: object) -> float | None:
    if value is None:
        return None
    found = number(value)
    if found is None:
        reader.fault(
            file, subject, "number malformed", f"threshold: {short(value)}", LEFT_OUT, "it is no distance"
        )
    return found


def _summarise(
    reader: Reader, file: str, cutoffs: dict[str, Counter[str]], strange: list[str], images: int
) -> None:
    for metric, kinds in sorted(cutoffs.items()):
        told = ", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items()))
        total = sum(kinds.values())
        if kinds["NoneType"]:
            detail = f"{kinds['NoneType']:,} of {total:,} reviews state none"
            reader.fault(file, metric, "cut-off missing", detail)
        if len(kinds.keys() - {"NoneType"}) > 1:
            detail = f"types of threshold are {told}"
            reader.fault(
                file, metric, "numbers of several types", detail, CORRECTED, "all are read as floating-point"
            )
    if strange:
        detail = f"{len(strange):,} of {images:,} are in no search result, task or list: {some(strange)}"
        reader.fault(file, "images", "images unknown to the record", detail)
