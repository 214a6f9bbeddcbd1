"""TopImages: the images with the highest selection frequency."""

from __future__ import annotations

from fractions import Fraction

from imagenetv2.sampling.pool import Chosen, Drawn, Request


def draw(request: Request) -> Drawn:
    """The best by (frequency, votes, in the previous revision, image_id), all descending."""
    before = {c.image_id: c for c in request.previous}
    # Fractions are slow to compare and few of them differ, so each pair of counts gets its place once.
    exact = {pair: Fraction(*pair) for pair in {(c.selected, c.shown) for c in request.eligible}}
    order = {value: place for place, value in enumerate(sorted(set(exact.values())))}
    places = {pair: order[value] for pair, value in exact.items()}
    ranked = sorted(
        request.eligible,
        key=lambda c: (places[c.selected, c.shown], c.shown, c.image_id in before, c.image_id),
        reverse=True,
    )
    return Drawn(
        tuple(
            before.get(c.image_id, Chosen(c.image_id, -1, -1, request.revision, "ranked"))
            for c in ranked[: request.wanted]
        )
    )
