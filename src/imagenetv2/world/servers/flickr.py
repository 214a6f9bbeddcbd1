"""A local Flickr: ``flickr.photos.search`` over REST and JSON, with its limits and quirks.

It differs from the real one in what it leaves out: other methods (code 112), XML (code 111), signatures.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from imagenetv2.world.servers.dispatch import Request, Response
from imagenetv2.world.servers.photographs import SIZES, Photograph
from imagenetv2.world.servers.search import matching, ordered, positive

PHOTOS = "https://live.staticflickr.com"
"""Where the real service keeps files; answers name it, whatever port the local file server has."""
REFUSED_KEY = "refused"
"""The one API key that is not valid."""
MOST_PER_PAGE = 500
RESULT_CAP = 4000
LIMITING = (
    "text", "tags", "user_id", "min_upload_date", "max_upload_date", "min_taken_date", "max_taken_date",
    "machine_tags", "group_id", "bbox", "lat", "place_id", "woe_id",
)  # fmt: skip
ERRORS = {
    3: "Parameterless searches have been disabled. Please use flickr.photos.getRecent instead.",
    100: "Invalid API Key (Key has invalid format)",
    105: "Service currently unavailable",
}
FAULTS = ("429", "500", "105", "timeout")


class Flickr:
    """Answers calls to /services/rest/.

    Args:
        photographs: what there is to find.
        faults: which calls go wrong, by number from 0, and how: one of ``FAULTS``; for tests.
        result_cap: results after which earlier ones come again.
        stall: how long a ``timeout`` takes, in seconds.
    """

    def __init__(
        self,
        photographs: Sequence[Photograph],
        faults: Mapping[int, str] | None = None,
        result_cap: int = RESULT_CAP,
        stall: float = 5.0,
    ) -> None:
        self._photographs, self._faults = photographs, dict(faults or {})
        self._cap, self._stall = result_cap, stall
        self._calls, self._lock = 0, threading.Lock()

    def __call__(self, request: Request) -> Response:
        """The answer to one call: status 200 also for errors of the API, as Flickr does."""
        with self._lock:
            fault = self._faults.get(self._calls)
            self._calls += 1
        if fault == "429":
            page = b"<html><head><title>429</title></head><body>Too Many Requests</body></html>"
            return Response(429, page, "text/html", {"Retry-After": "1"})
        if fault == "500":
            return Response(500, b"<html><body>Internal Server Error</body></html>", "text/html")
        if fault == "timeout":
            time.sleep(self._stall)
        arguments = dict(request.form())
        answer = _failure(105) if fault == "105" else self._call(arguments, _api_key(request, arguments))
        text = json.dumps(answer, ensure_ascii=False)
        if arguments.get("nojsoncallback") != "1":
            text = f"{arguments.get('jsoncallback', 'jsonFlickrApi')}({text})"
        return Response(200, text.encode(), "application/json")

    def _call(self, arguments: Mapping[str, str], key: str) -> dict[str, Any]:
        if not key or key == REFUSED_KEY:
            return _failure(100)
        if arguments.get("format", "rest") != "json":
            return _failure(111, f'Format "{arguments.get("format", "rest")}" not found')
        method = arguments.get("method", "")
        if method != "flickr.photos.search":
            return _failure(112, f'Method "{method}" not found')
        if not any(arguments.get(name) for name in LIMITING):
            return _failure(3)
        return self._search(arguments)

    def _search(self, arguments: Mapping[str, str]) -> dict[str, Any]:
        found = ordered(matching(self._photographs, arguments), arguments.get("sort", ""))
        per_page = min(positive(arguments.get("per_page"), 100), MOST_PER_PAGE)
        page = positive(arguments.get("page"), 1)
        extras = [e.strip() for e in arguments.get("extras", "").split(",")]
        places = range((page - 1) * per_page, min(page * per_page, len(found)))
        # Past the cap Flickr keeps claiming the full total but hands out results it gave before.
        records = [record(found[place % self._cap], extras) for place in places]
        return {
            "photos": {
                "page": page,
                "pages": -(-len(found) // per_page),
                "perpage": per_page,
                # A string, although it is a number and its neighbours are numbers: as in Flickr's JSON.
                "total": str(len(found)),
                "photo": records,
            },
            "stat": "ok",
        }


def record(photo: Photograph, extras: Sequence[str]) -> dict[str, Any]:
    """One result with the fields that ``extras`` asks for; unknown extras are ignored."""
    out: dict[str, Any] = {
        "id": photo.photo_id,
        "owner": photo.owner_id,
        "secret": photo.secret,
        "server": "65535",
        "farm": 66,
        "title": photo.title,
        "ispublic": 1,
        "isfriend": 0,
        "isfamily": 0,
    }
    for extra in extras:
        out |= _extra(photo, extra)
    return out


def _extra(photo: Photograph, extra: str) -> dict[str, Any]:
    if extra.startswith("url_") and extra[4:] in ("o", *SIZES):
        size = extra[4:]
        path = photo.path(size)
        if path is None:
            return {}
        width, height = photo.extent(size)
        return {f"url_{size}": PHOTOS + path, f"height_{size}": height, f"width_{size}": width}
    known: dict[str, dict[str, Any]] = {
        "date_upload": {"dateupload": str(photo.uploaded)},
        "date_taken": {
            "datetaken": photo.taken,
            "datetakengranularity": photo.taken_granularity,
            "datetakenunknown": "1" if photo.taken_unknown else "0",
        },
        "license": {"license": photo.license},
        "owner_name": {"ownername": photo.owner_id},
        "o_dims": {"o_width": str(photo.width), "o_height": str(photo.height)},
        "original_format": {"originalsecret": photo.secret, "originalformat": photo.original_format},
        "tags": {"tags": " ".join(sorted(photo.clean_tags))},
        "media": {"media": "photo", "media_status": "ready"},
    }
    return known.get(extra, {})


def _api_key(request: Request, arguments: Mapping[str, str]) -> str:
    """From the arguments, or from the OAuth header, which is where flickrapi puts it."""
    header = request.headers.get("Authorization", "")
    signed = re.search(r'oauth_consumer_key="([^"]*)"', header)
    return arguments.get("api_key", "") or (signed.group(1) if signed else "")


def _failure(code: int, message: str | None = None) -> dict[str, Any]:
    return {"stat": "fail", "code": code, "message": message or ERRORS[code]}
