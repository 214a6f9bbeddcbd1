"""From fetched files to the candidate pool: one image a class for the same pixels, and why others are not in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from imagenetv2.benchmark import pictures
from imagenetv2.benchmark.decoding import Decoded, Undecodable
from imagenetv2.candidates.photo_store import FETCHED, UNAVAILABLE, Outcome
from imagenetv2.candidates.stages import CANDIDATES, COPIES, DOWNLOADS, REJECTED

if TYPE_CHECKING:
    import pandas as pd

TOLERANCE = 2
"""Pixels by which a file may differ from the size that Flickr states; its sizes are rounded."""

UNDECODABLE, TOO_SMALL = "undecodable", "too_small"


@dataclass(frozen=True)
class Rejection:
    """Why a photograph is not in the pool: one word, and what was found."""

    reason: str
    detail: str


def judge(
    result: Decoded | Undecodable, stated: tuple[int, int] | None, minimum_side: int
) -> Decoded | Rejection:
    """The image, if it may be a candidate. ``stated`` is the width and height that Flickr gave for the file."""
    if isinstance(result, Undecodable):
        return Rejection(UNDECODABLE, result.detail)
    stored = (result.stored_width, result.stored_height)
    if stated is not None and not _alike(stored, stated):
        found = f"{stored[0]} × {stored[1]} pixels came, {stated[0]} × {stated[1]} were stated"
        return Rejection(UNAVAILABLE, found)
    if min(result.width, result.height) < minimum_side:
        return Rejection(
            TOO_SMALL, f"{result.width} × {result.height} pixels, minimum_side is {minimum_side}"
        )
    return result


def _alike(stored: tuple[int, int], stated: tuple[int, int]) -> bool:
    # Orientation may have been applied by one of the two only.
    return any(
        all(abs(a - b) <= TOLERANCE for a, b in zip(stored, sides, strict=True))
        for sides in (stated, stated[::-1])
    )


@dataclass
class Pool:
    """The pool as it grows; photographs may come in any order."""

    index_of: Mapping[str, int]
    images: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    copies: set[tuple[str, str]] = field(default_factory=set)
    rejections: dict[str, Rejection] = field(default_factory=dict)
    decoded: dict[str, Decoded] = field(default_factory=dict)

    def add(self, found: Mapping[str, Any], image: Decoded) -> None:
        """Take an image found for a class; ``found`` is the row of the search. The earliest upload is named."""
        row = {
            "image_id": image.image_id,
            "class_index": self.index_of[found["wnid"]],
            **{
                name: found[name]
                for name in ("wnid", "photo_id", "query", "rung", "owner_id", "license", "uploaded")
            },
            "file": pictures.file_name(found["wnid"], image.image_id),
            "source_sha256": image.source_sha256,
            "source_format": image.source_format,
            "exif_orientation": image.orientation,
            "width": image.width,
            "height": image.height,
            "spread": image.spread,
        }
        self.copies.add((image.image_id, found["photo_id"]))
        other = self.images.setdefault((image.image_id, found["wnid"]), row)
        if _earlier(row) < _earlier(other):
            self.images[image.image_id, found["wnid"]] = row

    def reject(self, photo_id: str, rejection: Rejection) -> None:
        """Note why a photograph is not in the pool."""
        self.rejections[photo_id] = rejection

    def candidates_table(self) -> pd.DataFrame:
        """``candidates.parquet``."""
        import pandas as pd

        return pd.DataFrame(list(self.images.values()), columns=[c.name for c in CANDIDATES.columns])

    def copies_table(self) -> pd.DataFrame:
        """``copies.parquet``."""
        import pandas as pd

        return pd.DataFrame(sorted(self.copies), columns=[c.name for c in COPIES.columns])

    def rejected_table(self, outcomes: Mapping[str, Outcome]) -> pd.DataFrame:
        """``rejected.parquet``."""
        import pandas as pd

        rows = [(p, outcomes[p].url, r.reason, r.detail) for p, r in sorted(self.rejections.items())]
        return pd.DataFrame(rows, columns=[c.name for c in REJECTED.columns])


def _earlier(row: Mapping[str, Any]) -> tuple[int, int]:
    return row["uploaded"], int(row["photo_id"])


def downloads_table(outcomes: Mapping[str, Outcome], decoded: Mapping[str, Decoded]) -> pd.DataFrame:
    """``downloads.parquet``; ``decoded`` holds those whose file is an image."""
    import pandas as pd

    rows = []
    for photo_id, outcome in sorted(outcomes.items()):
        image = decoded.get(photo_id)
        facts = (image.stored_width, image.stored_height, image.exif_warnings) if image else (None,) * 3
        served = (outcome.http_status, outcome.content_type, outcome.bytes, outcome.sha256)
        rows.append((photo_id, outcome.url, outcome.state, *served, *facts))
    return pd.DataFrame(rows, columns=[c.name for c in DOWNLOADS.columns], dtype=object)


def absent(outcome: Outcome) -> Rejection | None:
    """Why there is no file; None where there is one."""
    return None if outcome.state == FETCHED else Rejection(outcome.state, outcome.detail)
