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
    """``reviews/pairs`` and ``reviews/<rule>``.

    What people said depends on nothing but their store; it is an outside input as soon as it is there.
    """
    if config.review.reviewer == "people":
        return [_recorded(config, "pairs", PAIR_VERDICTS, "run_pairs")] + [
            _recorded(config, rule, IMAGE_VERDICTS, "run_rule") for rule in RULES
        ]
    neighbours = tuple(f"neighbours/{m}" for m in enabled(config))
    pairs = Stage(
        "reviews/pairs",
        algorithm=2,
        run="imagenetv2.review.simulated:run_pairs",
        files=(PAIR_VERDICTS,),
        settings={"duplicates.cutoffs": config.duplicates.cutoffs},
        reads=("candidates", "reference", "world", *neighbours),
    )
    return [
        pairs,
        *(
            Stage(
                f"reviews/{rule}",
                algorithm=2,
                run="imagenetv2.review.simulated:run_rule",
                files=(IMAGE_VERDICTS,),
                settings={"review.simulated": config.review.simulated, **sampling_settings(config, rule)},
                reads=("classes", "candidates", "frequencies", "duplicates", "world"),
                seed=True,
            )
            for rule in RULES
        ),
    ]


def _recorded(config: Config, name: str, table: Table, function: str) -> Stage:
    store = config.review.store / f"{name}.jsonl"
    return Stage(
        f"reviews/{name}",
        algorithm=2,
        run=f"imagenetv2.review.people:{function}",
        files=(table,),
        outside={"review.store": store} if store.is_file() else {},
    )
