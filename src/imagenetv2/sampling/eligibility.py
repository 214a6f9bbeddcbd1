"""Which candidates of a class a rule may take. The first failing reason counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from fractions import Fraction

from imagenetv2.sampling.bins import at_least
from imagenetv2.sampling.pool import Candidate, Pool
from imagenetv2.sampling.staying import Component

REASONS = ("blacklisted", "few_votes", "below_threshold", "duplicate", "unreviewed")
"""In the order in which they are tried; also columns of ``classes.parquet``."""
FATES = {"free": "", "kept": "", "dropped": "duplicate", "unreviewed": "unreviewed"}


@dataclass(frozen=True)
class Demands:
    """What a candidate must fulfil.

    Attributes:
        blacklist: image_ids that are never taken.
        minimum_votes: votes it must have.
        lowest: the threshold on its selection frequency; None for rules without one.
        components: near-duplicates of which at most one is taken, by name.
    """

    blacklist: Set[str]
    minimum_votes: int
    lowest: Fraction | None
    components: Mapping[str, Component] = field(default_factory=dict)


def reason(candidate: Candidate, wnid: str, demands: Demands) -> str:
    """The first of ``REASONS`` against a candidate for a class, or an empty string where it may be taken.

    Raises KeyError for a fate that is not declared.
    """
    if candidate.image_id in demands.blacklist:
        return "blacklisted"
    if candidate.shown < demands.minimum_votes:
        return "few_votes"
    if demands.lowest is not None and not at_least(candidate.selected, candidate.shown, demands.lowest):
        return "below_threshold"
    component = demands.components.get(candidate.component)
    if component is None:
        return FATES[candidate.fate]
    return FATES[component.fate(candidate.image_id, wnid, demands.blacklist)]


def eligible(pool: Pool, demands: Demands) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """The candidates that may be taken, by image_id, and how many fail for each reason."""
    reasons = [reason(c, pool.wnid, demands) for c in pool.candidates]
    taken = tuple(c for c, why in zip(pool.candidates, reasons, strict=True) if not why)
    return taken, Counter(why for why in reasons if why)
