"""The photographs that the local Flickr holds, as its search and its file server see them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

SIZES = {"sq": "s", "t": "t", "s": "m", "n": "n", "m": "", "z": "z", "c": "c", "l": "b", "h": "h", "k": "k"}
"""Flickr's size names in ``extras`` (``url_l``), and the letter at the end of the file's name."""
LONGEST = {
    "sq": 75,
    "t": 100,
    "s": 240,
    "n": 320,
    "m": 500,
    "z": 640,
    "c": 800,
    "l": 1024,
    "h": 1600,
    "k": 2048,
}
"""Longest side of each size in pixels; a size exists where the original is larger, ``m`` always."""


@dataclass(frozen=True)
class Photograph:
    """A row of the world's photos.parquet."""

    photo_id: str
    owner_id: str
    secret: str
    title: str
    tags: tuple[str, ...]
    license: str
    taken: str
    taken_granularity: int
    taken_unknown: bool
    uploaded: int
    width: int
    height: int
    file: str
    status: str

    @cached_property
    def words(self) -> frozenset[str]:
        """Words of title and tags, which text queries look at."""
        return frozenset(words(" ".join((self.title, *self.tags))))

    @cached_property
    def clean_tags(self) -> frozenset[str]:
        """Tags as Flickr normalises them."""
        return frozenset(clean_tag(tag) for tag in self.tags)

    @cached_property
    def interest(self) -> int:
        """A stand-in for Flickr's interestingness: arbitrary, always the same."""
        return int.from_bytes(hashlib.sha256(self.photo_id.encode()).digest()[:8], "big")

    @property
    def original_format(self) -> str:
        """Extension of the original: jpg, png or gif."""
        suffix = PurePath(self.file).suffix.lower().removeprefix(".")
        return suffix if suffix in ("png", "gif") else "jpg"

    def path(self, size: str) -> str | None:
        """Path on the file server of a size (``o`` is the original); None where that size doesn't exist."""
        stem = f"/65535/{self.photo_id}_{self.secret}"
        if size == "o":
            return f"{stem}_o.{self.original_format}"
        if size not in SIZES or (size != "m" and max(self.width, self.height) <= LONGEST[size]):
            return None
        letter = SIZES[size]
        return f"{stem}_{letter}.jpg" if letter else f"{stem}.jpg"

    def extent(self, size: str) -> tuple[int, int]:
        """Width and height of a size in pixels."""
        if size == "sq":
            return LONGEST[size], LONGEST[size]
        scale = 1.0 if size == "o" else min(1.0, LONGEST[size] / max(self.width, self.height))
        return max(1, round(self.width * scale)), max(1, round(self.height * scale))


def words(text: str) -> list[str]:
    """Lower-case words of a text, in order."""
    return re.findall(r"\w+", text.lower())


def clean_tag(tag: str) -> str:
    """A tag without case, spaces and punctuation."""
    return "".join(words(tag)).replace("_", "")


def photographs(table: pd.DataFrame) -> list[Photograph]:
    """All photographs, in the order of the table."""
    names = [f.name for f in fields(Photograph)]
    return [
        Photograph(
            **{
                **{name: row[name] for name in names},
                "tags": tuple(map(str, row["tags"])),
                "file": row["file"] if isinstance(row["file"], str) else "",
            }
        )
        for row in table.to_dict("records")
    ]
