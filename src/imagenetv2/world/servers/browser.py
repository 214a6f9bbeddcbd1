"""What a worker's browser does: load a page and its pictures, send a form, over connections that stay open."""

from __future__ import annotations

import http.client
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urljoin, urlsplit

REDIRECTS = 5
PATIENCE = 30.0
"""Seconds until a browser gives up."""


class LoadError(Exception):
    """An address that could not be loaded; the message names it without its query, and says why."""


@dataclass(frozen=True)
class Loaded:
    """What came: the address after redirects, its type without parameters, and its bytes."""

    url: str
    content_type: str
    data: bytes


class Browser:
    """One person's browser, for one thread."""

    def __init__(self) -> None:
        self._connections: dict[str, http.client.HTTPConnection] = {}

    def get(self, url: str) -> Loaded:
        """Load an address. Raises LoadError for any status but 200 and for addresses other than http."""
        for _ in range(REDIRECTS):
            status, headers, data = self._exchange("GET", url)
            if status in (301, 302, 303, 307, 308) and "Location" in headers:
                url = urljoin(url, headers["Location"])
                continue
            if status != 200:
                raise LoadError(f"{_named(url)} answers {status}")
            return Loaded(url, headers.get_content_type(), data)
        raise LoadError(f"{_named(url)} redirects for ever")

    def post(self, url: str, fields: Sequence[tuple[str, str]]) -> tuple[int, bytes]:
        """Send a form, urlencoded; returns status and body."""
        status, _, data = self._exchange("POST", url, urlencode(fields).encode())
        return status, data

    def close(self) -> None:
        """Close all connections."""
        for connection in self._connections.values():
            connection.close()
        self._connections.clear()

    def _exchange(
        self, method: str, url: str, body: bytes | None = None
    ) -> tuple[int, http.client.HTTPMessage, bytes]:
        parts = urlsplit(url)
        if parts.scheme != "http" or not parts.hostname:
            raise LoadError(f"{_named(url)} is not an address that these people can reach")
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        kind = {"Content-Type": "application/x-www-form-urlencoded"} if body is not None else {}
        fresh = parts.netloc not in self._connections
        connection = self._connections.setdefault(
            parts.netloc, http.client.HTTPConnection(parts.netloc, timeout=PATIENCE)
        )
        try:
            connection.request(method, target, body, kind)
            answer = connection.getresponse()
            return answer.status, answer.headers, answer.read()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            del self._connections[parts.netloc]
            # A kept connection may have been closed from the other side: once more on a new one.
            if fresh or method != "GET":
                raise LoadError(f"{_named(url)} cannot be reached ({error!r})") from error
        return self._exchange(method, url, body)


def _named(url: str) -> str:
    """The address for a message: its query says who asks."""
    return url.partition("?")[0]
