"""Cut-offs that a search does not reach."""

from __future__ import annotations

from imagenetv2.duplicates.settings import Cutoffs, Neighbours


def unsearched(cutoffs: Cutoffs, neighbours: Neighbours) -> list[str]:
    """A sentence for each metric in use whose search keeps only pairs within less than its cut-off.

    Where the k nearest are kept as well, the pairs are as many as there may be; ``flags`` marks the lists that end below
    the cut-off.
    """
    wrong = []
    for metric, cutoff in cutoffs.model_dump().items():
        section = getattr(neighbours, metric)
        if section.enabled and section.k == 0 and section.within < cutoff:
            wrong.append(
                f"duplicates.cutoffs.{metric}: {cutoff:g} is more than neighbours.{metric}.within "
                f"({section.within:g}), so pairs in between are not searched for; raise that, lower the cut-off, or set "
                f"neighbours.{metric}.k"
            )
    return wrong
