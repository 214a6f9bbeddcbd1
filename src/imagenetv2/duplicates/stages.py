"""The stages of near-duplicate detection, and the form of verdicts on pairs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

NEIGHBOURS = Table(
    "neighbours.parquet",
    "Nearest neighbours of each candidate, one row a candidate and rank. A candidate is no neighbour of "
    "itself; one with the pixels of an original image has that image at distance 0, under the id that both have.",
    (
        Column("image_id", "string", "the candidate"),
        Column("rank", "int64", "0 is nearest; equal distances are ordered by neighbour_id"),
        Column("neighbour_id", "string", "image_id of the neighbour"),
        Column("origin", "string", "train, val, test or candidates: where the neighbour comes from"),
        Column("distance", "float64", "under this metric; an exact integer for l2"),
    ),
    ("image_id", "rank"),
)
UNREADABLE = Table(
    "unreadable.parquet",
    "Images that could not be decoded; they take no part.",
    (
        Column("image_id", "string", "the image"),
        Column("origin", "string", "train, val, test or candidates"),
        Column("reason", "string", "what was found instead"),
    ),
    ("image_id",),
)
SEARCHED = File(
    "searched.json",
    "What was compared: images, pairs, and of how many pairs the distance was computed; the others are proven not "
    "to be among those kept. How many are computed may differ between CPU and GPU under fc7 and ssim, whose bounds are "
    "rounded differently there.",
)
PAIRS = Table(
    "pairs.parquet",
    "Pairs at or below a cut-off, one row a pair. A candidate with the pixels of an original image is paired with itself.",
    (
        Column("image_id", "string", "the candidate"),
        Column("neighbour_id", "string", "the other image; of two candidates, the one with the larger id"),
        Column("origin", "string", "train, val, test or candidates: where the other comes from"),
        *(
            Column(metric, "float64", "distance; missing where it was not among the nearest", nullable=True)
            for metric in METRICS
        ),
        Column("found_by", "list<string>", "metrics whose cut-off it is at or below"),
        Column("verdict", "string", "duplicate, different or unreviewed"),
        Column(
            "reviewer",
            "string",
            "who said so; empty while unreviewed, and for an image paired with itself, whose pixels say it",
        ),
        Column(
            "time", "string", "when, UTC as ISO 8601; empty where reviewer is, and for the simulated reviewer"
        ),
        Column("note", "string", "what the reviewer noted; of an image paired with itself: the same pixels"),
        Column("flags", "list<string>", "flat, disagree: why a second look is worth while"),
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
        Column(
            "place",
            "int64",
            "order in which the component's images would be kept, from 0: the next one is, where all before it "
            "are blacklisted or have too few votes; -1 where none can be",
        ),
        Column("flags", "list<string>", "flat, large_component, truncated: why a second look is worth while"),
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
        Column("time", "string", "when, UTC as ISO 8601; empty for the simulated reviewer"),
        Column("note", "string", "why"),
    ),
    ("number",),
)


def enabled(config: Config) -> list[str]:
    """Names of the metrics in use."""
    return [m for m in METRICS if getattr(config.neighbours, m).enabled]


def stages(config: Config) -> list[Stage]:
    """``neighbours/<metric>`` and ``duplicates``."""
    metrics = [_search(config, metric) for metric in enabled(config)]
    return [
        *metrics,
        Stage(
            "duplicates",
            algorithm=2,
            run="imagenetv2.duplicates.resolution:run",
            files=(PAIRS, FATES),
            settings={
                "duplicates": config.duplicates,
                **{f"neighbours.{metric}": getattr(config.neighbours, metric) for metric in enabled(config)},
            },
            reads=("reference", "candidates", "frequencies", "reviews/pairs", *(s.name for s in metrics)),
        ),
    ]


def _search(config: Config, metric: str) -> Stage:
    section = getattr(config.neighbours, metric)
    weights = getattr(section, "weights", None)
    return Stage(
        f"neighbours/{metric}",
        algorithm=2,
        run=f"imagenetv2.duplicates.{metric}.stage:run",
        files=(NEIGHBOURS, UNREADABLE, SEARCHED),
        settings={f"neighbours.{metric}": section, "neighbours.search": config.neighbours.search},
        reads=("classes", "reference", "candidates"),
        outside={f"neighbours.{metric}.weights": weights} if weights else {},
    )
