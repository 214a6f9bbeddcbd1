"""Arguments of ``flickr.photos.search``: names checked here, since Flickr ignores those it doesn't know."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from imagenetv2.candidates.settings import Search

ALLOWED = frozenset({
    "text", "media", "license", "sort", "extras", "per_page", "page",
    "min_upload_date", "max_upload_date", "min_taken_date", "max_taken_date",
})  # fmt: skip
EXTRAS = ("date_upload", "date_taken", "license")


@dataclass(frozen=True, order=True)
class Window:
    """Upload times in seconds since 1970 (UTC), both ends included."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if self.start > self.end:
            raise ValueError(f"window {self.start} to {self.end} is empty")

    def halves(self) -> tuple[Window, Window]:
        """The earlier and the later half. Raises ValueError for a window of one second."""
        middle = (self.start + self.end) // 2
        return Window(self.start, middle), Window(middle + 1, self.end)


def upload_window(first: date, last: date) -> Window:
    """From the first second of ``first`` to the last second of ``last``, UTC."""
    start = datetime.combine(first, time(), UTC)
    end = datetime.combine(last, time(), UTC) + timedelta(days=1)
    return Window(int(start.timestamp()), int(end.timestamp()) - 1)


def search_arguments(settings: Search, text: str, window: Window, page: int) -> dict[str, str]:
    """Arguments of one call, as strings. Raises ValueError for a name that Flickr does not document."""
    arguments = {
        "text": text,
        "media": "photos",
        "sort": "date-posted-asc",
        "extras": ",".join((*EXTRAS, *(f"url_{size}" for size in settings.sizes))),
        "per_page": str(settings.per_page),
        "page": str(page),
        "min_upload_date": str(window.start),
        "max_upload_date": str(window.end),
    }
    if settings.taken_from is not None:
        arguments["min_taken_date"] = f"{settings.taken_from} 00:00:00"
    if settings.taken_to is not None:
        arguments["max_taken_date"] = f"{settings.taken_to} 23:59:59"
    if settings.licenses:
        arguments["license"] = ",".join(settings.licenses)
    return checked(arguments)


def checked(arguments: Mapping[str, str]) -> dict[str, str]:
    """The arguments, if Flickr documents all of them; ValueError naming one that it doesn't."""
    unknown = sorted(set(arguments) - ALLOWED)
    if unknown:
        raise ValueError(
            f"flickr.photos.search has no argument {unknown[0]}; Flickr would ignore it silently"
        )
    return dict(arguments)


def canonical(arguments: Mapping[str, str]) -> str:
    """One text for equal arguments, whatever their order."""
    return json.dumps(dict(arguments), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
