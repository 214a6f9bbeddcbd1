"""Which image is meant: an id or the beginning of one, a Flickr photo id, or a picture file."""

from __future__ import annotations

import difflib
import string
from collections.abc import Collection
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from imagenetv2 import images
from imagenetv2.benchmark.settings import Images
from imagenetv2.errors import InputError

LENGTH = 16
"""Digits of an image_id."""
NAMED = 5


@dataclass(frozen=True)
class Known:
    """All images by their names.

    Attributes:
        ids: image_ids of candidates and original images.
        photographs: Flickr photo id and image_id, one row each (columns photo_id, image_id).
        rejected: photographs that are not in the pool: columns photo_id, reason, detail.
        settings: how files become pixels.
    """

    ids: Collection[str]
    photographs: pd.DataFrame
    rejected: pd.DataFrame
    settings: Images = field(default_factory=Images)

    def find(self, text: str) -> list[str]:
        """The image_ids that ``text`` names: several for a photograph that became several images, sorted.

        Raises InputError saying what there is instead.
        """
        if text in self.ids:
            return [text]
        photographs = self.photographs
        images_of = sorted(set(photographs.loc[photographs["photo_id"] == text, "image_id"].tolist()))
        if images_of:
            return images_of
        gone = self.rejected[self.rejected["photo_id"] == text]
        if len(gone):
            row = gone.iloc[0]
            raise InputError(
                f"Flickr photograph {text} was found but is not in the pool: {row['reason']} ({row['detail']})."
            )
        if Path(text).is_file():
            return [self._of_file(Path(text))]
        return [self._begins(text)]

    def _begins(self, text: str) -> str:
        digits = text.lower()
        fitting = sorted(i for i in self.ids if i.startswith(digits)) if digits else []
        if len(fitting) == 1:
            return fitting[0]
        if fitting:
            more = f", … ({len(fitting)} in all)" if len(fitting) > NAMED else ""
            raise InputError(
                f"{text} begins several ids: {', '.join(fitting[:NAMED])}{more}; give more digits."
            )
        if "/" in text or "." in text:
            raise InputError(f"{text}: there is no such file, and no such image; correct the path.")
        hexadecimal = bool(digits) and all(c in string.hexdigits for c in digits)
        close = difflib.get_close_matches(digits, sorted(self.ids), 3, 0.6) if hexadecimal else []
        if not close and hexadecimal:
            close = _neighbours(digits, sorted(self.ids))
        near = f"the nearest ids are {', '.join(close)}" if close else f"an id has {LENGTH} hex digits"
        raise InputError(
            f"{text} is no image, no Flickr photograph and no file here; {near}; imagenetv2 show candidates lists some."
        )

    def _of_file(self, path: Path) -> str:
        try:
            pixels = images.decode(path.read_bytes(), self.settings).pixels
        except (OSError, images.UndecodableImageError) as error:
            raise InputError(f"{path} cannot be read as a picture ({error}); name another file.") from error
        found = images.content_id(pixels)
        if found not in self.ids:
            raise InputError(
                f"{path} has the id {found}, and no candidate or original image has the same pixels; imagenetv2 nearest "
                "finds pictures that are only like it."
            )
        return found


def _neighbours(digits: str, ids: list[str]) -> list[str]:
    """The ids with the longest common beginning."""
    for length in range(len(digits), 0, -1):
        found = [i for i in ids if i.startswith(digits[:length])]
        if found:
            return found[:3]
    return []
