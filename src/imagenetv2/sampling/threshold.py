"""Threshold0.7: a random draw from the images at or above a selection frequency."""

from __future__ import annotations

from fractions import Fraction

from imagenetv2.decimals import exact
from imagenetv2.sampling.pool import Chosen, Drawn, Request, choose
from imagenetv2.sampling.settings import Threshold
from imagenetv2.settings import Section


def lowest(settings: Section, wnid: str) -> Fraction | None:
    """The lowest selection frequency of a class."""
    assert isinstance(settings, Threshold)
    return exact(settings.by_class.get(wnid, settings.frequency))


def draw(request: Request) -> Drawn:
    """Carry over eligible images of the previous revision in their order; draw the rest of the eligible ones."""
    eligible = {c.image_id for c in request.eligible}
    carried = [c for c in request.previous if c.image_id in eligible][: request.wanted]
    others = sorted(eligible - {c.image_id for c in carried})
    count = min(request.wanted - len(carried), len(others))
    drawn = [Chosen(i, -1, -1, request.revision, "drawn") for i in choose(request.rng, others, count)]
    return Drawn((*carried, *drawn))
