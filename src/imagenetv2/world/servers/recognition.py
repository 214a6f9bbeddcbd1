"""Recognising photographs: which one of the world's a picture shows, by its looks alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from imagenetv2.archive import Reader
from imagenetv2.artifacts import Artifact
from imagenetv2.benchmark.settings import Images
from imagenetv2.images import Pixels, UndecodableImageError, decode, squash

SIDE = 16
"""Pictures are compared as thumbnails of SIDE × SIDE pixels."""
UNLIKE = 24.0
"""Root mean square difference in grey levels from which on a picture is none of the photographs."""
CANONICAL, RAW = Images(mode="canonical"), Images(mode="raw")

Vectors = npt.NDArray[np.float64]
"""Thumbnails as rows of SIDE · SIDE · 3 whole numbers from 0 to 255."""


def thumbnail(pixels: Pixels) -> npt.NDArray[np.uint8]:
    """One thumbnail, flat."""
    return squash(pixels, SIDE).reshape(-1)


def look(data: bytes) -> npt.NDArray[np.uint8]:
    """The thumbnail of a file. Raises UndecodableImageError where no browser would show it whole."""
    return thumbnail(decode(data, CANONICAL).pixels)


class Gallery:
    """The photographs that people may be shown.

    Args:
        files: name of each photograph; of equal ones, the first is recognised.
        thumbnails: one row each, see ``thumbnail``.
    """

    def __init__(self, files: Sequence[str], thumbnails: Sequence[npt.NDArray[np.uint8]]) -> None:
        self.files = list(files)
        self._vectors: Vectors = np.asarray(thumbnails, dtype=np.float64).reshape(len(self.files), -1)
        self._squares = (self._vectors**2).sum(axis=1)

    def recognise(self, thumbnails: Sequence[npt.NDArray[np.uint8]]) -> list[str | None]:
        """The most similar photograph to each thumbnail; None where none is similar.

        Squared distances are whole numbers below 2^53, so the arithmetic is exact and ties go to the first.
        """
        if not self.files or not len(thumbnails):
            return [None] * len(thumbnails)
        asked = np.asarray(thumbnails, dtype=np.float64)
        distances = self._squares - 2.0 * (asked @ self._vectors.T) + (asked**2).sum(axis=1)[:, None]
        nearest = distances.argmin(axis=1)
        limit = UNLIKE**2 * asked.shape[1]
        return [self.files[n] if d[n] < limit else None for n, d in zip(nearest, distances, strict=True)]


def gallery(world: Artifact) -> Gallery:
    """All photographs of the pool and of the validation split that can be decoded.

    Those with an EXIF orientation are known both as the camera lay and upright.
    """
    photos, originals = world.table("photos"), world.table("originals")
    sources = [
        ("originals.zip", sorted(originals.loc[originals["split"] == "val", "file"])),
        ("photos.zip", sorted(f for f in photos["file"] if isinstance(f, str) and f)),
    ]
    files, thumbnails = [], []
    for name, entries in sources:
        with Reader(world.path(name)) as archive:
            for file in entries:
                for seen in _views(archive, file):
                    files.append(file)
                    thumbnails.append(seen)
    return Gallery(files, thumbnails)


def _views(archive: Reader, file: str) -> list[npt.NDArray[np.uint8]]:
    try:
        data = archive.data(file)
        picture = decode(data, CANONICAL)
        lying = [thumbnail(decode(data, RAW).pixels)] if picture.orientation != 1 else []
    except (KeyError, UndecodableImageError):
        return []
    return [thumbnail(picture.pixels), *lying]
