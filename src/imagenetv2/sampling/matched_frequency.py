"""MatchedFrequency: the histogram of the class's validation images, filled with candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from imagenetv2.decimals import exact
from imagenetv2.sampling.bins import bin_of, histogram, interval, scale
from imagenetv2.sampling.pool import Chosen, Drawn, Request, choose
from imagenetv2.sampling.settings import MatchedFrequency


def draw(request: Request) -> Drawn:
    """Fill the bins from low to high, then each missing image from the nearest higher bin that has any left.

    Images of the previous revision stay in the bin they were drawn for, as long as they are eligible and not
    below it; of too many a random subset stays. Never takes an image for a bin above its own.
    """
    settings = request.settings
    assert isinstance(settings, MatchedFrequency)
    if len(request.validation) < settings.minimum_validation:
        return Drawn(
            (),
            f"{len(request.validation)} annotated validation images have enough votes and "
            f"{settings.minimum_validation} are needed (sampling.matched_frequency.minimum_validation)",
        )
    edges = [exact(e) for e in settings.edges]
    targets = scale(histogram(request.validation, edges), request.wanted)
    votes = {(c.selected, c.shown) for c in request.eligible}
    bins = {(selected, shown): bin_of(selected, shown, edges) for selected, shown in votes}
    own = {c.image_id: bins[c.selected, c.shown] for c in request.eligible}
    filled = [_stay(request, own, b, target) for b, target in enumerate(targets)]
    taken = {c.image_id for images in filled for c in images}
    left = [[i for i, o in own.items() if o == b and i not in taken] for b in range(len(targets))]
    for b, target in enumerate(targets):
        drawn = choose(request.rng, left[b], min(target - len(filled[b]), len(left[b])))
        left[b] = [i for i in left[b] if i not in set(drawn)]
        filled[b] += [Chosen(i, b, b, request.revision, "drawn") for i in drawn]
    before = {c.image_id for c in request.previous}
    for b, target in enumerate(targets):
        for image in _upward(request.rng, left, before, b, target - len(filled[b])):
            filled[b].append(Chosen(image, b, own[image], request.revision, "taken_upward"))
    return Drawn(tuple(c for images in filled for c in images), _why(filled, targets, edges))


def _stay(request: Request, own: dict[str, int], b: int, target: int) -> list[Chosen]:
    """Images of the previous revision that stay in bin ``b``, at most ``target``, in their order."""
    images = [c for c in request.previous if c.bin == b and own.get(c.image_id, -1) >= b]
    if len(images) <= target:
        return images
    staying = set(choose(request.rng, [c.image_id for c in images], target))
    return [c for c in images if c.image_id in staying]


def _upward(
    rng: np.random.Generator, left: list[list[str]], before: set[str], b: int, missing: int
) -> list[str]:
    """Take up to ``missing`` images out of ``left`` above bin ``b``: nearest bin first, then previous images."""
    found: list[str] = []
    for higher in range(b + 1, len(left)):
        for old in (True, False):
            among = [i for i in left[higher] if (i in before) is old]
            found += choose(rng, among, min(missing - len(found), len(among)))
        left[higher] = [i for i in left[higher] if i not in set(found)]
    return found


def _why(filled: Sequence[list[Chosen]], targets: Sequence[int], edges: Sequence[Fraction]) -> str:
    short = [(b, t - len(f)) for b, (f, t) in enumerate(zip(filled, targets, strict=True)) if len(f) < t]
    lacking = ", ".join(f"{count} for frequencies {interval(b, edges)}" for b, count in short)
    return f"{lacking} and no higher bin has any left" if short else ""
