"""In which sets an image ended, or why it is in none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from imagenetv2.sampling.stages import RULES

if TYPE_CHECKING:
    from imagenetv2.duplicates.explain.study import Study

WHY = {
    "blacklisted": "blacklisted",
    "few_votes": "it has fewer votes than an image must have",
    "below_threshold": "its selection frequency is below the threshold",
    "duplicate": "it is a near-duplicate of an image that stays, or of an original one",
    "unreviewed": "a near neighbour has not been looked at",
    "": "it may be taken, and was not drawn",
}
"""In words, by the reasons of ``sampling.eligibility``."""


def memberships(study: Study, image: str, wnids: list[str]) -> list[dict[str, Any]]:
    """One entry a rule and class: whether the image is in the set, and how or why not; rules not made yet are out."""
    found = []
    for rule, name in RULES.items():
        stage = f"datasets/{rule}"
        images, revisions = study.table(stage, "images"), study.table(stage, "revisions")
        if images is None or revisions is None:
            continue
        for wnid in wnids:
            chosen = images[(images["image_id"] == image) & (images["wnid"] == wnid)]
            history = revisions[(revisions["image_id"] == image) & (revisions["wnid"] == wnid)]
            about = {"rule": rule, "name": name, "wnid": wnid, "in": not chosen.empty, **_history(history)}
            if not chosen.empty:
                row = chosen.iloc[0]
                about |= {
                    "how": str(row["how"]),
                    "entered": int(row["entered"]),
                    "bin": int(row["bin"]),
                    "why": "",
                }
            else:
                about |= {"how": "", "entered": None, "bin": None}
                about["why"] = reason(study, rule, wnid, image, revisions)
            found.append(about)
    return found


def _history(history: pd.DataFrame) -> dict[str, Any]:
    refused = history[history["blacklisted"]]
    return {
        "revisions": sorted(history["revision"].tolist()),
        "blacklisted_in": int(refused["revision"].iloc[0]) if len(refused) else None,
    }


def reason(study: Study, rule: str, wnid: str, image: str, revisions: pd.DataFrame) -> str:
    """Why the last revision does not hold a candidate of a class, in words; empty where it can't be told yet."""
    from imagenetv2.sampling.eligibility import Demands
    from imagenetv2.sampling.eligibility import reason as first_reason
    from imagenetv2.sampling.rules import RULES as SAMPLING

    plan = study.sampling(rule)
    if plan is None:
        return ""
    blacklist = set(plan.eligibility.blacklist) | set(revisions.loc[revisions["blacklisted"], "image_id"])
    lowest = SAMPLING[rule].lowest(plan.settings, wnid)
    demands = Demands(blacklist, plan.eligibility.minimum_votes, lowest, plan.components)
    candidate = next(c for c in plan.pools[wnid].candidates if c.image_id == image)
    return WHY[first_reason(candidate, wnid, demands)]
