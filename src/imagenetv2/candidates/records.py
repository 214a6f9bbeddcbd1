"""What Flickr answers, checked and converted at the boundary: numbers may be strings, fields may be absent."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

IDENTIFIER = re.compile(r"\d{1,20}", re.ASCII)


class MalformedAnswerError(Exception):
    """An answer, or a record of one, that is not what Flickr documents."""


@dataclass(frozen=True)
class Photo:
    """One search result. ``taken`` is local time without zone; ``uploaded`` seconds since 1970, UTC; sizes in pixels."""

    photo_id: str
    owner_id: str
    license: str
    taken: str
    taken_granularity: int
    taken_unknown: bool
    uploaded: int
    width: int | None
    height: int | None
    url: str


@dataclass(frozen=True)
class Page:
    """One page of results: what Flickr claims, its records, and how many of them could not be read."""

    total: int
    per_page: int
    photos: tuple[Photo, ...]
    malformed: int

    @property
    def returned(self) -> int:
        """Records on the page."""
        return len(self.photos) + self.malformed


def parse_page(answer: Mapping[str, Any], sizes: Sequence[str]) -> Page:
    """A page from a parsed answer. Raises MalformedAnswerError where the envelope is not Flickr's."""
    body = answer.get("photos")
    if not isinstance(body, dict) or not isinstance(body.get("photo"), list):
        raise MalformedAnswerError("the answer has no list photos.photo")
    photos, malformed = [], 0
    for record in body["photo"]:
        try:
            photos.append(parse_photo(record, sizes))
        except MalformedAnswerError:
            malformed += 1
    return Page(_integer(body, "total"), max(1, _integer(body, "perpage")), tuple(photos), malformed)


def parse_photo(record: Any, sizes: Sequence[str]) -> Photo:
    """One record; MalformedAnswerError where id or time of upload is absent, or no address can be made."""
    if not isinstance(record, dict):
        raise MalformedAnswerError("a record is no object")
    photo_id = str(record.get("id", ""))
    if not IDENTIFIER.fullmatch(photo_id):
        raise MalformedAnswerError(f"id {photo_id!r} is not a number")
    url, width, height = _file(record, photo_id, sizes)
    return Photo(
        photo_id,
        str(record.get("owner", "")),
        str(record.get("license", "")),
        str(record.get("datetaken", "")),
        _integer(record, "datetakengranularity", 0),
        bool(_integer(record, "datetakenunknown", 0)),
        _integer(record, "dateupload"),
        width,
        height,
        url,
    )


def _file(
    record: Mapping[str, Any], photo_id: str, sizes: Sequence[str]
) -> tuple[str, int | None, int | None]:
    for size in sizes:
        url = record.get(f"url_{size}")
        if isinstance(url, str) and url.startswith(("https://", "http://")):
            return url, _side(record, f"width_{size}"), _side(record, f"height_{size}")
    # Without a size letter the address is that of the 500-pixel file, which every photograph has.
    server, secret = str(record.get("server", "")), str(record.get("secret", ""))
    if not server or not secret:
        raise MalformedAnswerError(f"photograph {photo_id} has neither an address nor server and secret")
    return f"https://live.staticflickr.com/{server}/{photo_id}_{secret}.jpg", None, None


def _side(record: Mapping[str, Any], name: str) -> int | None:
    try:
        return _integer(record, name) or None
    except MalformedAnswerError:
        return None


def _integer(record: Mapping[str, Any], name: str, default: int | None = None) -> int:
    value = record.get(name, default)
    try:
        if isinstance(value, bool) or value is None:
            raise ValueError
        number = int(value)
    except (TypeError, ValueError) as error:
        raise MalformedAnswerError(f"{name} is {value!r}, not a whole number") from error
    if number < 0:
        raise MalformedAnswerError(f"{name} is {number}, below 0")
    return number
