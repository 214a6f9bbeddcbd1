"""Which candidates of a class a rule may take. The first failing reason counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Set
from fractions import Fraction

from imagenetv2.sampling.bins import at_least
from imagenetv2.sampling.pool import Candidate, Pool

REASONS = ("blacklisted", "few_votes", "below_threshold", "duplicate", "unreviewed")
"""In the order in which they are tried; also columns of ``classes.parquet``."""
FATES = {"free": "", "kept": "", "dropped": "duplicate", "unreviewed": "unreviewed"}


def reason(candidate: Candidate, blacklist: Set[str], minimum_votes: int, lowest: Fraction | None) -> str:
    """The first of ``REASONS`` against a candidate, or an empty string where it may be taken.

    ``lowest`` is the threshold on its selection frequency, or None for rules without one. Raises KeyError for a
    fate that is not declared.
    """
    if candidate.image_id in blacklist:
        return "blacklisted"
    if candidate.shown < minimum_votes:
        return "few_votes"
    if lowest is not None and not at_least(candidate.selected, candidate.shown, lowest):
        return "below_threshold"
    return FATES[candidate.fate]


def eligible(
    pool: Pool, blacklist: Set[str], minimum_votes: int, lowest: Fraction | None
) -> tuple[tuple[Candidate, ...], Counter[str]]:
    """The candidates that may be taken, by image_id, and how many fail for each reason."""
    reasons = [reason(c, blacklist, minimum_votes, lowest) for c in pool.candidates]
    taken = tuple(c for c, why in zip(pool.candidates, reasons, strict=True) if not why)
    return taken, Counter(why for why in reasons if why)
