"""Stage ``record/files``: what the record holds, and which stage reads it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from imagenetv2.job import Job
from imagenetv2.record import classes, datasets, duplicates, hits, reviews, search
from imagenetv2.record.candidates import BLACKLISTED
from imagenetv2.record.reader import Reader
from imagenetv2.record.source import Source

if TYPE_CHECKING:
    import pandas as pd

READERS = {
    "classes": (classes.INFO, classes.PAGES, classes.NEIGHBOURS, classes.NEGATIVES),
    "search": (f"{search.FOLDER}/",),
    "candidates": (BLACKLISTED,),
    "hits": (f"{hits.FOLDER}/", hits.REFUSED, hits.ADDITIONAL),
    "duplicates": (duplicates.JUDGED, duplicates.LOOKED, duplicates.OVERRIDES),
    "reviews": (f"{reviews.FOLDER}/",),
    "datasets": (f"{datasets.FOLDER}/", datasets.THRESHOLDS),
    "predictions": ("data/predictions/",),
}
"""Files, and folders with a slash at their end, that each part reads."""


def run(job: Job) -> None:
    """Write ``files.parquet``."""
    frame = listed(Reader.of(job).source)
    job.log.info("record/files: %s files, %s bytes", f"{len(frame):,}", f"{frame['bytes'].sum():,}")
    job.out.table("files", frame)


def listed(source: Source) -> pd.DataFrame:
    """Every file with its size and SHA-256, sorted by name."""
    import pandas as pd

    rows = [
        (name, size, hashlib.sha256(source.read(name)).hexdigest(), reader_of(name))
        for name, size in source.sizes.items()
    ]
    return pd.DataFrame(rows, columns=["file", "bytes", "sha256", "read_by"])


def reader_of(name: str) -> str:
    """The stage that reads a file; empty where none does."""
    for part, places in READERS.items():
        if any(name == place or (place.endswith("/") and name.startswith(place)) for place in places):
            return f"record/{part}"
    return ""
