"""What is odd among lists of images: sizes, predecessors that are missing, images whose class changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from imagenetv2.record.faults import LEFT_OUT, REPORTED, Fault
from imagenetv2.record.lists import ORIGINAL, RULES, THRESHOLDS, ImageList, class_thresholds
from imagenetv2.record.published_sets import published
from imagenetv2.record.reader import short, some, usual, whole
from imagenetv2.record.times import moment


def finals(lists: Sequence[ImageList], named: Iterable[str] = ()) -> set[str]:
    """Names of the lists that were published: the last revision of each rule (see ``published_sets``).

    Args:
        lists: those that can be used.
        named: further names of lists, such as of those that cannot be read.
    """
    last = published([one.name for one in lists] + list(named)).values()
    return {one.name for one in lists if one.name in last}


def all_of(
    lists: Sequence[ImageList],
    wnids: Sequence[str],
    thresholds: Mapping[str, Any] | None,
    folder: str,
    named: Iterable[str] = (),
) -> Iterator[Fault]:
    """Every check, one after the other; ``named`` as for ``finals``."""
    final = finals(lists, named)
    for one in lists:
        yield from amounts(one, wnids)
        yield from statements(one, one.name in final)
        yield from origins(one, lists)
        if one.name in final and thresholds is not None:
            yield from lowered(one, thresholds)
    yield from revisions(lists, folder)
    yield from classes(lists, folder)


def amounts(one: ImageList, wnids: Sequence[str]) -> Iterator[Fault]:
    """Another number of images than wanted, and classes with more or fewer than others."""
    wanted = one.settings.get("target_size")
    target = whole(wanted)
    if wanted is not None and target is None:
        detail = f"target_size is {short(wanted)}, no whole number"
        yield Fault(one.file, one.name, "number malformed", detail, LEFT_OUT, "it says no number of images")
    if target is not None and target != one.listed:
        detail = f"{one.listed:,} listed, {target:,} wanted"
        yield Fault(one.file, one.name, "number of images not the one wanted", detail, REPORTED)
    counts = Counter(wnid for _, wnid in one.images)
    per_class = [counts[w] for w in wnids]
    most = usual(per_class)
    odd = [f"{w} {counts[w]}" for w in wnids if counts[w] != most]
    if odd:
        detail = f"{len(odd):,} of {len(wnids):,} classes have not {most} images: {some(odd)}"
        yield Fault(one.file, one.name, "classes of unequal size", detail, REPORTED)


def statements(one: ImageList, final: bool) -> Iterator[Fault]:
    """What a list says about itself: that it is not valid, when it was drawn, and with which thresholds."""
    valid = one.settings.get("is_valid", True)
    if valid is not True:
        detail = f"is_valid is {short(valid)}{'; it is the last revision of its set' if final else ''}"
        yield Fault(one.file, one.name, "list marked as not valid", detail, REPORTED)
    if moment(one.time) is None:
        yield Fault(one.file, one.name, "date malformed", f"time_string: {short(one.time)}", REPORTED)
    stated = one.settings.get(THRESHOLDS)
    if stated is not None and not isinstance(stated, dict):
        detail = f"{THRESHOLDS} holds {short(stated)}"
        yield Fault(one.file, one.name, "value of another type", detail, LEFT_OUT, "it names no classes")
    elif stated:
        for wnid in sorted(set(stated) - set(class_thresholds(one.settings))):
            detail = f"{THRESHOLDS}: {wnid} {short(stated[wnid])}"
            yield Fault(one.file, one.name, "number malformed", detail, LEFT_OUT, "it is no threshold")


def origins(one: ImageList, lists: Sequence[ImageList]) -> Iterator[Fault]:
    """A list drawn from one that the record lacks, from one of another set, or from a later one."""
    if not one.starting_from:
        return
    found = [other for other in lists if other.name == one.starting_from]
    if not found:
        yield Fault(
            one.file, one.starting_from, "predecessor missing", f"{one.name} was drawn from it", REPORTED
        )
    for other in found:
        if other.set != one.set or other.revision >= one.revision:
            detail = f"{one.name} was drawn from {other.name}"
            yield Fault(one.file, other.name, "predecessor of another line", detail, REPORTED)
        before, after = moment(other.time), moment(one.time)
        if before and after and before > after:
            detail = f"{other.time}; {one.name}, drawn from it, {one.time}"
            yield Fault(one.file, other.name, "predecessor drawn later", detail, REPORTED)


def lowered(one: ImageList, thresholds: Mapping[str, Any]) -> Iterator[Fault]:
    """Classes for which a published list states another threshold than the record's file of them."""
    stated = one.settings.get(THRESHOLDS)
    if isinstance(stated, dict):
        for wnid in sorted(set(stated) | set(thresholds)):
            if stated.get(wnid) != thresholds.get(wnid):
                detail = f"the list says {short(stated.get(wnid))}, the file of thresholds {short(thresholds.get(wnid))}"
                yield Fault(one.file, wnid, "thresholds disagree", detail, REPORTED)


def revisions(lists: Sequence[ImageList], folder: str) -> Iterator[Fault]:
    """Rules without any list, and revisions up to the last one that the record lacks."""
    if not any(one.set == ORIGINAL for one in lists):
        yield Fault(folder, ORIGINAL, "list missing", "no list of original images", REPORTED)
    for rule in RULES.values():
        there = {one.revision for one in lists if one.set == rule}
        if not there:
            yield Fault(folder, rule, "list missing", "no list of this rule", REPORTED)
            continue
        gone = [k for k in range(max(there)) if k not in there]
        if gone:
            detail = f"{len(gone)} of {max(there) + 1} revisions are not there: {_runs(gone)}"
            yield Fault(folder, rule, "revisions missing", detail, REPORTED)


def _runs(numbers: Sequence[int]) -> str:
    """Numbers in order as runs: 0 to 15, 17, 18 to 20."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][1] + 1:
            runs[-1][1] = n
        else:
            runs.append([n, n])
    return ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in runs)


def classes(lists: Sequence[ImageList], folder: str) -> Iterator[Fault]:
    """Images that different lists name under different classes."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for one in lists:
        for image, wnid in one.images:
            found[image].setdefault(wnid, one.name)
    for image, named in sorted((image, named) for image, named in found.items() if len(named) > 1):
        detail = ", ".join(f"{wnid} in {name}" for wnid, name in sorted(named.items()))
        yield Fault(folder, image, "class changes between lists", detail, REPORTED)
