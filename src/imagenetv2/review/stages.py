"""Verdicts as artifacts: what people, or the simulated reviewer, said."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.duplicates.stages import PAIR_VERDICTS, enabled
from imagenetv2.sampling.stages import RULES, sampling_settings
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

IMAGE_VERDICTS = Table(
    "verdicts.parquet",
    "Verdicts on the classes of a set, in the order given.",
    (
        Column("number", "int64", "running number, from 0"),
        Column("round", "int64", "revision that was looked at, from 0"),
        Column("wnid", "string", "class that was looked at"),
        Column("images", "list<string>", "image_ids of the class that were looked at, sorted"),
        Column("blacklisted", "list<string>", "image_ids objected to; empty means no objection"),
        Column("reasons", "list<string>", "a reason for each, in the same order"),
        Column("reviewer", "string", "who said so: a name that the reviewer chose, or simulated"),
    ),
    ("number",),
)


def stages(config: Config) -> list[Stage]:
    """``reviews/pairs`` and ``reviews/<rule>``."""
    people = config.review.reviewer == "people"
    who = "people" if people else "simulated"
    truth = () if people else ("world",)
    neighbours = tuple(f"neighbours/{m}" for m in enabled(config))
    found = [
        Stage(
            "reviews/pairs",
            algorithm=1,
            run=f"imagenetv2.review.{who}:run_pairs",
            files=(PAIR_VERDICTS,),
            settings={"review": config.review, "duplicates.cutoffs": config.duplicates.cutoffs},
            reads=("candidates", "reference", *truth, *neighbours),
        )
    ]
    for rule in RULES:
        found.append(
            Stage(
                f"reviews/{rule}",
                algorithm=1,
                run=f"imagenetv2.review.{who}:run_rule",
                files=(IMAGE_VERDICTS,),
                settings={"review": config.review, **sampling_settings(config, rule)},
                reads=("classes", "candidates", "frequencies", "duplicates", *truth),
                seed=True,
            )
        )
    return found
