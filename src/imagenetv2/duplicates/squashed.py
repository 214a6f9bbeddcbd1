"""All pictures squashed to one size, as one array; a picture that can't be read is named and left black."""

from __future__ import annotations

import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from imagenetv2.duplicates.stored import IN_MEMORY, Stored
from imagenetv2.images import Pixels, UndecodableImageError, squash
from imagenetv2.pooling import slices, threaded
from imagenetv2.progress import bar

BROKEN = (
    UndecodableImageError, Image.DecompressionBombError, zipfile.BadZipFile, zlib.error, struct.error, KeyError,
    OSError, ValueError, SyntaxError, EOFError, NotImplementedError,
)  # fmt: skip
"""What Pillow and zipfile raise for a file that is absent, cut off or damaged; of OSError those without a number."""
SHARD = 4096
"""Pictures between two points at which a killed run goes on."""


def squashed(
    count: int,
    picture: Callable[[int], Pixels],
    side: int,
    folder: Path | None,
    cores: int,
    shard: int | None = None,
    what: str = "images",
    fixed: bool = False,
) -> tuple[npt.NDArray[np.uint8], dict[int, str]]:
    """Pictures 0 to ``count`` squashed: count × side × side × 3, and why some could not be read, by index.

    Those are black in the array. Where it is large the array is a read-only file in ``folder``, and shards that
    an earlier, killed run finished there are not read again; ``fixed`` as for ``Stored``.
    """
    store = Stored(folder, f"squashed-{side}", (count, side, side, 3), np.uint8, IN_MEMORY, fixed=fixed)
    shards = list(slices(count, shard or SHARD))
    notes = {place.start: store.note(place) for place in shards}
    missing = [place for place in shards if notes[place.start] is None]
    indices = (i for place in missing for i in range(place.start, place.stop))
    pictures = threaded(lambda i: readable(picture, i, side), indices, cores)
    with bar(f"{what} at {side} pixels", count) as shown:
        shown.update(count - sum(place.stop - place.start for place in missing))
        for place in missing:
            unreadable = {}
            for i in range(place.start, place.stop):
                found = next(pictures)
                if isinstance(found, str):
                    unreadable[str(i)] = found
                    found = np.zeros((side, side, 3), np.uint8)
                store.put(i, found[None])
                shown.update()
            store.finish(place, unreadable)
            notes[place.start] = unreadable
    reasons = {int(i): str(reason) for place in shards for i, reason in notes[place.start].items()}
    return store.array(), reasons


def readable(picture: Callable[[int], Pixels], index: int, side: int) -> Pixels | str:
    """A picture squashed to side × side × 3, or why it can't be read.

    Errors of the system concern the run: pictures lie together in one file. Where each has a file of its own, whoever
    opens that raises UndecodableImageError for what is its fault.
    """
    try:
        return squash(picture(index), side)
    except BROKEN as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        return reason(error)


def reason(error: Exception) -> str:
    """What was found instead of a picture, in one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text.strip("'\"") if isinstance(error, KeyError) else text
