"""Flickr's record of a photograph: ids, title, tags, dates, licence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from imagenetv2.world.rendering.chance import between, happens, pick

WINDOW = (datetime(2012, 7, 11, tzinfo=UTC), datetime(2013, 7, 12, tzinfo=UTC))
"""The default search window: first moment inside, first moment after."""
LICENCES = tuple(str(n) for n in (*range(11), 0, 0, 0, 1, 2, 4, 5))
NASTY_SECRETS = ("6e12345678", "0012345678", "1234567890", "0e00000000", "000000000e", "12e4567890")
"""Hex strings that a careless reader of tables takes for numbers."""
TITLES = (
    "{}", "{} no. 2", "My {}", "The {}, again", "{} at home", "Sunday with a {}", "{} & friends", "“{}” (detail)",
    "{} – été", "old {}", "another {}", "{} <3", "day 112: {}",
)  # fmt: skip
NAMELESS = ("IMG_{:04d}", "DSC{:05d}", "P10{:05d}", "untitled {}")
EXTRA_TAGS = (
    "canon",
    "nikon",
    "50mm",
    "2012",
    "project365",
    "home",
    "summer",
    "flickr",
    "macro",
    "bokeh",
    "iphone",
)


@dataclass(frozen=True)
class Dates:
    """When a photograph was taken and uploaded, as Flickr keeps it."""

    taken: str
    granularity: int
    unknown: bool
    uploaded: int


def _stamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%d %H:%M:%S")


def _moment(rng: np.random.Generator, start: datetime, end: datetime) -> datetime:
    return start + timedelta(seconds=int(rng.integers(0, int((end - start).total_seconds()))))


def dates_inside(rng: np.random.Generator) -> Dates:
    """Taken and uploaded within the window; for some the day taken is unknown, coarse or after the upload."""
    start, end = WINDOW
    uploaded = _moment(rng, start + timedelta(days=1), end - timedelta(days=1))
    seconds = int(uploaded.timestamp())
    kind = float(rng.random())
    if kind < 0.08:
        return Dates(_stamp(uploaded), 0, True, seconds)
    taken = max(uploaded - timedelta(seconds=int(rng.integers(60, 40 * 86400))), start + timedelta(hours=12))
    if kind < 0.11 and (first := taken.replace(day=1, hour=0, minute=0, second=0)) >= start:
        return Dates(_stamp(first), 4, False, seconds)
    if kind < 0.14:
        # A camera clock that runs ahead, or in another zone.
        return Dates(_stamp(uploaded + timedelta(hours=int(rng.integers(1, 12)))), 0, False, seconds)
    return Dates(_stamp(taken), 0, False, seconds)


def dates_outside(rng: np.random.Generator) -> Dates:
    """Uploaded before or after the window, or uploaded within it but taken years before."""
    start, end = WINDOW
    kind = int(rng.integers(3))
    if kind == 0:
        uploaded = _moment(rng, datetime(2009, 1, 1, tzinfo=UTC), start - timedelta(days=1))
    elif kind == 1:
        uploaded = _moment(rng, end + timedelta(days=1), datetime(2014, 7, 1, tzinfo=UTC))
    else:
        uploaded = _moment(rng, start + timedelta(days=1), end - timedelta(days=1))
        scanned = _moment(rng, datetime(2004, 1, 1, tzinfo=UTC), datetime(2011, 12, 31, tzinfo=UTC))
        return Dates(_stamp(scanned), int(pick(rng, (0, 4, 6, 8))), False, int(uploaded.timestamp()))
    taken = uploaded - timedelta(seconds=int(rng.integers(60, 10 * 86400)))
    return Dates(_stamp(taken), 0, False, int(uploaded.timestamp()))


def owner(rng: np.random.Generator) -> str:
    """An owner's id, such as 12345678@N05."""
    return f"{int(rng.integers(1_000_000, 99_999_999))}@N0{int(rng.integers(0, 9))}"


def secret(rng: np.random.Generator, number: int) -> str:
    """Ten hex digits; the first photographs get those that look like numbers."""
    if number < len(NASTY_SECRETS):
        return NASTY_SECRETS[number]
    return "".join("0123456789abcdef"[int(d)] for d in rng.integers(0, 16, 10))


def words(rng: np.random.Generator, lemmas: Sequence[Sequence[str]]) -> tuple[str, list[str]]:
    """Title and tags by which a photograph is found.

    ``lemmas`` holds the synonyms of each class it is to be found for; one synonym of each is in the title or the
    tags, and often a second.
    """
    tags = [str(t) for t in rng.permutation(EXTRA_TAGS)[: int(rng.integers(0, 4))]]
    title = pick(rng, NAMELESS).format(int(rng.integers(1, 9999)))
    for number, synonyms in enumerate(lemmas):
        chosen = pick(rng, synonyms)
        if number == 0 and happens(rng, 0.6):
            title = pick(rng, TITLES).format(chosen)
        else:
            tags.append(chosen)
        others = [s for s in synonyms if s != chosen]
        if others and happens(rng, 0.4):
            tags.append(pick(rng, others))
    return title, tags


def photo_ids(rng: np.random.Generator, uploaded: Sequence[int]) -> list[str]:
    """An id for each photograph, distinct; later uploads have larger ones, as on Flickr."""
    order = sorted(range(len(uploaded)), key=lambda i: (uploaded[i], i))
    ids = [""] * len(uploaded)
    number = 7_550_000_000
    for i in order:
        number += 1 + int(between(rng, 0, 90_000))
        ids[i] = str(number)
    return ids
