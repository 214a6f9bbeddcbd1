"""The original benchmark's stages: classes and reference images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

CLASSES = Table(
    "classes.parquet",
    "One row a class, in the order of the class index.",
    (
        Column("class_index", "int64", "position of the class in a model's output"),
        Column("wnid", "string", "WordNet ID"),
        Column("lemmas", "list<string>", "synonyms of the synset, each a search query"),
        Column("definition", "string", "the synset's definition, shown to workers"),
        Column("wikipedia", "list<string>", "addresses of Wikipedia pages shown to workers"),
        Column("hypernyms", "list<string>", "WordNet IDs on the way up, nearest first"),
        Column("neighbours", "list<string>", "WordNet IDs of the nearest classes, nearest first"),
    ),
    ("class_index",),
)
REFERENCE = Table(
    "reference.parquet",
    "The original data set, one row an image and class folder; exact copies within a folder are one row.",
    (
        Column("image_id", "string", "16 hex digits of a SHA-256 over the canonical pixels"),
        Column("split", "string", "train, val or test"),
        Column("wnid", "string", "WordNet ID of its label"),
        Column("class_index", "int64", "class index of its label"),
        Column("file", "string", "its picture in images.zip"),
        Column("source_file", "string", "the file it was read from"),
        Column("source_sha256", "string", "SHA-256 of that file"),
        Column("source_format", "string", "container found by its first bytes: JPEG, PNG, …"),
        Column("width", "int64", "width of the canonical image", "pixels"),
        Column("height", "int64", "height of the canonical image", "pixels"),
        Column(
            "spread", "float64", "standard deviation of the grey levels; small for flat images", "grey levels"
        ),
    ),
    ("image_id", "split", "wnid"),
)
REFERENCE_REJECTED = Table(
    "rejected.parquet",
    "Files of the original data set that are no images.",
    (
        Column("source_file", "string", "the file"),
        Column("reason", "string", "one word"),
        Column("detail", "string", "what was found"),
    ),
    ("source_file",),
)


def stages(config: Config) -> list[Stage]:
    """``classes`` and ``reference``."""
    outside: dict[str, Path] = {}
    if not config.classes.table.startswith("timm:"):
        outside["classes.table"] = Path(config.classes.table)
    if config.classes.is_a is not None:
        outside["classes.is_a"] = config.classes.is_a
    real = config.world.source == "real"
    return [
        Stage(
            "classes",
            algorithm=1,
            run="imagenetv2.benchmark.classes:run",
            files=(CLASSES,),
            settings={"classes": config.classes},
            outside=outside,
        ),
        Stage(
            "reference",
            algorithm=1,
            run="imagenetv2.benchmark.reference:run",
            files=(
                REFERENCE,
                REFERENCE_REJECTED,
                File("images.zip", "Canonical images as PNG, one folder a WordNet ID."),
            ),
            settings={
                "classes": config.classes,
                "images": config.images,
                "reference": config.reference,
            },
            reads=("classes",) if real else ("classes", "world"),
            outside={"reference.path": config.reference.path} if real and config.reference.path else {},
        ),
    ]
