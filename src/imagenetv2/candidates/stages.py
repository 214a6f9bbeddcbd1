"""The stages that make the candidate pool."""

from __future__ import annotations

from typing import TYPE_CHECKING

from imagenetv2.stages import Stage
from imagenetv2.tables import Column, File, Table

if TYPE_CHECKING:
    from imagenetv2.config import Config

FOUND = Table(
    "photos.parquet",
    "Search results that passed every filter, one row a photograph and class.",
    (
        Column("wnid", "string", "WordNet ID searched for"),
        Column("photo_id", "string", "Flickr id"),
        Column("query", "string", "synonym that found it first"),
        Column("rung", "int64", "rung of the ladder that admitted it, from 0"),
        Column("rank", "int64", "place among the class's results, from 0"),
        Column("owner_id", "string", "Flickr id of the owner, for attribution"),
        Column("license", "string", "Flickr licence number"),
        Column("taken", "string", "date and time taken as Flickr gave it, local time without zone"),
        Column("taken_granularity", "int64", "Flickr's granularity of the date taken"),
        Column("taken_unknown", "bool", "whether Flickr made the date taken up"),
        Column("uploaded", "int64", "time of upload", "seconds since 1970, UTC"),
        Column("width", "int64", "width of the file at url", "pixels", nullable=True),
        Column("height", "int64", "height of the file at url", "pixels", nullable=True),
        Column("url", "string", "address of the file"),
    ),
    ("wnid", "photo_id"),
)
QUERIES = Table(
    "queries.parquet",
    "One row a query and window of upload dates.",
    (
        Column("wnid", "string", "WordNet ID searched for"),
        Column("query", "string", "synonym"),
        Column("uploaded_from", "int64", "start of the window", "seconds since 1970, UTC"),
        Column("uploaded_to", "int64", "end of the window", "seconds since 1970, UTC"),
        Column("total", "int64", "results that Flickr claims"),
        Column("pages", "int64", "pages fetched"),
        Column("returned", "int64", "records returned"),
        Column("malformed", "int64", "records that could not be read, dropped"),
        Column("unique", "int64", "distinct photographs returned"),
        Column("outside_window", "int64", "photographs outside the dates and licences asked for, dropped"),
        Column("kept", "int64", "photographs admitted to the class by this query"),
    ),
    ("wnid", "query", "uploaded_from"),
)
CANDIDATES = Table(
    "candidates.parquet",
    "The candidate pool, one row an image and class.",
    (
        Column("image_id", "string", "16 hex digits of a SHA-256 over the canonical pixels"),
        Column("wnid", "string", "WordNet ID it is a candidate for"),
        Column("class_index", "int64", "class index of that class"),
        Column(
            "photo_id", "string", "Flickr id; of several photographs with these pixels, the earliest upload"
        ),
        Column("query", "string", "synonym that found it"),
        Column("rung", "int64", "rung of the ladder, from 0"),
        Column("owner_id", "string", "Flickr id of the owner, for attribution"),
        Column("license", "string", "Flickr licence number"),
        Column("uploaded", "int64", "time of upload", "seconds since 1970, UTC"),
        Column("file", "string", "its picture in images.zip"),
        Column("source_sha256", "string", "SHA-256 of the downloaded file"),
        Column("source_format", "string", "container found by its first bytes: JPEG, PNG, …"),
        Column("exif_orientation", "int64", "orientation that was applied; 1 where none", "EXIF code"),
        Column("width", "int64", "width of the canonical image", "pixels"),
        Column("height", "int64", "height of the canonical image", "pixels"),
        Column(
            "spread", "float64", "standard deviation of the grey levels; small for flat images", "grey levels"
        ),
    ),
    ("image_id", "wnid"),
)
COPIES = Table(
    "copies.parquet",
    "Which photographs have an image's pixels: more than one for re-uploads.",
    (
        Column("image_id", "string", "the image"),
        Column("photo_id", "string", "Flickr id"),
    ),
    ("image_id", "photo_id"),
)
DOWNLOADS = Table(
    "downloads.parquet",
    "What became of each photograph found, one row a photograph.",
    (
        Column("photo_id", "string", "Flickr id"),
        Column("url", "string", "address asked for"),
        Column("state", "string", "fetched, unavailable, gone or failed"),
        Column("http_status", "int64", "last HTTP status; none where no answer came", nullable=True),
        Column("content_type", "string", "content type that the host claims", nullable=True),
        Column("bytes", "int64", "size of the file", "bytes", nullable=True),
        Column("source_sha256", "string", "SHA-256 of the file", nullable=True),
        Column(
            "stored_width", "int64", "width in the file, before orientation and reduction", "pixels", True
        ),
        Column("stored_height", "int64", "height in the file", "pixels", True),
        Column("exif_warnings", "int64", "warnings about damaged EXIF data", nullable=True),
    ),
    ("photo_id",),
)
REJECTED = Table(
    "rejected.parquet",
    "Photographs found but not in the pool.",
    (
        Column("photo_id", "string", "Flickr id"),
        Column("url", "string", "address asked for"),
        Column("reason", "string", "unavailable, gone, undecodable, too_small or failed"),
        Column("detail", "string", "what was found"),
    ),
    ("photo_id",),
)


def stages(config: Config) -> list[Stage]:
    """``search`` and ``candidates``."""
    embedded = config.world.source != "real"
    return [
        Stage(
            "search",
            algorithm=1,
            run="imagenetv2.candidates.search:run",
            files=(FOUND, QUERIES, File("responses.jsonl.gz", "Flickr's answers, one JSON object a line.")),
            settings={"search": config.search},
            reads=("classes", "world") if embedded else ("classes",),
            service=True,
        ),
        Stage(
            "candidates",
            algorithm=1,
            run="imagenetv2.candidates.download:run",
            files=(
                CANDIDATES,
                COPIES,
                DOWNLOADS,
                REJECTED,
                File("images.zip", "Canonical images as PNG, one folder a WordNet ID."),
            ),
            settings={"candidates": config.candidates, "images": config.images, "search": config.search},
            reads=("classes", "search", "world") if embedded else ("classes", "search"),
            service=True,
        ),
    ]
