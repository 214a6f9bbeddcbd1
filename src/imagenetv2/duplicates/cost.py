"""What a search takes, said before it runs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from imagenetv2.analysis.wording import duration, plural, volume
from imagenetv2.duplicates.calibration import Rates
from imagenetv2.duplicates.recipe import Searches
from imagenetv2.duplicates.search import Plan
from imagenetv2.duplicates.settings import Metric
from imagenetv2.duplicates.stored import IN_MEMORY

DISK = 1e9
"""Bytes a second to and from the disk, assumed for squashed images: written once, and read again where memory can't hold
them."""

PART = ("computed", "bounds", "nearest", "others", "all", "read", "read, at most")
"""Pairs whose distance is computed; seconds for bounds, for the k nearest, for others as far as needed, and for all
pairs; images of which each block reads some: those of which a distance is computed, and all."""


@dataclass(frozen=True)
class Size:
    """What is compared: images, candidates among them, the searches, and bytes of the pictures' files."""

    images: int
    candidates: int
    searches: Sequence[Searches]
    files: int

    @property
    def pairs(self) -> int:
        """Of all searches."""
        return sum(some.pairs for some in self.searches)


@dataclass(frozen=True)
class Work:
    """Bytes that are kept of an image, operations of a distance by its definition, and bytes that may be allocated."""

    width: int
    operations: float
    memory: float


@dataclass(frozen=True)
class Estimate:
    """What a search takes.

    Attributes:
        metric: its key.
        size: what is compared.
        operations: additions and multiplications of all pairs by the definition of the distance.
        read: bytes of pictures.
        again: bytes of squashed images or features that are read more than once.
        disk: bytes that lie in the data folder until the artifact is published.
        memory: bytes that are allocated at most.
        share: of pairs whose distance is expected to be computed; None where nothing was timed.
        seconds: expected for images, bounds, distances and reading again; empty where nothing was timed.
        most: seconds, if no pair could be skipped.
    """

    metric: str
    size: Size
    operations: float
    read: float
    again: float
    disk: float
    memory: float
    share: float | None
    seconds: dict[str, float]
    most: float

    @property
    def expected(self) -> float:
        """Seconds in all."""
        return sum(self.seconds.values())


@dataclass(frozen=True)
class Machine:
    """Bytes of memory that keep files which were read, and threads at once for pictures and for pairs."""

    memory: float
    pictures: int
    pairs: int


def estimate(
    metric: str, size: Size, settings: Metric, plan: Plan, work: Work, machine: Machine, rates: Rates | None
) -> Estimate:
    """From sizes and rates, which are None for what is not worth timing."""
    kept = float(size.images) * work.width
    known = Estimate(
        metric,
        size,
        operations=float(size.pairs) * work.operations,
        read=float(size.files),
        again=0.0,
        disk=kept if kept > IN_MEMORY else 0.0,
        memory=work.memory,
        share=None,
        seconds={},
        most=0.0,
    )
    if rates is None:
        return known
    images = size.images * (rates.decode + rates.prepare / machine.pictures) + known.disk / DISK
    parts = [_part(some, size, settings, plan, machine, rates) for some in size.searches]
    total = {name: sum(part[name] for part in parts) for name in PART}
    # Images are read again where they do not fit.
    large = work.width / DISK if kept > machine.memory else 0.0
    seconds = {
        "images": images,
        "bounds": total["bounds"],
        "distances": total["nearest"] + min(total["others"], total["all"]),
        "reading again": large * total["read"],
    }
    most = images + total["bounds"] + total["nearest"] + total["all"] + large * total["read, at most"]
    return replace(
        known,
        again=seconds["reading again"] * DISK,
        share=total["computed"] / max(size.pairs, 1),
        seconds=seconds,
        most=max(most, sum(seconds.values())),
    )


def _part(
    some: Searches, size: Size, settings: Metric, plan: Plan, machine: Machine, rates: Rates
) -> dict[str, float]:
    """``PART`` of searches of one kind."""
    among, candidates = some.pairs / max(size.candidates, 1), size.candidates / max(some.count, 1)
    share = rates.shares.computed(among, settings.k, settings.within)
    block = min(plan.block, candidates)
    rows, columns = min(plan.tile[0], block), min(plan.tile[1], among)
    nearest = min(settings.k, among) * size.candidates
    read = some.count * math.ceil(candidates / plan.block) * among
    return {
        "computed": share * some.pairs,
        "bounds": _passes(plan, block, among) * some.pairs * rates.bound.each(rows, columns) / machine.pairs,
        "nearest": nearest * rates.distance.each(settings.k, 1) / machine.pairs,
        "others": share * some.pairs * rates.limited.each(rows, columns, share) / machine.pairs,
        "all": some.pairs * rates.distance.each(rows, columns) / machine.pairs,
        "read": read * (1 - (1 - share) ** block),
        "read, at most": read,
    }


def _passes(plan: Plan, block: float, among: float) -> float:
    """How often the bounds of a pair are gone through; a quarter where they were kept."""
    if plan.k == 0:
        return 1.0
    return 1.25 if block * among * 8 <= plan.cache else 2.0


def sentence(found: Estimate, within: bool = False) -> str:
    """The most important of it, for a log; ``within`` one set every pair is there both ways, and said once."""
    size = found.size
    pairs = f"{plural(size.pairs // 2, 'pair')}, each both ways" if within else plural(size.pairs, "pair")
    text = (
        f"{found.metric}: {plural(size.candidates, 'candidate')}, {plural(size.images, 'image')}, {pairs}, "
        f"{found.operations:.1e} operations by definition; reads {volume(found.read)}, keeps {volume(found.disk)} on "
        f"the disk until it is done, up to {volume(found.memory)} of memory"
    )
    if found.share is None:
        return f"{text}; a matter of moments"
    return (
        f"{text}; expected: about {duration(found.expected)}, at most {duration(found.most)} if no pair could be "
        "skipped"
    )


def lines(estimates: Sequence[Estimate]) -> list[str]:
    """A table, one column a metric."""
    rows: dict[str, list[str]] = {"": [e.metric for e in estimates]}
    rows["candidates"] = [f"{e.size.candidates:,}" for e in estimates]
    rows["images"] = [f"{e.size.images:,}" for e in estimates]
    rows["pairs"] = [f"{e.size.pairs:,}" for e in estimates]
    rows["operations, by definition"] = [f"{e.operations:.1e}" for e in estimates]
    rows["read from the disk"] = [volume(e.read) for e in estimates]
    rows["read again"] = [volume(e.again) for e in estimates]
    rows["kept on the disk meanwhile"] = [volume(e.disk) for e in estimates]
    rows["memory, at most"] = [volume(e.memory) for e in estimates]
    for part in ("images", "bounds", "distances", "reading again"):
        rows[f"time: {part}"] = [duration(e.seconds[part]) if e.seconds else "-" for e in estimates]
    rows["distances computed"] = ["-" if e.share is None else percent(e.share) for e in estimates]
    rows["expected, about"] = [duration(e.expected) if e.seconds else "moments" for e in estimates]
    rows["at most, if nothing is skipped"] = [duration(e.most) if e.seconds else "-" for e in estimates]
    widths = [max(len(row[i]) for row in rows.values()) for i in range(len(estimates))]
    first = max(map(len, rows))
    return [
        "  ".join([name.ljust(first), *(cell.rjust(w) for cell, w in zip(row, widths, strict=True))])
        for name, row in rows.items()
    ]


def percent(share: float) -> str:
    """Two digits of a share."""
    return f"{100 * share:.2g} %" if share < 0.995 else "100 %"
