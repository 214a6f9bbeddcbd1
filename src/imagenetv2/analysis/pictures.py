"""Pictures of a run as data URIs, small enough for a page."""

from __future__ import annotations

import base64

import pandas as pd

from imagenetv2 import archive
from imagenetv2.artifacts import Artifact
from imagenetv2.images import encode_jpeg, within

QUALITY = 82


def uri(data: bytes, kind: str = "image/jpeg") -> str:
    """A data URI."""
    return f"data:{kind};base64,{base64.b64encode(data).decode('ascii')}"


class Album:
    """Pictures of the candidates and the original data set by image_id."""

    def __init__(self, reference: Artifact, candidates: Artifact, tables: dict[str, pd.DataFrame]) -> None:
        self._archives = {
            "reference": archive.Reader(reference.path("images.zip")),
            "candidates": archive.Reader(candidates.path("images.zip")),
        }
        self._files = {
            origin: table.drop_duplicates("image_id").set_index("image_id")["file"].to_dict()
            for origin, table in tables.items()
        }
        self._made: dict[tuple[str, str, int], str] = {}

    def picture(self, origin: str, image_id: str, side: int) -> str:
        """A JPEG as data URI, its longest side at most ``side`` pixels; ``origin``: reference or candidates."""
        key = (origin, image_id, side)
        if key not in self._made:
            pixels = self._archives[origin].pixels(self._files[origin][image_id])
            self._made[key] = uri(encode_jpeg(within(pixels, side), QUALITY))
        return self._made[key]

    def close(self) -> None:
        """Close the archives."""
        for reader in self._archives.values():
            reader.close()
