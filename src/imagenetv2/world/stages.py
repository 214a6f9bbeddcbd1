"""The embedded world: everything that the local Flickr holds, the original data set, and the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

PHOTOS = Table(
    "photos.parquet",
    "What the local Flickr holds, one row a photograph.",
    (
        Column("photo_id", "string", "Flickr id, digits"),
        Column("owner_id", "string", "Flickr id of the owner"),
        Column("secret", "string", "hex secret that is part of the photograph's address"),
        Column("title", "string", "title, searched by text queries"),
        Column("tags", "list<string>", "tags, searched by text queries"),
        Column("license", "string", "Flickr licence number"),
        Column("taken", "string", "date and time taken as the camera wrote it, without zone"),
        Column("taken_granularity", "int64", "Flickr's granularity of the date taken: 0, 4, 6 or 8"),
        Column("taken_unknown", "bool", "whether Flickr made the date taken up"),
        Column("uploaded", "int64", "time of upload", "seconds since 1970, UTC"),
        Column("width", "int64", "width of the original", "pixels"),
        Column("height", "int64", "height of the original", "pixels"),
        Column("file", "string", "its file in photos.zip; empty where only the record is left"),
        Column("status", "string", "ok, gone (a placeholder is served) or broken (the file is damaged)"),
    ),
    ("photo_id",),
)
ORIGINALS = Table(
    "originals.parquet",
    "The original data set, one row a photograph.",
    (
        Column("file", "string", "its file in originals.zip"),
        Column("split", "string", "train, val or test"),
        Column("wnid", "string", "WordNet ID of its label"),
    ),
    ("file",),
)
TRUTH = Table(
    "truth.parquet",
    "What is known of each photograph for each class that someone might ask about.",
    (
        Column("file", "string", "file in photos.zip or originals.zip"),
        Column("wnid", "string", "WordNet ID of the class asked about"),
        Column("probability", "float64", "probability that a worker of the pool selects it"),
        Column("judgements", "list<int64>", "recorded votes in order, 1 chose the class; empty where none"),
        Column("scene", "string", "photographs of one scene are near-duplicates; empty where unknown"),
        Column("fault", "string", "why a reviewer would blacklist it for this class; empty for no reason"),
    ),
    ("file", "wnid"),
)


def stages(config: Config) -> list[Stage]:
    """The one stage of this room; none in the real world."""
    if config.world.source == "real":
        return []
    source = config.world.rendered if config.world.source == "rendered" else config.world.folder
    outside = {}
    if config.world.source == "folder":
        folder = config.world.folder
        outside = {
            f"world.folder.{name}": folder.path / getattr(folder, name)
            for name in ("train", "photographs", "votes")
        }
    return [
        Stage(
            "world",
            algorithm=1,
            run=f"imagenetv2.world.{config.world.source}:run",
            files=(
                PHOTOS,
                ORIGINALS,
                TRUTH,
                File("photos.zip", "The photographs' files as Flickr serves them."),
                File("originals.zip", "The original data set's files as it was distributed."),
            ),
            settings={f"world.{config.world.source}": source, "world.people": config.world.people},
            reads=("classes",),
            outside=outside,
            seed=True,
        )
    ]
