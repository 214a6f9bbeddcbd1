"""An explanation as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from imagenetv2.duplicates.flags import IMAGE_FLAGS, PAIR_FLAGS
from imagenetv2.duplicates.wording import ORIGIN_NAMES, distance

VERDICTS = {"": "", "unreviewed": "no verdict"}
LABEL = 13


def text(facts: dict[str, Any], count: int) -> str:
    """Everything about an image; of each list of neighbours those below the cut-off and the first ``count``."""
    lines = [f"image {facts['image_id']}"]
    for label, part in (
        ("where from", where_from(facts)),
        ("fate", fate(facts)),
        ("component", component(facts)),
        ("sets", sets(facts)),
        ("pairs", pairs(facts)),
    ):
        lines += _labelled(label, part)
    for metric, found in facts["neighbours"].items():
        lines += ["", *neighbours(metric, found, count)]
    if facts["missing"]:
        lines += ["", *(f"! {sentence}" for sentence in facts["missing"])]
    return "\n".join(lines)


def _labelled(label: str, lines: Iterator[str]) -> list[str]:
    return [f"  {label if i == 0 else '':{LABEL}} {line}".rstrip() for i, line in enumerate(lines)]


def where_from(facts: dict[str, Any]) -> Iterator[str]:
    """Classes, photographs, votes; files of an original image."""
    for row in facts["reference"]:
        yield (
            f"{ORIGIN_NAMES[row['split']]} image of {named(row)}: {row['source_file']}, {row['width']} × {row['height']} pixels"
        )
    for row in facts["candidate"]:
        day = datetime.fromtimestamp(row["uploaded"], UTC).date()
        yield (
            f"candidate for {named(row)}: Flickr photograph {row['photo_id']} of owner {row['owner_id']}, uploaded {day}, "
            f"licence {row['license']}, found by {row['query']!r}"
        )
        yield f"  {row['width']} × {row['height']} pixels, {row['source_format']}; {votes(row)}"
    others = sorted(set(facts["photographs"]) - {row["photo_id"] for row in facts["candidate"]})
    if others:
        yield f"the same pixels were also uploaded as {', '.join(others)}"


def named(row: dict[str, Any]) -> str:
    """A class by id and words."""
    return f"{row['wnid']} ({row['words']})" if row["words"] else str(row["wnid"])


def votes(row: dict[str, Any]) -> str:
    """How many workers selected it."""
    if row["shown"] is None:
        return "no votes"
    share = f" ({row['selected'] / row['shown']:.2f})" if row["shown"] else ""
    return f"selected by {row['selected']} of {row['shown']} workers{share}"


def fate(facts: dict[str, Any]) -> Iterator[str]:
    """One line a class."""
    if not facts["candidate"]:
        yield "an original image; it is never sampled"
        return
    for row in facts["fates"] or ():
        yield f"{row['fate']} for {row['wnid']}: {row['reason']}"
        for flag in row["flags"]:
            yield f"  look again: {IMAGE_FLAGS.get(flag, flag)}"


def component(facts: dict[str, Any]) -> Iterator[str]:
    """Members in the order in which they would be kept, and what joins them."""
    found = facts["component"]
    if found is None:
        if facts["fates"] is not None:
            yield "none: no duplicate, no second class and no second photograph"
        return
    yield f"{found['name']}, {found['images']} image{'s' if found['images'] > 1 else ''}"
    for member in found["members"]:
        mark = ">" if member["image_id"] == facts["image_id"] else " "
        origin = (
            f"{ORIGIN_NAMES[member['origin']]} image" if member["origin"] != "candidates" else member["fate"]
        )
        counts = f", {member['selected']}/{member['shown']}" if member["shown"] is not None else ""
        why = f": {member['reason']}" if member["reason"] else ""
        yield f"{mark} {member['image_id']} {member['wnid']} {origin}{counts}{why}"
    for edge in found["edges"]:
        yield f"  {edge['image_id']} = {edge['other']} ({edge['by']})"


def sets(facts: dict[str, Any]) -> Iterator[str]:
    """In which sets it is, and since when, or why not."""
    for row in facts["sets"]:
        yield f"{row['name']}, {row['wnid']}: {membership(row)}"


def membership(row: dict[str, Any]) -> str:
    """Whether and how an image is in the set of a rule."""
    if row["in"]:
        return f"in the set, {row['how'].replace('_', ' ')}, since revision {row['entered']}"
    if row["blacklisted_in"] is not None:
        return f"not in the set: a reviewer objected to it in revision {row['blacklisted_in']}"
    before = f"; it was in revision {', '.join(map(str, row['revisions']))}" if row["revisions"] else ""
    return f"not in the set{': ' if row['why'] else ''}{row['why']}{before}"


def pairs(facts: dict[str, Any]) -> Iterator[str]:
    """Pairs that were looked at."""
    if facts["pairs"] is None:
        return
    if not facts["pairs"]:
        yield "none is at or below a cut-off"
    for row in facts["pairs"]:
        whom = other(row)
        if row["image_id"] == facts["image_id"]:
            whom = f"itself as an original image ({ORIGIN_NAMES[row['origin']]}, {', '.join(row['wnids'])})"
        yield f"with {whom}: {said(row)}, at or below the cut-off of {', '.join(row['found_by'])}"
        for flag in row["flags"]:
            yield f"  look again: {PAIR_FLAGS.get(flag, flag)}"


def other(row: dict[str, Any]) -> str:
    """The other image of a pair, or a neighbour."""
    return f"{row['image_id']} ({ORIGIN_NAMES[row['origin']]}, {', '.join(row['wnids'])})"


def said(row: dict[str, Any]) -> str:
    """The verdict on a pair, by whom and when."""
    if row["verdict"] == "unreviewed":
        return "no verdict yet"
    by = ", ".join(part for part in (row["reviewer"], row["time"]) if part)
    return f"{row['verdict']}" + (f" ({by})" if by else "") + (f", “{row['note']}”" if row["note"] else "")


def neighbours(name: str, found: dict[str, Any], count: int) -> Iterator[str]:
    """The list under one metric."""
    head = f"{name}: {found['distance']}, cut-off {distance(found['cutoff'])}"
    if found["list"] is None:
        yield f"{head}; not searched yet"
        return
    if not found["list"] and not found["listed_by"]:
        yield f"{head}; no neighbours"
        return
    yield head
    yield from (_row(row, f"{row['rank'] + 1:>4}") for row in shown(found["list"], count))
    rest = len(found["list"]) - len(shown(found["list"], count))
    if rest:
        yield f"       and {rest} farther"
    yield from _listed_by(found, count)


def _listed_by(found: dict[str, Any], count: int) -> Iterator[str]:
    """Candidates that list it; only how many where none of them is to be shown."""
    near, every = shown(found["listed_by"], count), len(found["listed_by"])
    whom = " that it does not list itself" if found["list"] else ""
    if near:
        yield f"  listed by candidates{whom}"
        yield from (_row(row, f"{row['rank'] + 1:>4}") for row in near)
        if every > len(near):
            yield f"       and {every - len(near)} farther"
    elif every:
        yield f"       listed by {every} candidate{'s' if every > 1 else ''}{whom}, farther"


def shown(rows: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Those below the cut-off, and the first ones."""
    return [row for i, row in enumerate(rows) if i < count or row["below"]]


def _row(row: dict[str, Any], rank: str) -> str:
    below, verdict = "*" if row["below"] else " ", VERDICTS.get(row["verdict"], row["verdict"])
    return f"{rank} {distance(row['distance']):>14} {below} {other(row)}  {verdict}".rstrip()
