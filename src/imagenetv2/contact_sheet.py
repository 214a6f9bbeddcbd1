"""Pictures of an artifact on one sheet."""

from __future__ import annotations

import io
from pathlib import Path

from PIL import Image, UnidentifiedImageError

from imagenetv2.archive import Reader
from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError

PICTURES = (".png", ".jpg", ".jpeg")
COLUMNS, ROWS, SIDE = 12, 8, 96


def contact_sheet(artifact: Artifact, path: Path) -> int:
    """Write up to 96 pictures, evenly picked over its archives, to a PNG; returns how many.

    Raises InputError where the artifact has no pictures.
    """
    found = [
        (archive, name)
        for archive in sorted(artifact.manifest["files"])
        if archive.endswith(".zip")
        for name in Reader(artifact.path(archive)).names()
        if name.lower().endswith(PICTURES)
    ]
    if not found:
        raise InputError(f"{artifact.folder} holds no pictures; choose another stage, such as candidates.")
    step = max(1, len(found) // (COLUMNS * ROWS))
    chosen = found[::step][: COLUMNS * ROWS]
    lines = -(-len(chosen) // COLUMNS)
    sheet = Image.new("RGB", (COLUMNS * SIDE, lines * SIDE), "white")
    for number, (archive, name) in enumerate(chosen):
        picture = _thumbnail(Reader(artifact.path(archive)).data(name))
        left, top = number % COLUMNS * SIDE, number // COLUMNS * SIDE
        sheet.paste(picture, (left + (SIDE - picture.width) // 2, top + (SIDE - picture.height) // 2))
    sheet.save(path, "PNG")
    return len(chosen)


def _thumbnail(data: bytes) -> Image.Image:
    try:
        with Image.open(io.BytesIO(data)) as image:
            picture = image.convert("RGB")
    except (OSError, UnidentifiedImageError):
        return Image.new("RGB", (SIDE // 2, SIDE // 2), "firebrick")
    picture.thumbnail((SIDE - 4, SIDE - 4))
    return picture
