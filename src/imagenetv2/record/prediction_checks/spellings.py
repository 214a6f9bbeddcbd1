"""Names that only one list has for a model that only this list lacks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from imagenetv2.record.model_names import alike
from imagenetv2.record.prediction_checks.kinship import agreements, between
from imagenetv2.record.sheets import Sheet


def renamed(sheets: Sequence[Sheet], lists: Sequence[str]) -> list[Sheet]:
    """The sheets with a name that only one list has set to the name that only this list lacks, where they are alike.

    The two names must resemble each other, and so must the file and the model of that name in the other lists.
    """
    done = list(sheets)
    names = {name: {s.model for s in sheets if s.listing == name} for name in lists}
    for name in lists:
        others = [o for o in lists if o != name]
        extra = sorted(m for m in names[name] if not any(m in names[o] for o in others))
        lacking = sorted(set.intersection(*(names[o] for o in others)) - names[name]) if others else []
        for old in extra:
            fitting = [new for new in lacking if alike(old, new)]
            if len(fitting) == 1 and (evidence := _likeness(done, lists, name, old, fitting[0])):
                lacking.remove(fitting[0])
                detail = f"{old}, in other lists {fitting[0]}"
                done = [
                    s.corrected("name of a model differs", detail, evidence, model=fitting[0])
                    if s.listing == name and s.model == old
                    else s
                    for s in done
                ]
    return done


def _likeness(sheets: Sequence[Sheet], lists: Sequence[str], listing: str, old: str, new: str) -> str:
    """Why a file is a model's; empty where it is not, or cannot be told."""
    tried = [replace(s, model=new) if s.listing == listing and s.model == old else s for s in sheets]
    found = agreements(tried, lists)
    if listing not in found or new not in found[listing][0]:
        return f"the names are alike, {new} is missing here and {old} everywhere else"
    nearest = []
    for other in lists:
        if other == listing or other not in found or new not in found[other][0]:
            continue
        table = between(found, listing, other)
        if table is None:
            return f"the names are alike, {new} is missing here and {old} everywhere else"
        place = table[0].index(new)
        own = table[1][place, place]
        usual = float(np.median(np.diag(table[1])))
        if own > 2 * usual and own > table[1][place].min():
            return ""
        nearest.append(f"{own:.3f} in {other}, where the median of models is {usual:.3f}")
    return (
        f"the names are alike, {new} is missing here and {old} everywhere else, and by agreement with all models its "
        f"distance from {new} is {'; '.join(nearest)}"
    )
