"""What near-duplicates mean for each candidate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import pandas as pd

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.flags import IMAGE_FLAGS
from imagenetv2.duplicates.keeping import Counts, Entry, good_counts, order
from imagenetv2.duplicates.overrides import overrides
from imagenetv2.duplicates.reasons import reason
from imagenetv2.duplicates.settings import Duplicates
from imagenetv2.duplicates.wording import ORIGIN_NAMES

COLUMNS = ("image_id", "wnid", "component", "fate", "reason", "place", "flags")


@dataclass(frozen=True)
class Candidates:
    """The pool, as far as near-duplicates go.

    Attributes:
        entries: one an image and class, sorted.
        copies: columns image_id and photo_id: the Flickr photographs of each image.
        originals: split of each image, by image_id, that is in the original data set too.
        unknown: why the neighbours of an image are not known, in words, by image_id; others are absent.
        flags: flags of an image by image_id.
    """

    entries: list[Entry]
    copies: pd.DataFrame
    originals: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    flags: Mapping[str, set[str]] = field(default_factory=dict)


def entries(candidates: pd.DataFrame, frequencies: pd.DataFrame) -> list[Entry]:
    """The candidates with their votes; one that nobody was asked about has none."""
    asked = frequencies[frequencies["origin"] == "candidates"]
    columns = (asked[c].tolist() for c in ("image_id", "wnid", "selected", "shown"))
    votes = {(image, wnid): (selected, shown) for image, wnid, selected, shown in zip(*columns, strict=True)}
    keys = sorted(zip(candidates["image_id"].tolist(), candidates["wnid"].tolist(), strict=True))
    return [Entry(*key, *votes.get(key, (0, 0))) for key in keys]


def fates(pool: Candidates, pairs: pd.DataFrame, settings: Duplicates) -> pd.DataFrame:
    """The table of fates (see ``stages.FATES``) from the pairs with their verdicts.

    Images are connected by pairs with the verdict ``duplicate`` and by a shared Flickr photograph. A component
    with an original image drops all its candidates; of any other one image for one class stays (``keeping``). While a
    pair of any of its images has no verdict, or the neighbours of one are not known, that image is ``unreviewed``: what
    comes out may drop them all, or join them to others. The others of the component wait with it.

    Which images are blacklisted or have too few votes is not looked at here: sampling takes the first in ``place`` that
    may be used.
    """
    of_image: dict[str, list[Entry]] = {}
    for entry in pool.entries:
        of_image.setdefault(entry.image_id, []).append(entry)
    found = components(of_image, edges(pairs, pool.copies, set(of_image)))
    named = overrides(settings.override, found, set(of_image))
    good = settings.good_frequencies
    known = _Known(
        {**_originals(pairs), **pool.originals},
        {**pool.unknown, **_waiting(pairs)},
        _looked_at(pairs),
        good,
        good_counts(pool.entries, good),
    )
    rows: list[tuple[object, ...]] = []
    for members in found:
        inside = [entry for image in members for entry in of_image.get(image, [])]
        large = {"large_component"} if len(members) >= settings.flags.component else set()
        for decision in _decide(members, inside, known, named.get(members[0])):
            given = large | pool.flags.get(decision.entry.image_id, set())
            flags = [name for name in IMAGE_FLAGS if name in given]
            rows.append((decision.entry.image_id, decision.entry.wnid, *decision[1:], flags))
    table = pd.DataFrame(rows, columns=list(COLUMNS))
    return table.sort_values(["image_id", "wnid"], ignore_index=True)


class _Decision(NamedTuple):
    """A row of the table without its flags."""

    entry: Entry
    component: str
    fate: str
    reason: str
    place: int


@dataclass(frozen=True)
class _Known:
    """What is known of images, by image_id; ``open`` says in words what is not."""

    originals: Mapping[str, str]
    open: Mapping[str, str]
    looked_at: Mapping[str, int]
    good: Sequence[float]
    counts: Counts


def _decide(members: list[str], inside: list[Entry], known: _Known, override: str | None) -> list[_Decision]:
    """What becomes of the entries ``inside`` a component of the images ``members``."""
    original = next((image for image in members if image in known.originals), None)
    if original is not None:
        more = "; duplicates.override changes nothing here" if override else ""
        return [
            _Decision(entry, members[0], "dropped", _because(entry.image_id, original, known) + more, -1)
            for entry in inside
        ]
    ordered = order(inside, known.good, known.counts, override) if len(inside) > 1 else inside
    kept, name = ordered[0], members[0] if len(inside) > 1 else ""
    count = known.looked_at.get(kept.image_id, 0)
    if name:
        fate, why = "kept", reason(ordered, known.good, known.counts, override)
    else:
        fate = "free"
        why = f"near neighbours looked at: {count}, none a duplicate" if count else "no near neighbour"
    waits = next((image for image in (kept.image_id, *members) if image in known.open), None)
    if waits is not None:
        fate, why = "unreviewed", known.open[waits]
        why += "" if waits == kept.image_id else f", and {waits} is in its component"
    first = _Decision(kept, name, fate, why, 0)
    stays = "is" if waits is None else "would be"
    why = f"image {kept.image_id} for class {kept.wnid} {stays} kept of its component"
    return [
        first,
        *(_Decision(entry, name, "dropped", why, place) for place, entry in enumerate(ordered[1:], 1)),
    ]


def _because(image: str, original: str, known: _Known) -> str:
    """Why an original image in the component drops a candidate, which may be one itself."""
    if image in known.originals:
        return f"the original data set holds it too ({ORIGIN_NAMES[known.originals[image]]})"
    return f"the original image {original} ({ORIGIN_NAMES[known.originals[original]]}) is in its component"


def _originals(pairs: pd.DataFrame) -> dict[str, str]:
    """Split of each original image in a pair; also of a candidate whose pixels equal an original image's."""
    rows = pairs[pairs["origin"] != "candidates"]
    return dict(zip(rows["neighbour_id"].tolist(), rows["origin"].tolist(), strict=True))


def edges(pairs: pd.DataFrame, copies: pd.DataFrame, pool: set[str]) -> list[tuple[str, str]]:
    """What connects images: verdicts, and photographs that images of the pool share."""
    same = pairs[pairs["verdict"] == "duplicate"]
    found = list(zip(same["image_id"].tolist(), same["neighbour_id"].tolist(), strict=True))
    photographs = sorted(
        (photo, image)
        for photo, image in zip(copies["photo_id"].tolist(), copies["image_id"].tolist(), strict=True)
        if image in pool
    )
    for (photo, image), (following, other) in pairwise(photographs):
        if photo == following:
            found.append((image, other))
    return found


def _both_ways(pairs: pd.DataFrame, verdict: str) -> list[tuple[str, str]]:
    rows = pairs[pairs["verdict"] == verdict].sort_values(["image_id", "neighbour_id"])
    ids = zip(rows["image_id"].tolist(), rows["neighbour_id"].tolist(), strict=True)
    return [pair for one, other in ids for pair in dict.fromkeys([(one, other), (other, one)])]


def _waiting(pairs: pd.DataFrame) -> dict[str, str]:
    """Images in a pair without a verdict, and what is said of the first such pair."""
    found: dict[str, str] = {}
    for one, other in _both_ways(pairs, "unreviewed"):
        found.setdefault(one, f"the pair of images {one} and {other} has no verdict")
    return found


def _looked_at(pairs: pd.DataFrame) -> dict[str, int]:
    """In how many pairs that were judged different an image is."""
    found: dict[str, int] = {}
    for one, _ in _both_ways(pairs, "different"):
        found[one] = found.get(one, 0) + 1
    return found
