"""The page of ``imagenetv2 nearest``: the nearest pairs side by side, and how near the nearest are."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile
from typing import Any

import numpy as np
import numpy.typing as npt

from imagenetv2.analysis.figures.style import PALETTE
from imagenetv2.analysis.pictures import uri
from imagenetv2.analysis.wording import plural
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.nearest.find import Found
from imagenetv2.duplicates.nearest.options import Wanted
from imagenetv2.duplicates.nearest.sets import Sets, nearest_pairs
from imagenetv2.duplicates.wording import also, distance, scale_name, scaled
from imagenetv2.images import Pixels, encode_jpeg, encode_png, within
from imagenetv2.templates import environment

LONGEST = 320
"""Pixels of the longest side of a picture on a page."""
TINY = 64
"""Pictures up to this size are shown with their pixels as squares."""
BARS = 48
WIDTH, HEIGHT = 760, 150
UNREADABLE = 20
"""So many unreadable files are listed."""


def page(sets: Sets, wanted: Wanted, found: Found, count: int, facts: Sequence[tuple[str, str]]) -> str:
    """The page with ``count`` pairs; ``facts`` are labels and values of its head."""
    pairs = nearest_pairs(found.pairs, sets.references is None, count)
    below = shared(sets.names)
    shown = [
        _pair(sets, wanted, int(row), int(column), float(far), len(below))
        for row, column, far in zip(pairs.row, pairs.column, pairs.distance, strict=True)
    ]
    broken = [(sets.names[i], reason) for i, reason in sorted(found.unreadable.items())]
    template = environment("imagenetv2.duplicates").get_template("nearest.html.j2")
    return template.render(
        palette=PALETTE,
        metric=METRICS[wanted.metric].distance,
        lead=lead(sets, wanted, found),
        tiles=facts,
        chart=chart(wanted, found.pairs.distance[found.pairs.ranks() == 0]),
        heading=f"The {len(shown)} nearest pairs" if len(shown) > 1 else "The nearest pair",
        scale=_scale(wanted),
        pairs=shown,
        below=below,
        unreadable=broken[:UNREADABLE],
        unreadable_more=max(0, len(broken) - UNREADABLE),
    )


def lead(sets: Sets, wanted: Wanted, found: Found) -> str:
    """What was compared with what, in a sentence."""
    rows, columns = found.compared
    name, side = METRICS[wanted.metric].distance, wanted.side
    verb = "was" if rows == 1 else "were"
    if sets.references is not None:
        what = f"{plural(rows, 'picture')} {verb} compared with {plural(columns, 'other')}"
    elif rows == 1:
        return "There is 1 picture, and no other to compare it with."
    else:
        what = f"{plural(rows, 'picture')} were compared with each other"
    return (
        f"{what}, squashed to {side} × {side} pixels, by {name}. Distances are exact and no pair was missed: "
        "a pair was left out only where a bound proves that it is not among those kept."
    )


def _scale(wanted: Wanted) -> str:
    if wanted.cutoff is None:
        return ""
    return f"Framed pairs are at or below {distance(wanted.cutoff)}."


def shared(names: Sequence[str]) -> str:
    """The folder that all names begin with, with its slash; empty where there is none."""
    if not names:
        return ""
    first, last = (name.split("/")[:-1] for name in (min(names), max(names)))
    same = takewhile(lambda parts: parts[0] == parts[1], zip(first, last, strict=False))
    return "".join(f"{part}/" for part, _ in same)


def _pair(sets: Sets, wanted: Wanted, row: int, column: int, far: float, skip: int) -> dict[str, Any]:
    left, right = sets.pixels(row), sets.pixels(column)
    return {
        "left": address(left),
        "right": address(right),
        "tiny": [max(pixels.shape[:2]) <= TINY for pixels in (left, right)],
        "names": [sets.names[row][skip:], sets.names[column][skip:]],
        "distance": distance(far),
        "also": also(wanted.metric, wanted.side, far),
        "near": wanted.cutoff is not None and far <= wanted.cutoff,
    }


def address(pixels: Pixels) -> str:
    """A picture as a data address: exactly where it is tiny, else as a JPEG."""
    tiny = max(pixels.shape[:2]) <= TINY
    data = encode_png(pixels) if tiny else encode_jpeg(within(pixels, LONGEST))
    return uri(data, f"image/{'png' if tiny else 'jpeg'}")


def chart(wanted: Wanted, nearest: npt.NDArray[np.float64]) -> dict[str, Any] | None:
    """Bars: of how many candidates the nearest neighbour is so far away; None where there are too few."""
    if len(nearest) < 10:
        return None
    side = wanted.side
    values = scaled(wanted.metric, side, nearest)
    top = float(values.max()) or 1.0
    counts, edges = np.histogram(values, bins=BARS, range=(0.0, top))
    cutoff = (
        -1.0 if wanted.cutoff is None else float(scaled(wanted.metric, side, np.array([wanted.cutoff]))[0])
    )
    step, highest = WIDTH / BARS, counts.max()
    bars = [
        {
            "x": round(i * step + 1, 2),
            "y": round(HEIGHT - (HEIGHT * count / highest), 2),
            "width": round(step - 2, 2),
            "height": round(HEIGHT * count / highest, 2),
            "near": edges[i + 1] <= cutoff,
            "title": f"{edges[i]:.3g} to {edges[i + 1]:.3g}: {count:,}",
        }
        for i, count in enumerate(counts.tolist())
        if count
    ]
    ticks = [f"{top * part / 4:.3g}" for part in range(5)]
    under = (
        ""
        if wanted.cutoff is None
        else f"; {int((nearest <= wanted.cutoff).sum()):,} are at or below the cut-off"
    )
    return {
        "width": WIDTH, "height": HEIGHT, "bars": bars, "ticks": ticks, "axis": scale_name(wanted.metric),
        "label": f"Distance of the nearest neighbour of each of {len(nearest):,} pictures{under}.",
    }  # fmt: skip
