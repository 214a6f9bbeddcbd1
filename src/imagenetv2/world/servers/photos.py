"""The local live.staticflickr.com: the photographs' files."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence

from PIL import Image

from imagenetv2.archive import Reader
from imagenetv2.world.servers.dispatch import Request, Response
from imagenetv2.world.servers.photographs import LONGEST, SIZES, Photograph

PLACEHOLDER = "/images/photo_unavailable.png"
"""Where Flickr sends those who ask for a photograph that has gone."""
_SIZE_OF = {letter: size for size, letter in SIZES.items()}


class Photos:
    """Answers GET /65535/<id>_<secret>[_<size>].<extension> and the placeholder.

    Originals are the archive's bytes, damaged ones too; smaller sizes are made when asked for.
    """

    def __init__(self, photographs: Sequence[Photograph], archive: Reader) -> None:
        self._by_id = {photo.photo_id: photo for photo in photographs}
        self._archive = archive
        self._placeholder = _placeholder()

    def __call__(self, request: Request) -> Response:
        """The file; a redirect where the photograph has gone; 404 for a wrong secret, size or extension."""
        if request.method not in ("GET", "HEAD"):
            return Response(405, b"Method not allowed\n")
        if request.path == PLACEHOLDER:
            return Response(200, self._placeholder, "image/png")
        name = re.fullmatch(r"/65535/([0-9]+)_([0-9a-zA-Z]+)(?:_([a-z]))?\.[a-z]+", request.path)
        photo = self._by_id.get(name.group(1)) if name else None
        if name is None or photo is None or photo.secret != name.group(2):
            return Response(404, b"Not Found\n")
        letter = name.group(3) or ""
        size = "o" if letter == "o" else _SIZE_OF.get(letter, "")
        if photo.path(size) != request.path:
            return Response(404, b"Not Found\n")
        if photo.status == "gone" or not photo.file:
            return Response(302, b"", headers={"Location": PLACEHOLDER})
        return self._file(photo, size)

    def _file(self, photo: Photograph, size: str) -> Response:
        try:
            data = self._archive.data(photo.file)
        except KeyError:
            return Response(404, b"Not Found\n")
        if size == "o":
            kind = photo.original_format.replace("jpg", "jpeg")
            return Response(200, data, f"image/{kind}")
        smaller = _reduced(data, size)
        return Response(500, b"") if smaller is None else Response(200, smaller, "image/jpeg")


def _reduced(data: bytes, size: str) -> bytes | None:
    side = LONGEST[size]
    buffer = io.BytesIO()
    try:
        with Image.open(io.BytesIO(data)) as image:
            rgb = image.convert("RGB")
            if size == "sq":
                rgb = rgb.resize((side, side))
            else:
                rgb.thumbnail((side, side))
            rgb.save(buffer, "JPEG", quality=90)
    except (OSError, ValueError, SyntaxError):
        return None
    return buffer.getvalue()


def _placeholder() -> bytes:
    image = Image.new("RGB", (64, 48), (242, 242, 242))
    image.paste((200, 200, 200), (22, 18, 42, 30))
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()
