"""The metrics of near-duplicate search: the one place that lists them.

A metric with the key KEY is

- a module ``duplicates.KEY.stage``, with ``RECIPE``, a ``recipe.Recipe``, and ``run(job)``, which hands it to ``stage.run``;
- an ``engine.Engine`` for each device, in that module or beside it;
- an entry here, under KEY;
- its settings: a section of class ``settings.Metric`` in ``Neighbours`` and a cut-off in ``Cutoffs``, both under KEY. A field
  ``weights`` of the section is a file outside, and with its content the stage's version changes.

Where ``modes`` knows no cut-off of it, its cut-off has to be stated; where ``wording`` has no words for its distances,
they are given as they are.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Metric:
    """What it compares, its distance in words, and the class that computes it on each kind of device.

    ``partial`` says that an image is compared with some of the others only.
    """

    name: str
    distance: str
    engines: dict[str, str] = field(hash=False)
    partial: bool = False


METRICS = {
    "l2": Metric(
        "pixels",
        "squared distance of pixels",
        {"cpu": "imagenetv2.duplicates.l2.cpu:Engine", "cuda": "imagenetv2.duplicates.l2.cuda:Engine"},
    ),
    "fc7": Metric(
        "features",
        "squared distance of features",
        {"cpu": "imagenetv2.duplicates.fc7.cpu:Engine", "cuda": "imagenetv2.duplicates.fc7.cuda:Engine"},
    ),
    "ssim": Metric(
        "structure",
        "(1 − SSIM) / 2",
        {"cpu": "imagenetv2.duplicates.ssim.cpu:Engine", "cuda": "imagenetv2.duplicates.ssim.cuda:Engine"},
        partial=True,
    ),
}


def engine(metric: str, device: str) -> Any:
    """The engine class of a metric on ``cpu`` or ``cuda``; imported only now."""
    module, name = METRICS[metric].engines[device].split(":")
    return getattr(importlib.import_module(module), name)
