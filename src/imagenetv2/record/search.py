"""Stage ``record/search``: search results as released, one row a record, with what is wrong among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from imagenetv2.job import Job
from imagenetv2.record import search_checks, search_ids
from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault
from imagenetv2.record.reader import Reader, short, some, text, whole
from imagenetv2.record.times import day

if TYPE_CHECKING:
    import pandas as pd

FOLDER = "data/search_results"
TEXTS = {
    "wnid": "wnid",
    "photo_id": "id_search_engine",
    "image_id": "id_ours",
    "query": "search_key",
    "taken": "date_taken",
    "uploaded": "date_upload_search_engine",
    "url": "url",
    "size_key": "url_type",
    "order": "search_sort",
    "engine": "search_engine",
    "written": "date_upload_our_db",
}
DAYS = {
    "taken_from": "min_taken_date",
    "taken_to": "max_taken_date",
    "uploaded_from": "min_uploaded_date",
    "uploaded_to": "max_uploaded_date",
}
NUMBERS = {"width": "width", "height": "height", "most": "max_images"}
FIELDS = {**TEXTS, **DAYS, **NUMBERS}
"""Field of the record that each column comes from."""

File = Sequence[tuple[int, dict[str, Any]]]


def run(job: Job) -> None:
    """Write ``records.parquet`` and ``faults.parquet``."""
    import pandas as pd

    reader = Reader.of(job)
    classes = job.read("record/classes").table("classes")
    parts = [
        read_file(reader, name, reader.objects(name, listed))
        for name, listed in reader.family(FOLDER, list).items()
    ]
    columns = ["source_file", "position", *FIELDS]
    records = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame([], columns=columns)
    records, faults = search_ids.corrected(records, FOLDER, set(classes["wnid"]))
    reader.faults += faults
    lemmas = {w: list(names) for w, names in zip(classes["wnid"], classes["lemmas"], strict=True)}
    reader.faults += search_checks.all_of(records, lemmas, FOLDER)
    job.log.info(
        "record/search: %s records of %s photographs",
        f"{len(records):,}",
        f"{records['image_id'].nunique():,}",
    )
    job.out.table("records", records.drop(columns=["engine", "written"]))
    reader.write(job)


def read_file(reader: Reader, name: str, items: File) -> pd.DataFrame:
    """Records of one file with values of the declared types; what had to be changed or is missing is noted."""
    import pandas as pd

    reader.faults += missing(name, items)
    columns: dict[str, list[Any]] = {"source_file": [name] * len(items), "position": [p for p, _ in items]}
    for column, field in FIELDS.items():
        values = [item.get(field) for _, item in items]
        if column in TEXTS:
            columns[column], faults = as_texts(name, field, values, items)
        elif column in DAYS:
            columns[column], faults = as_days(name, field, values, items)
        else:
            columns[column], faults = as_numbers(name, field, values, items)
        reader.faults += faults
    return pd.DataFrame(columns, dtype=object)


def missing(name: str, items: File) -> Iterator[Fault]:
    """Fields that records of a file lack, one fault a field."""
    for field in FIELDS.values():
        without = [place for place, item in items if field not in item]
        if without:
            detail = f"{len(without):,} of {len(items):,} records have no such field"
            yield Fault(name, field, "field missing", detail, REPORTED)


def as_texts(name: str, field: str, values: list[Any], items: File) -> tuple[list[str], list[Fault]]:
    """Texts; numbers are written out, and missing values become the empty text."""
    other = [v for v in values if v is not None and not isinstance(v, str)]
    empty = [
        p for (p, item), v in zip(items, values, strict=True) if field in item and (v is None or v == "")
    ]
    faults = []
    if other:
        detail = f"{len(other):,} of {len(values):,} values are no texts, such as {some(map(short, other))}"
        faults.append(
            Fault(name, field, "value of another type", detail, CORRECTED, "written out they say the same")
        )
    if empty:
        detail = f"{len(empty):,} of {len(values):,} records, at {some(empty)}"
        faults.append(Fault(name, field, "value missing", detail, REPORTED))
    return [text(v) for v in values], faults


def as_days(name: str, field: str, values: list[Any], items: File) -> tuple[list[str | None], list[Fault]]:
    """Days of the calendar; anything else counts as missing."""
    found = [day(v) for v in values]
    faults = [
        Fault(name, f"record {p}: {field}", "date malformed", f"{short(v)} is no day YYYY-MM-DD", LEFT_OUT,
              "it names no day")
        for (p, item), v, d in zip(items, values, found, strict=True)
        if field in item and d is None
    ]  # fmt: skip
    return found, faults


def as_numbers(name: str, field: str, values: list[Any], items: File) -> tuple[list[int | None], list[Fault]]:
    """Whole numbers above 0; digits in a text are read, anything else counts as missing."""
    numbers = [whole(v) for v in values]
    found = [n if n is not None and n > 0 else None for n in numbers]
    kinds = Counter(type(v).__name__ for (_, item), v in zip(items, values, strict=True) if field in item)
    faults = []
    written = sum(isinstance(v, str) and n is not None for v, n in zip(values, found, strict=True))
    if written:
        detail = f"{written:,} of {len(values):,} are texts; types are {_counts(kinds)}"
        faults.append(
            Fault(name, field, "number as text", detail, CORRECTED, "each of these texts is digits only")
        )
    if kinds["NoneType"]:
        detail = f"null in {kinds['NoneType']:,} of {len(values):,} records; types are {_counts(kinds)}"
        faults.append(Fault(name, field, "value missing", detail, REPORTED))
    for (place, _), value, number in zip(items, values, found, strict=True):
        if value is not None and number is None:
            detail = f"{short(value)} is no whole number above 0"
            faults.append(
                Fault(
                    name,
                    f"record {place}: {field}",
                    "number malformed",
                    detail,
                    LEFT_OUT,
                    "it gives no size or count",
                )
            )
    return found, faults


def _counts(kinds: Counter[str]) -> str:
    return ", ".join(f"{name} {n:,}" for name, n in sorted(kinds.items()))
