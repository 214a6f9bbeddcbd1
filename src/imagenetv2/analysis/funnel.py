"""How many images each stage kept and dropped, and why."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from imagenetv2.analysis.sources import Sources, annotated
from imagenetv2.sampling.stages import RULES

REJECTIONS = {
    "unavailable": "a placeholder instead of the photograph",
    "gone": "the photograph is no longer there",
    "undecodable": "the file is not a whole image",
    "too_small": "too small",
    "failed": "download failed",
}
INELIGIBLE = {
    "blacklisted": "blacklisted by the review",
    "few_votes": "too few votes",
    "below_threshold": "below the threshold",
    "duplicate": "near-duplicates",
    "unreviewed": "a near neighbour is not reviewed yet",
}
FATES = {
    "dropped": "near-duplicates, dropped",
    "unreviewed": "with a near neighbour not reviewed yet",
}


@dataclass(frozen=True)
class Row:
    """A row of the funnel: see ``stages.FUNNEL``."""

    stage: str
    step: str
    unit: str
    count: int
    dropped: bool
    table: str


def funnel(sources: Sources, minimum_votes: int) -> pd.DataFrame:
    """The table of the funnel, in the order of the pipeline; drops of nothing are left out.

    Args:
        sources: all tables of the run.
        minimum_votes: votes that an image must have to be taken.
    """
    rows = [
        *_search(sources),
        *_candidates(sources),
        *_annotation(sources, minimum_votes),
        *_duplicates(sources),
        *(row for rule in RULES for row in _rule(sources, rule)),
    ]
    kept = [row for row in rows if row.count or not row.dropped]
    table = pd.DataFrame([vars(row) for row in kept])
    table.insert(0, "order", range(len(table)))
    return table


def _search(sources: Sources) -> Iterator[Row]:
    queries, table = sources.queries, "search/queries.parquet"
    returned, malformed, unique, outside = (
        int(queries[column].sum()) for column in ("returned", "malformed", "unique", "outside_window")
    )
    admitted = len(sources.found)
    yield Row("search", "records returned by Flickr", "record", returned, False, table)
    yield Row("search", "records that could not be read", "record", malformed, True, table)
    repeats = returned - malformed - unique
    yield Row("search", "repeats within a query", "record", repeats, True, table)
    yield Row("search", "outside the dates or licences asked for", "record", outside, True, table)
    why = "found by another query, or more than wanted"
    yield Row("search", why, "record", unique - outside - admitted, True, table)
    yield Row("search", "photographs admitted to a class", "record", admitted, False, "search/photos.parquet")


def _candidates(sources: Sources) -> Iterator[Row]:
    candidates, table = sources.candidates, "candidates/candidates.parquet"
    photographs = sources.found["photo_id"].nunique()
    found = "search/photos.parquet"
    yield Row("candidates", "distinct photographs to download", "photograph", photographs, False, found)
    for reason, count in sources.rejected["reason"].value_counts().sort_index().items():
        why = REJECTIONS.get(str(reason), str(reason))
        yield Row("candidates", why, "photograph", int(count), True, "candidates/rejected.parquet")
    copies = len(sources.copies) - sources.copies["image_id"].nunique()
    why = "exact copies of another photograph"
    yield Row("candidates", why, "photograph", copies, True, "candidates/copies.parquet")
    distinct = candidates["image_id"].nunique()
    yield Row("candidates", "distinct images in the pool", "image", distinct, False, table)
    yield Row("candidates", "candidates: an image and a class", "image", len(candidates), False, table)


def _annotation(sources: Sources, minimum_votes: int) -> Iterator[Row]:
    frequencies, table = sources.frequencies, "frequencies/frequencies.parquet"
    tasks = sources.tasks["task_id"].nunique()
    answers, votes = len(sources.assignments), int(frequencies["shown"].sum())
    yield Row("hits", "tasks for workers", "task", tasks, False, "hits/tasks.parquet")
    yield Row(
        "assignments", "answers by workers", "answer", answers, False, "assignments/assignments.parquet"
    )
    yield Row("frequencies", "votes, one a worker and image", "vote", votes, False, table)
    asked = frequencies[frequencies["origin"] == "candidates"]
    enough = int((asked["shown"] >= minimum_votes).sum())
    few = len(sources.candidates) - enough
    yield Row("frequencies", f"candidates with fewer than {minimum_votes} votes", "image", few, True, table)
    yield Row("frequencies", f"candidates with {minimum_votes} votes or more", "image", enough, False, table)
    originals = len(annotated(frequencies, minimum_votes))
    yield Row("frequencies", "validation images to be matched against", "image", originals, False, table)


def _duplicates(sources: Sources) -> Iterator[Row]:
    pairs, fates = sources.pairs, sources.fates["fate"].value_counts()
    listed = "duplicates/pairs.parquet"
    yield Row("duplicates", "pairs at or below a cut-off", "pair", len(pairs), False, listed)
    same = int((pairs["verdict"] == "duplicate").sum())
    yield Row("duplicates", "of these, near-duplicates", "pair", same, False, listed)
    table = "duplicates/fates.parquet"
    for fate, step in FATES.items():
        yield Row("duplicates", step, "image", int(fates.get(fate, 0)), True, table)
    left = int(fates.get("free", 0)) + int(fates.get("kept", 0))
    yield Row("duplicates", "candidates free of near-duplicates", "image", left, False, table)


def _rule(sources: Sources, rule: str) -> Iterator[Row]:
    counts, stage = sources.counts[rule], f"datasets/{rule}"
    table = f"{stage}/classes.parquet"
    for reason, step in INELIGIBLE.items():
        yield Row(stage, step, "image", int(counts[reason].sum()), True, table)
    eligible, found = int(counts["eligible"].sum()), len(sources.images[rule])
    yield Row(stage, "eligible candidates", "image", eligible, False, table)
    yield Row(stage, "eligible, not drawn", "image", max(0, eligible - found), True, table)
    yield Row(stage, "images in the frozen set", "image", found, False, f"{stage}/images.parquet")
