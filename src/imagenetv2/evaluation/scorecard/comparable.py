"""What may be set beside what: accuracies beside published ones, two sets beside one another, a set beside a line."""

from __future__ import annotations

from typing import Literal

import numpy as np

from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.settings import Mode
from imagenetv2.testsets.testset import TestSet

YES: Literal["yes"] = "yes"
NO: Literal["no"] = "no"
UNPUBLISHED: Literal["unpublished set"] = "unpublished set"


def verdict(of: TestSet, mode: Mode) -> tuple[str, str]:
    """One of ``YES``, ``NO`` and ``UNPUBLISHED``, and the reasons in words.

    A set that is not a copy of a published one is UNPUBLISHED where nothing is missing: there is no published number
    to set its accuracy beside, but it is what it says.
    """
    reasons = list(of.remarks)
    if mode != "reference":
        reasons.append(f"computed in {mode}, not in mode reference")
    if reasons:
        return NO, "; ".join(reason.rstrip(".") for reason in reasons)
    return (YES, "") if of.known is not None else (UNPUBLISHED, "")


def same_classes(one: TestSet, other: TestSet) -> bool:
    """Whether a model chooses between the same classes on both, and both have images of the same ones."""
    return np.array_equal(one.classes, other.classes) and np.array_equal(
        np.unique(one.labels), np.unique(other.labels)
    )


def no_line(original: Opened, new: Opened) -> str:
    """Why the published lines say nothing of a pair of sets, whatever the model; empty where they may."""
    unknown = [of.title for of in (original, new) if of.set.known is None and not of.set.remarks]
    if unknown:
        return (
            f"{' and '.join(unknown)} not recognised as published; if it is, give the archive or name the folder as the "
            "set, such as imagenetv2-matched-frequency"
        )
    if not (original.whole and new.whole):
        return "part of a set: the published lines are of whole sets"
    return ""
