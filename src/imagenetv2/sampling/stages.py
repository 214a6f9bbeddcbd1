"""The sampled sets: one stage a rule."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from imagenetv2.settings import Section
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

RULES = {
    "matched_frequency": "MatchedFrequency",
    "threshold": "Threshold",
    "top_images": "TopImages",
}

IMAGES = Table(
    "images.parquet",
    "The last revision of the set, one row an image.",
    (
        Column("image_id", "string", "the image"),
        Column("wnid", "string", "WordNet ID of its class"),
        Column("class_index", "int64", "class index of its class"),
        Column("shown", "int64", "distinct workers who were shown it"),
        Column("selected", "int64", "how many of them selected it"),
        Column("frequency", "float64", "selected / shown"),
        Column("bin", "int64", "bin it was drawn for, from 0; -1 for rules without bins"),
        Column("own_bin", "int64", "bin of its own frequency, from 0; -1 for rules without bins"),
        Column("entered", "int64", "revision in which it came in, from 0"),
        Column("how", "string", "drawn, taken_upward or ranked"),
    ),
    ("image_id", "wnid"),
)
REVISIONS = Table(
    "revisions.parquet",
    "Every revision on the way, one row an image and revision.",
    (
        Column("revision", "int64", "from 0"),
        Column("wnid", "string", "WordNet ID"),
        Column("image_id", "string", "the image"),
        Column("blacklisted", "bool", "whether the review of this revision objected to it"),
    ),
    ("revision", "wnid", "image_id"),
)
COUNTS = Table(
    "classes.parquet",
    "How each class of the last revision was filled.",
    (
        Column("wnid", "string", "WordNet ID"),
        Column("wanted", "int64", "images wanted"),
        Column("found", "int64", "images found"),
        Column("reviewed", "bool", "whether these images were looked at without objection"),
        Column("eligible", "int64", "candidates of the class that the rule may take"),
        Column("blacklisted", "int64", "candidates not taken since they are blacklisted"),
        Column("few_votes", "int64", "candidates not taken for lack of votes"),
        Column("below_threshold", "int64", "candidates not taken since they are below the threshold"),
        Column("duplicate", "int64", "candidates not taken as near-duplicates"),
        Column("unreviewed", "int64", "candidates not taken since a near neighbour is unreviewed"),
        Column("taken_upward", "int64", "images taken from a higher bin than wanted"),
        Column("missing", "string", "what is missing and why; empty where nothing is"),
    ),
    ("wnid",),
)


def sampling_settings(config: Config, rule: str) -> Mapping[str, Section]:
    """The sections that determine the set of a rule."""
    return {
        "sampling.eligibility": config.sampling.eligibility,
        f"sampling.{rule}": getattr(config.sampling, rule),
    }


def stages(config: Config) -> list[Stage]:
    """``datasets/<rule>``."""
    return [
        Stage(
            f"datasets/{rule}",
            algorithm=2,
            run="imagenetv2.sampling.datasets:run",
            files=(
                IMAGES,
                REVISIONS,
                COUNTS,
                File(
                    "freeze.json",
                    "Whether the set is frozen, its revision and digest, or what stands against it.",
                ),
            ),
            settings=sampling_settings(config, rule),
            reads=("classes", "candidates", "frequencies", "duplicates", f"reviews/{rule}"),
            seed=True,
        )
        for rule in RULES
    ]
