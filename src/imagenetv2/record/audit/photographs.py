"""Photographs among the search results and ids anywhere: classes, repeats, sizes, and the ids themselves."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit.finding import (
    INCONSISTENT,
    LIMIT,
    MISSING,
    NOTED,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
    listed,
    nothing,
)
from imagenetv2.record.audit.released import (
    BLACKLIST_FILE,
    LABELS,
    LOOKED_AT_FILE,
    NEW,
    PAIRS_FILE,
    Released,
)

KNOWN = re.compile(r"[0-9a-f]{40}|ILSVRC2012_(val|test)_\d{8}\.JPEG|n\d{8}_\d+\.JPEG")
"""Ids of candidates, and names of original validation, test and training images."""


def findings(record: Released) -> list[Finding]:
    """All findings about photographs and ids."""
    about = [_damaged(record)]
    if not record.search.empty:
        about += [
            _classes(record),
            _elsewhere(record),
            _repeats(record.search),
            _sizes(record),
            _digests(record.search),
        ]
    return about


def _classes(record: Released) -> Finding:
    search = record.search
    classes = search.groupby("image_id")["wnid"].nunique()
    several = search.loc[search["image_id"].isin(classes[classes > 1].index)]
    used = {name: len(ids & set(several["image_id"])) for name, ids in record.finals().items()}
    number = several["image_id"].nunique()
    anywhere = len(set().union(*record.finals().values()) & set(several["image_id"]))
    return Finding(
        slug="several-classes",
        kind=LIMIT if number else SOUND,
        title="Photographs found for several classes"
        if number
        else "No photograph was found for several classes",
        count=number,
        measured=f"{plural(number, 'photograph')} of {count(len(classes))} in the search results ({percent(number / len(classes))}) were found for "
        f"two or more classes; {count(anywhere)} of them are in a final set ({', '.join(f'{LABELS[s]} {n}' for s, n in used.items())}).",
        how="Search results by the study’s own id, which is made from Flickr’s number, so the same photograph has one id everywhere.",
        implies="Objects of two classes may be in such a photograph. The released code keeps the class of the first file in alphabetical "
        "order, so the photograph stands for that class only.",
        does_not_imply="A wrong label: what counts is whether workers saw the class that was kept.",
        evidence=evidence(
            several["source_file"],
            several["image_id"],
            (f"{r.wnid}, query “{r.query}”" for r in each(several)),
        ),
    )


def _elsewhere(record: Released) -> Finding:
    known = record.search.groupby("image_id")["wnid"].agg(lambda w: sorted(set(w)))
    rows = [
        (name, i, w, known[i])
        for name in NEW
        for i, w in record.final(name).itertuples(index=False)
        if i in known.index and w not in known[i]
    ]
    number = len({i for _, i, _, _ in rows})
    return Finding(
        slug="class-not-searched",
        kind=MISSING if number else SOUND,
        title="Final images whose search results here are of other classes"
        if number
        else "Final images have a search result of their class",
        count=number,
        measured=f"{plural(number, 'image')} of the final sets have search results in this record, but none for the class that they stand for in the set.",
        how="Class in the published list against the classes of all search results with that id.",
        implies="The result that gave the class is in a file that this record lacks."
        if number
        else "Class and search agree.",
        does_not_imply="A mistake in the sets: the record may hold a part of the searches only. What workers were asked about is a check of its own.",
        evidence=evidence(
            (record.list_file(s) for s, *_ in rows),
            (i for _, i, _, _ in rows),
            (f"{w} in the set; found for {listed(found)}" for _, _, w, found in rows),
        ),
    )


def _repeats(search: pd.DataFrame) -> Finding:
    same = search.duplicated(["image_id", "wnid"], keep=False)
    again = search.loc[same]
    more = int(search.duplicated(["image_id", "wnid"]).sum())
    within = int(search.duplicated(["source_file", "image_id", "wnid"]).sum())
    twice = int(search.duplicated(["source_file", "wnid", "query", "image_id"]).sum())
    return Finding(
        slug="repeats",
        kind=NOTED if more else SOUND,
        title="Records that repeat a photograph" if more else "Every record is another photograph",
        count=more,
        measured=f"The {plural(len(search), 'record')} are of {plural(search['image_id'].nunique(), 'photograph')}; {count(more)} repeat a photograph of the same "
        f"class: {count(within)} of them in the same file (found by several synonyms), {count(twice)} in the same query.",
        how="Records by id and class, over all files.",
        implies="Counts of records overstate the pool; counts of ids do not.",
        does_not_imply="That a photograph was shown or drawn twice for it: the released code takes each id once.",
        evidence=evidence(
            again["source_file"],
            again["image_id"],
            (f"record {r.position}: {r.wnid}, query “{r.query}”" for r in each(again)),
        ),
    )


def _sizes(record: Released) -> Finding:
    search = record.search
    lacking = search["width"].isna() | search["height"].isna()
    keys = search["size_key"].where(search["size_key"] != "", "not stated")
    table = pd.DataFrame({"key": keys, "lacking": lacking}).groupby("key")["lacking"].agg(["size", "sum"])
    rows = tuple(
        (str(k), count(r["size"]), count(r["sum"]), percent(r["sum"] / r["size"]))
        for k, r in table.iterrows()
    )
    number = int(lacking.sum())
    part = search.loc[lacking]
    return Finding(
        slug="sizes",
        kind=LIMIT if number else SOUND,
        title="Records without the photograph’s size" if number else "Every record has the photograph’s size",
        count=number,
        measured=f"{plural(number, 'record')} of {count(len(search))} ({percent(number / len(search))}) state no width or height.",
        how="Width and height of each record; by the size of the file that was downloaded.",
        implies="Which photographs were too small or too large, or came in a smaller size than Flickr has, cannot be told for these.",
        does_not_imply="That the images themselves have no size, or a wrong one: the search asks Flickr for the size of the original, which "
        "Flickr does not give for every photograph.",
        evidence=evidence(part["source_file"], part["image_id"], (f"record {p}" for p in part["position"])),
        summaries=(
            Summary(
                "Records by size of the file", ("Size asked for", "Records", "Without size", "Share"), rows
            ),
        ),
    )


def _digests(search: pd.DataFrame) -> Finding:
    made = [
        hashlib.sha1(f"{p}flickr".encode(), usedforsecurity=False).hexdigest() for p in search["photo_id"]
    ]
    wrong = search.loc[search["image_id"] != made]
    return Finding(
        slug="ids-of-photographs",
        kind=INCONSISTENT if len(wrong) else SOUND,
        title="Ids that do not fit their Flickr number" if len(wrong) else "Every id fits its Flickr number",
        count=len(wrong),
        measured=f"{count(len(wrong))} of {plural(len(search), 'record')} have an id that is not the SHA-1 of the Flickr number followed by “flickr”.",
        how="Recomputed for every record, as the released search script makes ids.",
        implies="Such a record may stand for another photograph."
        if len(wrong)
        else "Equal ids mean the same photograph, in every part of the record.",
        does_not_imply="Anything about photographs uploaded to Flickr several times, which have several numbers.",
        evidence=evidence(
            wrong["source_file"], wrong["image_id"], (f"Flickr number {p}" for p in wrong["photo_id"])
        ),
    )


def _ids(record: Released) -> Iterator[tuple[str, str]]:
    """Every id of the record with the file that it is in."""
    files = dict(zip(record.submissions["task_id"], record.submissions["source_file"], strict=True))
    shown = record.tasks[["task_id", "image_id"]].drop_duplicates()
    yield from (
        (files.get(t, "data/mturk"), i) for t, i in zip(shown["task_id"], shown["image_id"], strict=True)
    )
    yield from zip(record.search["source_file"], record.search["image_id"], strict=True)
    yield from ((BLACKLIST_FILE, i) for i in record.blacklist["image_id"])
    yield from ((PAIRS_FILE, i) for i in (*record.pairs["image_id"], *record.pairs["neighbour_id"]))
    yield from ((LOOKED_AT_FILE, i) for i in record.looked_at["image_id"])
    for (name, revision), group in record.revisions.groupby(["set", "revision"]):
        file = record.list_file(str(name), revision=int(str(revision)))
        yield from ((file, i) for i in group["image_id"])


def _damaged(record: Released) -> Finding:
    found = sorted({(file, i) for file, i in _ids(record) if not KNOWN.fullmatch(i)})
    ids = {i for _, i in found}
    words = {w for i in ids for w in re.findall(r"[g-z][a-z]*|[a-z]*[g-z][a-z]*", i) if len(w) > 3}
    replaced = [i for i in ids if "researcher" in i]
    return Finding(
        slug="damaged-ids",
        kind=INCONSISTENT if ids else SOUND,
        title="Ids that are none of the study’s" if ids else "Every id has one of the study’s forms",
        count=len(ids),
        measured=f"{plural(len(ids), 'id')} are neither 40 hexadecimal digits nor the name of an original image"
        + (
            f"; {count(len(replaced))} of them hold the word “researcher” amid their digits."
            if words
            else "."
        ),
        how="Every id in tasks, search results, exclusions, near-duplicates, reviews and lists, by its form.",
        implies="These ids match nothing else in the record, so each stands for a candidate whose exclusion, task or duplicates cannot be joined."
        if ids
        else "Ids can be joined over all parts of the record.",
        does_not_imply="A fault of the release: the word stands for people’s names in this copy of the record, and some names are written with hexadecimal "
        "digits alone, so whoever replaced them will have hit ids too."
        if replaced
        else "That each id is of an existing image.",
        evidence=evidence(
            (f for f, _ in found), (i for _, i in found), (f"{len(i)} characters" for _, i in found)
        )
        if found
        else nothing(),
    )
