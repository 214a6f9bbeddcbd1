"""The metrics of near-duplicate search: the one place that lists them.

A metric is a module of this room with a function ``run(job)`` that writes ``neighbours.parquet``, an entry here, and
its settings: a section in ``Neighbours`` and a cut-off in ``Cutoffs``, both under the key of the entry.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Metric:
    """What it compares, in the word that is also the name of its module; and its distance in words."""

    name: str
    distance: str


METRICS = {
    "l2": Metric("pixels", "pixels, squared distance"),
    "fc7": Metric("features", "features, squared distance"),
    "ssim": Metric("structure", "(1 − SSIM) / 2"),
}
