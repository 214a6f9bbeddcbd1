"""Which class is drawn by what, and which classes are taken for each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from imagenetv2.world.rendering import balls, fruit, vehicles, vessels
from imagenetv2.world.rendering.canvas import Layer

Painter = Callable[[Layer, np.random.Generator], None]


@dataclass(frozen=True)
class Kind:
    """How photographs of a class are made.

    Attributes:
        paint: paints the object within [−1, 1]².
        family: its look-alikes.
        places: backgrounds, by name.
        reach: half its largest size, as a share of the height of the photograph.
        floor: where the ground is, in object units.
    """

    paint: Painter
    family: str
    places: tuple[str, ...]
    reach: float = 0.49
    floor: float = 0.8


INDOORS = ("table", "table", "wall", "cloth")
COURT = ("grass", "court", "wall", "grass")
STREET = ("road", "road", "road", "grass")

KINDS: dict[str, Kind] = {
    "n03063599": Kind(vessels.coffee_mug, "vessels", INDOORS),
    "n03950228": Kind(vessels.pitcher, "vessels", INDOORS),
    "n04398044": Kind(vessels.teapot, "vessels", INDOORS),
    "n07742313": Kind(fruit.granny_smith, "fruit", INDOORS),
    "n07747607": Kind(fruit.orange, "fruit", INDOORS),
    "n07749582": Kind(fruit.lemon, "fruit", INDOORS),
    "n02802426": Kind(balls.basketball, "balls", COURT),
    "n04254680": Kind(balls.soccer_ball, "balls", COURT),
    "n04409515": Kind(balls.tennis_ball, "balls", COURT),
    "n03930630": Kind(vehicles.pickup, "vehicles", STREET, 0.6, 0.44),
    "n03770679": Kind(vehicles.minivan, "vehicles", STREET, 0.6, 0.44),
    "n04146614": Kind(vehicles.school_bus, "vehicles", STREET, 0.6, 0.44),
}
"""By WordNet ID."""


def likeness(shown: str, asked: str) -> float:
    """How readily an unclear ``shown`` passes for ``asked``: 0.4 within a family, 0.12 between fruit and balls."""
    a, b = KINDS[shown].family, KINDS[asked].family
    if a == b:
        return 0.4
    return 0.12 if {a, b} == {"fruit", "balls"} else 0.03
