"""Many files to canonical images at once: reference images and candidates both come this way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from imagenetv2 import images
from imagenetv2.benchmark.settings import Images
from imagenetv2.pooling import chunks, in_order, processes

CHUNK = 16


@dataclass(frozen=True)
class Source:
    """A file to decode: its key, and its bytes or where they lie."""

    key: str
    content: bytes | Path


@dataclass(frozen=True)
class Decoded:
    """A canonical image: content id, PNG, size, grey-level spread; and what the file was like.

    ``stored_width`` and ``stored_height`` are those in the file, before orientation and reduction.
    """

    image_id: str
    png: bytes
    width: int
    height: int
    spread: float
    source_sha256: str
    source_format: str
    orientation: int
    exif_warnings: int
    stored_width: int
    stored_height: int


@dataclass(frozen=True)
class Undecodable:
    """A file that is no image: one word, and what was found."""

    reason: str
    detail: str
    source_sha256: str | None = None


def decode_all(
    sources: Iterable[Source], settings: Images, cores: int
) -> Iterator[tuple[str, Decoded | Undecodable]]:
    """The key of each source with what it holds, in order; the same for any number of cores.

    Memory holds at most a few chunks of files a core. One bad file never stops the others.
    """
    with processes(cores) as pool:
        work = partial(_decode_chunk, settings=settings)
        for pairs in in_order(pool, work, chunks(sources, CHUNK), ahead=3 * cores):
            yield from pairs


def _decode_chunk(sources: tuple[Source, ...], settings: Images) -> list[tuple[str, Decoded | Undecodable]]:
    return [(source.key, decode_one(source, settings)) for source in sources]


def decode_one(source: Source, settings: Images) -> Decoded | Undecodable:
    """One file: strictly decoded, upright, sRGB, bounded in size."""
    try:
        data = source.content if isinstance(source.content, bytes) else source.content.read_bytes()
    except OSError as error:
        return Undecodable("unreadable", error.strerror or type(error).__name__)
    sha256 = hashlib.sha256(data).hexdigest()
    try:
        picture = images.decode(data, settings)
    except images.UndecodableImageError as error:
        return Undecodable("undecodable", str(error), sha256)
    height, width = picture.pixels.shape[:2]
    return Decoded(
        images.content_id(picture.pixels),
        images.encode_png(picture.pixels),
        width,
        height,
        images.spread(picture.pixels),
        sha256,
        picture.format,
        picture.orientation,
        picture.exif_warnings,
        *picture.stored,
    )
