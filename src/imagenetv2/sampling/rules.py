"""The table of sampling rules: a new rule is a file, an entry here and one in ``stages.RULES``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from imagenetv2.sampling import matched_frequency, threshold, top_images
from imagenetv2.sampling.pool import Drawn, Request
from imagenetv2.sampling.settings import MatchedFrequency, Threshold, TopImages
from imagenetv2.settings import Section


def _none(settings: Section, wnid: str) -> Fraction | None:
    return None


@dataclass(frozen=True)
class Rule:
    """How a rule draws a class, its section of the configuration, and its threshold of a class, if any."""

    draw: Callable[[Request], Drawn]
    settings: type[Section]
    lowest: Callable[[Section, str], Fraction | None] = _none


RULES = {
    "matched_frequency": Rule(matched_frequency.draw, MatchedFrequency),
    "threshold": Rule(threshold.draw, Threshold, threshold.lowest),
    "top_images": Rule(top_images.draw, TopImages),
}
