"""The published study, as a scorecard needs it: accuracies of its models and lines through them, by set."""

from __future__ import annotations

import math
from functools import cache

import pandas as pd

from imagenetv2.analysis.sampled_lines import PAPER_OFFSET, PAPER_SLOPE
from imagenetv2.evaluation.names import published
from imagenetv2.evaluation.scorecard.lines import Line
from imagenetv2.evaluation.scorecard.sets import ORIGINAL
from imagenetv2.evaluation.settings import Model

STUDY = {
    ORIGINAL: "original",
    "imagenetv2-matched-frequency": "matched_frequency",
    "imagenetv2-threshold-0.7": "threshold",
    "imagenetv2-top-images": "top_images",
}
"""What the study's table calls the published sets."""
PRINTED = "imagenetv2-matched-frequency"
SOURCE = "64 networks of the study"


@cache
def accuracies(known: str) -> pd.Series[float]:
    """Top-1 of all the study's models on a published set, percent, by the study's name; empty for other sets."""
    name = STUDY.get(known)
    found = {row.name: row.accuracy(name) for row in published.rows()} if name else {}
    return pd.Series(found, dtype="float64")


@cache
def line(known: str | None) -> Line | None:
    """Accuracy on a published new set against that on ImageNet; None where no line is published.

    Fitted on the study's record, of which the paper prints rounded coefficients: at 80 % these are 0.08 points above it.
    """
    name = STUDY.get(known or "", "original")
    if name == "original":
        return None
    x, y = published.points(name)
    sampled = published.line(name)
    left = y - (sampled.slope * x + sampled.offset)
    scatter = math.sqrt(float(left @ left) / (x.size - 2))
    return Line(SOURCE, sampled, float(x.min()), float(x.max()), scatter)


def printed(known: str | None, original: float) -> float | None:
    """What the line as the paper prints it expects of an accuracy on ImageNet, in percent."""
    return PAPER_SLOPE * original + PAPER_OFFSET if known == PRINTED else None


def same(model: Model) -> tuple[str | None, str]:
    """The study's name of these weights, None where it did not have them; and what differs, in words."""
    found = published.known(model)
    if found is None:
        return None, ""
    return found.row.name, "" if found.same_input else "the study's input was another"
