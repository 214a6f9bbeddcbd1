"""Names of models: which of several a model goes by, and which names may mean the same."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable


def alike(one: str, other: str) -> bool:
    """Whether two names may be spellings of one: the words of one are among the other's, or nearly all letters agree."""
    a, b = (re.findall(r"[a-z]+|\d+", name.lower()) for name in (one, other))
    if not Counter(a) - Counter(b) or not Counter(b) - Counter(a):
        return True
    return difflib.SequenceMatcher(None, "".join(a), "".join(b)).ratio() >= 0.85


def chosen(names: Iterable[str], everywhere: Counter[str]) -> str | None:
    """The name that most of a model's files have; None where two are equally frequent.

    Args:
        names: of its files.
        everywhere: how many lists have each name, which decides between names that are equally frequent.
    """
    counts = Counter(names)
    order = sorted(counts, key=lambda n: (-counts[n], -everywhere[n], len(n), n))
    if len(order) > 1 and (counts[order[0]], everywhere[order[0]]) == (
        counts[order[1]],
        everywhere[order[1]],
    ):
        return None
    return order[0]
