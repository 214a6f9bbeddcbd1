"""Distances of all pairs of a labelled set, exactly, by the engines that the search uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from imagenetv2.duplicates.engine import Engine, Indices, Values
from imagenetv2.duplicates.folders import Disk, Entry, Folder
from imagenetv2.duplicates.labelled.cutoffs import Measured
from imagenetv2.duplicates.labelled.labels import Labelled
from imagenetv2.duplicates.nearest.options import Wanted
from imagenetv2.duplicates.recipe import Pictures, recipe
from imagenetv2.pooling import threaded
from imagenetv2.progress import bar

AT_ONCE = 256
"""Pairs that a thread is given at once."""


@dataclass(frozen=True)
class Resources:
    """With how much distances are computed: ``cpu`` or ``cuda``, and threads. It does not change them."""

    device: str
    cores: int


def pictures(labelled: Labelled, folder: Path) -> Folder:
    """The images of a labelled set, in its order."""
    disk = Disk(folder)
    return Folder([Entry(name, disk, name, (str(folder), name)) for name in labelled.names])


def measure(
    labelled: Labelled, images: Folder, wanted: Sequence[Wanted], resources: Resources
) -> tuple[Measured, dict[str, str]]:
    """Distances of all pairs of readable images under each metric, and why the other images could not be read."""
    source = Pictures(len(images), images.pixels, None, resources.cores)
    place = {name: i for i, name in enumerate(images.names)}
    whole, unreadable = labelled, dict[str, str]()
    found: dict[str, Values] = {}
    for one in wanted:
        how = recipe(one.metric)
        how.check(one.section)
        values, reasons = how.values(source, one.section, resources.device)
        if not found:
            unreadable = {images.names[i]: reason for i, reason in sorted(reasons.items())}
            whole = labelled.without(set(unreadable))
        at = np.array([place[name] for name in whole.names], dtype=np.int64)
        engine = how.engine(values, one.section, resources.device)
        found[one.metric] = distances(engine, at[whole.row], at[whole.column], one.metric, resources.cores)
    return Measured(whole, found), unreadable


def distances(engine: Engine, row: Indices, column: Indices, what: str, cores: int = 1) -> Values:
    """Distances of pairs that are sorted by column, then row."""
    pieces = [slice(start, start + AT_ONCE) for start in range(0, len(row), AT_ONCE)]
    parts = [np.empty(0)]
    # Pieces are worked at beside each other instead.
    with threadpool_limits(1, user_api="blas"), bar(f"{what}, pairs", len(row)) as shown:

        def exact(piece: slice) -> Values:
            return engine.exact(row[piece], column[piece], np.full(len(row[piece]), np.inf))

        for part in threaded(exact, pieces, cores):
            parts.append(part)
            shown.update(len(part))
    return np.concatenate(parts)
