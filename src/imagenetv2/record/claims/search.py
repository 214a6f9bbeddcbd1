"""What the paper says of how candidates were found and shown to workers."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from imagenetv2.record.claims.claim import Claim, Missing
from imagenetv2.record.claims.facts import NEW, Facts
from imagenetv2.record.claims.sets import final

POOL = 208_145
SEARCH, TASKS = "record/search", "record/hits"


def claims() -> list[Claim]:
    """All of them, in the order of the page."""
    return [*_candidates(), *_tasks()]


def _candidates() -> list[Claim]:
    where = "collecting candidates"
    return [
        Claim("search/from", where, "First day taken that searches ask for", "2012-07-11", lambda f: _window(f, "taken_from", min), _windows),
        Claim("search/to", where, "Last day taken that searches ask for, at first", "2013-07-11", lambda f: _window(f, "taken_to", min)),
        Claim("search/to-later", where, "Last day taken that searches ask for, later", "2014-07-11", lambda f: _window(f, "taken_to", max)),
        Claim("search/most", where, "Most photographs a class that a search asks for", "200", lambda f: _whole(_records(f)["most"].max(), "what searches ask for"), _most),
        Claim("search/pool", where, "Candidates in the pool", f"{POOL:,}", None, _part),
        Claim("search/neighbours", "near-duplicates", "Nearest neighbours found, of a candidate in one metric", "30", None, _looked_at),
    ]  # fmt: skip


def _tasks() -> list[Claim]:
    where = "Mechanical Turk tasks"
    return [
        Claim("tasks/images", where, "Images of a task, of nearly all", "48", lambda f: _whole(_submissions(f)["images"].mode().max(), "sizes of tasks"), _task_note),
        Claim("tasks/positive", where, "Validation images of the class in a task, at least", "3", lambda f: _fewest(f, "positive")),
        Claim("tasks/negative", where, "Validation images of another class in a task, at least", "3", lambda f: _fewest(f, "negative")),
    ]  # fmt: skip


def _records(facts: Facts) -> pd.DataFrame:
    records = facts.table(SEARCH, "records")
    if records.empty:
        raise Missing("The record holds no search results.")
    return records


def _window(facts: Facts, column: str, pick: Callable[..., str]) -> str:
    records = _records(facts)
    both = records[records["taken_from"].notna() & records["taken_to"].notna()]
    if both.empty:
        raise Missing("No search result states a window.")
    return str(pick(both[column]))


def _windows(facts: Facts) -> str:
    records = _records(facts)
    windows = records["taken_from"].fillna("open") + " to " + records["taken_to"].fillna("open")
    listed = [f"{window}: {n:,}" for window, n in windows.value_counts().sort_index().items()]
    return f"Search results of this record by window asked for: {'; '.join(listed)}."


def _most(facts: Facts) -> str:
    counts = _records(facts)["most"].value_counts().sort_index()
    listed = ", ".join(f"{most:,.0f} ({n:,} results)" for most, n in counts.items())
    above = int((_records(facts)["most"] > 200).sum())
    return f"Asked for in this record: {listed}. So {above:,} of {len(_records(facts)):,} results come from larger searches."


def _part(facts: Facts) -> str:
    known, records = facts.table("record/candidates", "candidates"), _records(facts)
    published: set[str] = set().union(*(set(final(facts, name)["image_id"]) for name in NEW))
    searched = set(records["image_id"])
    return (
        f"This record holds {records['source_file'].nunique()} search files with {len(searched):,} photographs "
        f"({100 * len(searched) / POOL:.1f}% of the pool); with tasks and lists it names {known['image_id'].nunique():,} "
        f"candidates. Of the {len(published):,} images published, its search files hold {len(published & searched):,}."
    )


def _looked_at(facts: Facts) -> str:
    looked = _looked(facts)["references"]
    return (
        f"Neighbours and distances were not released, only what was looked at: {int((looked <= 30).sum()):,} of "
        f"{len(looked):,} reviews list at most 30 neighbours, the longest {int(looked.max())}."
    )


def _looked(facts: Facts) -> pd.DataFrame:
    looked = facts.table("record/duplicates", "looked_at")
    if looked.empty:
        raise Missing("The record holds no reviews of neighbours.")
    return looked


def _submissions(facts: Facts) -> pd.DataFrame:
    return facts.table(TASKS, "submissions")


def _whole(value: float, what: str) -> int:
    """A count. Raises Missing where nothing was counted."""
    if pd.isna(value):
        raise Missing(f"The record does not hold {what}.")
    return int(value)


def _fewest(facts: Facts, column: str) -> int:
    tasks = _submissions(facts)
    return _whole(tasks.loc[tasks["images"] == 48, column].min(), "a task of 48 images")


def _task_note(facts: Facts) -> str:
    counts = _submissions(facts)["images"].value_counts().sort_index()
    return f"Tasks by images: {', '.join(f'{n:,} of {images}' for images, n in counts.items())}."
