"""The stages of near-duplicate detection, and the form of verdicts on pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

NEIGHBOURS = Table(
    "neighbours.parquet",
    "Nearest neighbours of each candidate, one row a candidate and rank; never itself.",
    (
        Column("image_id", "string", "the candidate"),
        Column("rank", "int64", "0 is nearest; equal distances are ordered by neighbour_id"),
        Column("neighbour_id", "string", "image_id of the neighbour"),
        Column("origin", "string", "train, val, test or candidates: where the neighbour comes from"),
        Column("distance", "float64", "under this metric; an exact integer for l2"),
    ),
    ("image_id", "rank"),
)
PAIRS = Table(
    "pairs.parquet",
    "Pairs below a cut-off, one row a pair.",
    (
        Column("image_id", "string", "the candidate"),
        Column("neighbour_id", "string", "the other image; of two candidates, the one with the larger id"),
        Column("origin", "string", "train, val, test or candidates: where the other comes from"),
        *(
            Column(metric, "float64", "distance; missing where it was not among the nearest", nullable=True)
            for metric in METRICS
        ),
        Column("found_by", "list<string>", "metrics whose cut-off it is below"),
        Column("verdict", "string", "duplicate, different or unreviewed"),
        Column("reviewer", "string", "who said so; empty while unreviewed"),
    ),
    ("image_id", "neighbour_id"),
)
FATES = Table(
    "fates.parquet",
    "What near-duplicates mean for each candidate, one row an image and class.",
    (
        Column("image_id", "string", "the candidate"),
        Column("wnid", "string", "WordNet ID it is a candidate for"),
        Column(
            "component", "string", "smallest image_id of its connected component; empty where it is alone"
        ),
        Column("fate", "string", "free, kept, dropped or unreviewed"),
        Column("reason", "string", "why, in words"),
    ),
    ("image_id", "wnid"),
)
PAIR_VERDICTS = Table(
    "verdicts.parquet",
    "Verdicts on pairs of images, in the order given; of several on one pair the last counts.",
    (
        Column("number", "int64", "running number, from 0"),
        Column("image_id", "string", "the candidate"),
        Column("neighbour_id", "string", "the other image"),
        Column("verdict", "string", "duplicate or different"),
        Column("reviewer", "string", "who said so: a name that the reviewer chose, or simulated"),
        Column("note", "string", "why"),
    ),
    ("number",),
)


def enabled(config: Config) -> list[str]:
    """Names of the metrics in use."""
    return [m for m in METRICS if getattr(config.neighbours, m).enabled]


def stages(config: Config) -> list[Stage]:
    """``neighbours/<metric>`` and ``duplicates``."""
    metrics = [
        Stage(
            f"neighbours/{metric}",
            algorithm=1,
            run=f"imagenetv2.duplicates.{METRICS[metric].name}:run",
            files=(NEIGHBOURS,),
            settings={f"neighbours.{metric}": getattr(config.neighbours, metric)},
            reads=("classes", "reference", "candidates"),
            outside={"neighbours.fc7.weights": config.neighbours.fc7.weights}
            if metric == "fc7" and config.neighbours.fc7.weights
            else {},
        )
        for metric in enabled(config)
    ]
    return [
        *metrics,
        Stage(
            "duplicates",
            algorithm=1,
            run="imagenetv2.duplicates.resolution:run",
            files=(PAIRS, FATES),
            settings={"duplicates": config.duplicates},
            reads=("candidates", "frequencies", "reviews/pairs", *(s.name for s in metrics)),
        ),
    ]
