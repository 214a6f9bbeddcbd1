"""The one way a file becomes RGB pixels, and pixels become a file."""

from __future__ import annotations

import hashlib
import io
import struct
import warnings
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image

from imagenetv2.benchmark.settings import Images

Pixels = npt.NDArray[np.uint8]
"""Height × width × 3, sRGB, 0 to 255."""

MAGIC = {
    b"\xff\xd8\xff": "JPEG",
    b"\x89PNG\r\n\x1a\n": "PNG",
    b"GIF8": "GIF",
    b"BM": "BMP",
    b"II*\0": "TIFF",
    b"MM\0*": "TIFF",
}

TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
"""What makes an image upright, by its EXIF orientation."""


class UndecodableImageError(Exception):
    """A file that is not a whole image; the message says what was found."""


@dataclass(frozen=True)
class Picture:
    """A decoded file: its pixels, container, applied EXIF orientation (1: none) and count of EXIF warnings.

    ``stored`` is the width and height in the file, before orientation and reduction.
    """

    pixels: Pixels
    format: str
    orientation: int
    exif_warnings: int
    stored: tuple[int, int]


def container(data: bytes) -> str:
    """Format by the first bytes: JPEG, PNG, GIF, BMP, TIFF or WEBP; raises UndecodableImageError for others."""
    for magic, name in MAGIC.items():
        if data.startswith(magic):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    raise UndecodableImageError(
        f"not an image: it begins with {data[:12]!r}" if data else "the file is empty"
    )


def decode(data: bytes, settings: Images) -> Picture:
    """Decode strictly: a truncated or broken file raises UndecodableImageError, whatever is wrong with it.

    For one thread at a time, as it counts what Pillow warns of.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        picture = decode_in_threads(data, settings)
    complaints = sum("exif" in str(w.message).lower() for w in caught)
    return replace(picture, exif_warnings=picture.exif_warnings + complaints)


def decode_in_threads(data: bytes, settings: Images) -> Picture:
    """As ``decode``, but Pillow's warnings are not counted; run threads of it under ``silent``."""
    name = container(data)
    try:
        with Image.open(io.BytesIO(data), formats=[name]) as image:
            image.load()
            stored = image.size
            orientation, readable = _orientation(image)
            rgb = to_rgb(image)
    except Exception as error:  # Pillow's decoders raise whatever a broken file makes them trip over.
        raise UndecodableImageError(f"{name} cannot be decoded: {error}") from error
    if settings.mode == "raw":
        orientation = 1
    else:
        rgb = _within(_upright(rgb, orientation), settings.longest_side)
    return Picture(np.asarray(rgb).copy(), name, orientation, int(not readable), stored)


@contextmanager
def silent() -> Iterator[None]:
    """Warnings are the process's, so the main thread silences them while others call ``decode_in_threads``."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _orientation(image: Image.Image) -> tuple[int, bool]:
    """EXIF orientation, 1 where there is none, and whether the EXIF data could be read.

    Photographs with damaged EXIF data are common and their pixels are whole, so they stay.
    """
    try:
        value = image.getexif().get(ExifTags.Base.Orientation, 1)
    except Exception:  # What Pillow raises depends on how the data is damaged.
        return 1, False
    return (int(value), True) if value in range(1, 9) else (1, True)


def to_rgb(image: Image.Image) -> Image.Image:
    """RGB of any mode: transparency over white, 16-bit grey scaled, CMYK as Adobe wrote it."""
    if image.mode.startswith("I;16") or image.mode == "I":
        grey = np.asarray(image, dtype=np.float64) / 65535.0 * 255.0
        return Image.fromarray(np.clip(np.rint(grey), 0, 255).astype(np.uint8)).convert("RGB")
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        over = image.convert("RGBA")
        white = Image.new("RGBA", over.size, (255, 255, 255, 255))
        return Image.alpha_composite(white, over).convert("RGB")
    return image.convert("RGB")


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    return image if orientation == 1 else image.transpose(TURNS[orientation])


def _within(image: Image.Image, longest: int) -> Image.Image:
    width, height = image.size
    if max(width, height) <= longest:
        return image
    scale = longest / max(width, height)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    return image.resize(size, Image.Resampling.BICUBIC)


def within(pixels: Pixels, longest: int) -> Pixels:
    """Reduce, with antialiasing, to the longest side in pixels; smaller images stay as they are."""
    return np.asarray(_within(Image.fromarray(pixels), longest))


def squash(pixels: Pixels, side: int) -> Pixels:
    """Resize, with antialiasing, to side × side without keeping the proportions."""
    if pixels.shape[:2] == (side, side):
        return pixels
    return np.asarray(Image.fromarray(pixels).resize((side, side), Image.Resampling.BILINEAR))


def content_id(pixels: Pixels) -> str:
    """The image_id: 16 hex digits of a SHA-256 over shape and pixels."""
    digest = hashlib.sha256(repr(pixels.shape).encode())
    digest.update(np.ascontiguousarray(pixels).tobytes())
    return digest.hexdigest()[:16]


def spread(pixels: Pixels) -> float:
    """Standard deviation of the grey levels, rounded to 3 digits; small for flat images."""
    grey = pixels.astype(np.int64) @ np.array([299, 587, 114])
    return round(float(np.std(grey / 1000.0)), 3)


def encode_png(pixels: Pixels) -> bytes:
    """PNG without compression and filters: quick to write and read, and no library's choices are in its bytes."""
    height, width = pixels.shape[:2]
    rows = np.zeros((height, 1 + 3 * width), np.uint8)
    rows[:, 1:] = pixels.reshape(height, 3 * width)
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            _chunk(b"IHDR", header),
            _chunk(b"IDAT", _stored(rows.tobytes())),
            _chunk(b"IEND", b""),
        )
    )


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(data, zlib.crc32(kind)))


def _stored(data: bytes) -> bytes:
    """A zlib stream of stored blocks (RFC 1950 and 1951)."""
    parts = [b"\x78\x01"]
    for start in range(0, len(data), 65535):
        block = data[start : start + 65535]
        last = start + 65535 >= len(data)
        parts += [struct.pack("<BHH", last, len(block), len(block) ^ 0xFFFF), block]
    return b"".join((*parts, struct.pack(">I", zlib.adler32(data))))


def encode_jpeg(pixels: Pixels, quality: int = 90) -> bytes:
    """Baseline JPEG without metadata."""
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
