"""What is odd among search results: records that repeat, ids under several classes, impossible dates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from imagenetv2.record.faults import REPORTED, Fault
from imagenetv2.record.reader import some, tuples
from imagenetv2.record.times import DAY, in_name, moment

if TYPE_CHECKING:
    import pandas as pd

FLICKR_OPENED = datetime(2004, 2, 10, tzinfo=UTC)


def all_of(records: pd.DataFrame, lemmas: Mapping[str, Sequence[str]], folder: str) -> Iterator[Fault]:
    """Every check, one after the other."""
    yield from repeated(records, folder)
    yield from several_classes(records, folder)
    yield from sizes(records, folder)
    yield from dates(records)
    yield from windows(records)
    yield from amounts(records)
    yield from queries(records, lemmas)


def repeated(records: pd.DataFrame, folder: str) -> Iterator[Fault]:
    """Records of the same photograph and class: in one file for one query, for several queries, in several files."""
    files: dict[tuple[str, str], list[str]] = defaultdict(list)
    queries: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    keys = tuples(records, "source_file", "image_id", "wnid", "query")
    for file, image, wnid, query in keys:
        files[image, wnid].append(file)
        queries[file, image, wnid].append(query)
    for (image, wnid), found in sorted(files.items()):
        if len(set(found)) > 1:
            detail = f"{wnid} in {', '.join(sorted({f.rsplit('/', 1)[-1] for f in found}))}"
            yield Fault(folder, image, "photograph in several files", detail, REPORTED)
    several: dict[str, list[str]] = defaultdict(list)
    for (file, image, wnid), asked in sorted(queries.items()):
        for query, times in sorted(Counter(asked).items()):
            if times > 1:
                yield Fault(file, image, "record repeated", f"{times} times for {wnid}, {query}", REPORTED)
        if len(set(asked)) > 1:
            several[file].append(image)
    for file, images in sorted(several.items()):
        detail = f"{len(images):,} photographs: {some(images)}"
        yield Fault(file, "id_ours", "photograph found by several queries of a class", detail, REPORTED)


def several_classes(records: pd.DataFrame, folder: str) -> Iterator[Fault]:
    """Photographs that were found for more than one class."""
    found = defaultdict(set)
    for image, wnid, query in tuples(records, "image_id", "wnid", "query"):
        found[image].add((wnid, query))
    for image, classes in sorted(found.items()):
        if len({w for w, _ in classes}) > 1:
            detail = ", ".join(f"{w} ({q})" for w, q in sorted(classes))
            yield Fault(folder, image, "photograph under several classes", detail, REPORTED)


def sizes(records: pd.DataFrame, folder: str) -> Iterator[Fault]:
    """Records of one file on Flickr that state different sizes, or of which only some state one."""
    found = defaultdict(set)
    for url, width, height in tuples(records, "url", "width", "height"):
        found[url].add((width, height) if width and height else None)
    partly = []
    for url, claims in sorted(found.items()):
        stated = sorted(c for c in claims if c)
        if len(stated) > 1:
            detail = " and ".join(f"{w} × {h}" for w, h in stated)
            yield Fault(folder, url, "sizes disagree", detail, REPORTED)
        elif stated and None in claims:
            partly.append(url)
    if partly:
        detail = f"{len(partly):,} files on Flickr, such as {some(partly, 1)}"
        yield Fault(folder, "width, height", "size stated in some records only", detail, REPORTED)


def dates(records: pd.DataFrame) -> Iterator[Fault]:
    """Dates that are none, or that cannot be: uploads before Flickr opened, or before the photograph was taken."""
    early: dict[str, list[str]] = defaultdict(list)
    counts = records["source_file"].value_counts()
    columns = ("source_file", "position", "image_id", "taken", "uploaded", "written")
    for file, place, image, *written in tuples(records, *columns):
        subject = f"record {place}: {image}"
        taken, uploaded, stored = (moment(w) for w in written)
        for field, value, found in zip(
            ("taken", "uploaded", "written"), written, (taken, uploaded, stored), strict=True
        ):
            if value and found is None:
                yield Fault(file, subject, "date malformed", f"{field}: {value}", REPORTED)
        if uploaded and uploaded < FLICKR_OPENED:
            yield Fault(file, subject, "uploaded before Flickr opened", f"{written[1]}", REPORTED)
        if stored and (named := in_name(file)) and abs(stored - named) > 2 * DAY:
            yield Fault(file, subject, "date not that of the file's name", written[2], REPORTED)
        if taken and uploaded and taken - uploaded > DAY:
            early[file].append(image)
    for file, images in sorted(early.items()):
        detail = f"{len(images):,} of {counts[file]:,} records, by more than a day: {some(images)}"
        yield Fault(file, "date_upload_search_engine", "uploaded before it was taken", detail, REPORTED)


def windows(records: pd.DataFrame) -> Iterator[Fault]:
    """Claimed windows that end before they begin, and files that mix several."""
    columns = ["taken_from", "taken_to", "uploaded_from", "uploaded_to"]
    for file, group in records.groupby("source_file", sort=True):
        claims = sorted(group[columns].fillna("").drop_duplicates().itertuples(index=False, name=None))
        for a, b, c, d in claims:
            if (a and b and a > b) or (c and d and c > d):
                detail = f"taken {a or '…'} to {b or '…'}, uploaded {c or '…'} to {d or '…'}"
                yield Fault(str(file), "window", "window ends before it begins", detail, REPORTED)
        if len(claims) > 1:
            yield Fault(
                str(file), "window", "several windows in one file", f"{len(claims)} windows", REPORTED
            )


def amounts(records: pd.DataFrame) -> Iterator[Fault]:
    """Classes of which a file holds more records than it says were asked for."""
    import pandas as pd

    counts = Counter(tuples(records, "source_file", "wnid", "most"))
    for (file, wnid, most), found in sorted((key, n) for key, n in counts.items() if not pd.isna(key[2])):
        if found > most:
            detail = f"{found:,} records, {int(most):,} asked for"
            yield Fault(file, wnid, "more records than asked for", detail, REPORTED)


def queries(records: pd.DataFrame, lemmas: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    """Queries that are no synonym of their class, one fault a file, class and query."""
    synonyms = {w: {_plain(name) for name in names} for w, names in lemmas.items()}
    counts = Counter(tuples(records, "source_file", "wnid", "query"))
    for (file, wnid, query), times in sorted(counts.items()):
        if wnid in synonyms and _plain(query) not in synonyms[wnid]:
            detail = f"{query}: {times:,} records; synonyms are {', '.join(lemmas[wnid])}"
            yield Fault(file, wnid, "query is no synonym", detail, REPORTED)


def _plain(name: str) -> str:
    return " ".join(name.replace("_", " ").split()).casefold()
