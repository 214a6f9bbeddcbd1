"""Which lists of a record are the sets that its models are compared on."""

from __future__ import annotations

from collections.abc import Mapping, Set

from imagenetv2.record.lists import ORIGINAL, identified

ENOUGH = 0.9
"""Share of the models that a published revision has predictions of: revisions on the way were tried on fewer."""


def published(models: Mapping[str, int], invalid: Set[str] = frozenset()) -> dict[str, str]:
    """List of each set: of a rule the highest valid revision that nearly all models have predictions for.

    Args:
        models: how many models have predictions, by name of the list.
        invalid: lists that their authors marked as not valid.
    """
    most = max(models.values(), default=0)
    found: dict[str, tuple[tuple[bool, bool, int, int], str]] = {}
    for name, count in sorted(models.items()):
        if not count or (which := identified(name)) is None:
            continue
        rank = (count >= ENOUGH * most, name not in invalid, which[1], count)
        found[which[0]] = max(found.get(which[0], (rank, name)), (rank, name))
    return {name: best[1] for name, best in found.items()}


def revision(name: str) -> tuple[str, int] | None:
    """Rule and revision of a list of new images; None for any other."""
    which = identified(name)
    return None if which is None or which[0] == ORIGINAL else which
