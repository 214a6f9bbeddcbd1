"""Pictures as files: what edits and encoders make of a photograph."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from PIL import ExifTags, Image, ImageOps

from imagenetv2.images import Pixels, encode_jpeg, encode_png
from imagenetv2.world.rendering.photograph import Scene, Shot, photograph

QUALITY = 92
PLAIN = Shot()


@dataclass(frozen=True)
class Picture:
    """A file to be made: a shot of a scene, how it was edited, and how it is encoded or damaged."""

    scene: Scene
    shot: Shot = PLAIN
    edit: str = ""
    encoding: str = "jpeg"


@dataclass(frozen=True)
class Made:
    """A file's bytes, and the width and height that its pixels are stored in."""

    data: bytes
    width: int
    height: int


def make(picture: Picture, side: int, seed: int) -> Made:
    """Render, edit and encode. Raises KeyError for an edit or encoding that isn't in the tables below."""
    image = Image.fromarray(photograph(picture.scene, picture.shot, side, seed))
    image = EDITS[picture.edit](image)
    data, size = ENCODINGS[picture.encoding](image)
    return Made(data, *size)


def _crop(image: Image.Image) -> Image.Image:
    w, h = image.size
    return image.crop((w // 14, h // 16, w - w // 18, h - h // 12))


def _brighter(image: Image.Image) -> Image.Image:
    return image.point([min(255, (v * 118) // 100 + 9) for v in range(256)] * 3)


def _smaller(image: Image.Image) -> Image.Image:
    w, h = image.size
    return image.resize((w * 4 // 5, h * 4 // 5), Image.Resampling.BILINEAR)


def _grey(image: Image.Image) -> Image.Image:
    return image.convert("L").convert("RGB")


def _framed(image: Image.Image) -> Image.Image:
    """A tinted, mirrored picture in a border: an edit that a reviewer objects to."""
    tinted = ImageOps.posterize(image, 3).convert("L").convert("RGB")
    pixels = np.asarray(tinted, np.uint16) * np.array([255, 190, 120], np.uint16) // 255
    return ImageOps.expand(Image.fromarray(pixels.astype(np.uint8)), border=5, fill=(250, 250, 245))


EDITS: dict[str, Callable[[Image.Image], Image.Image]] = {
    "": lambda image: image,
    "crop": _crop,
    "brighter": _brighter,
    "smaller": _smaller,
    "grey": _grey,
    "framed": _framed,
}

Encoded = tuple[bytes, tuple[int, int]]


def _jpeg(image: Image.Image, **options: object) -> bytes:
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", **options)
    return buffer.getvalue()


def _rotated(image: Image.Image, orientation: int, back: Image.Transpose) -> Encoded:
    """Stored turned, with the EXIF orientation that turns it upright."""
    stored = image.transpose(back)
    exif = Image.Exif()
    exif[ExifTags.Base.Orientation] = orientation
    return _jpeg(stored, quality=QUALITY, exif=exif), stored.size


def _lossless_copy(image: Image.Image) -> Encoded:
    """The decoded pixels of the JPEG, as PNG: other bytes, same pixels."""
    with Image.open(io.BytesIO(encode_jpeg(_pixels(image), QUALITY))) as decoded:
        return encode_png(np.asarray(decoded.convert("RGB"))), image.size


def _truncated(image: Image.Image) -> Encoded:
    whole = encode_jpeg(_pixels(image), QUALITY)
    return whole[: len(whole) * 9 // 20], image.size


def _pixels(image: Image.Image) -> Pixels:
    return np.asarray(image)


ENCODINGS: dict[str, Callable[[Image.Image], Encoded]] = {
    "jpeg": lambda image: (encode_jpeg(_pixels(image), QUALITY), image.size),
    "rough": lambda image: (encode_jpeg(_pixels(image), 55), image.size),
    "png": lambda image: (encode_png(_pixels(image)), image.size),
    "lossless_copy": _lossless_copy,
    "grey": lambda image: (_jpeg(image.convert("L"), quality=QUALITY), image.size),
    "cmyk": lambda image: (_jpeg(image.convert("CMYK"), quality=QUALITY), image.size),
    "upside_down": lambda image: _rotated(image, 3, Image.Transpose.ROTATE_180),
    "on_its_left": lambda image: _rotated(image, 6, Image.Transpose.ROTATE_90),
    "on_its_right": lambda image: _rotated(image, 8, Image.Transpose.ROTATE_270),
    "truncated": _truncated,
    "text": lambda image: (b"<html><body>This photo is on its way.</body></html>\n", image.size),
}
"""By name: from an upright image to a file and the size its pixels are stored in."""
BROKEN = ("truncated", "text")
