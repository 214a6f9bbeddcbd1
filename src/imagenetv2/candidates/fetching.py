"""Fetching photographs from the image host: politely, once each, and telling absence from failure."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING
from urllib.parse import urljoin, urlsplit

from imagenetv2.candidates.patience import Backoff, Clock, TransientError, retry_after
from imagenetv2.candidates.photo_store import FAILED, FETCHED, GONE, UNAVAILABLE, Outcome
from imagenetv2.randomness import generator

if TYPE_CHECKING:
    import requests

PLACEHOLDER = "photo_unavailable"
"""How the name of the file begins that Flickr redirects to where a photograph is gone."""
REDIRECTS = 5
PASSING = frozenset({408, 425, 429})
TIMEOUT = (10.0, 60.0)
"""Seconds to connect, and without a byte."""


def user_agent(contact: str) -> str:
    """Says what is asking, and whom to write to."""
    from imagenetv2 import __version__

    return f"imagenetv2/{__version__} (test-set replication{'; ' + contact if contact else ''})"


@dataclass
class Fetcher:
    """Fetches one photograph at a time in each thread.

    ``endpoint`` takes the place of the host in every address, ``pace`` is called before each request, and
    ``placeholders`` are SHA-256 of files that stand for a photograph that is gone.
    """

    backoff: Backoff
    clock: Clock
    agent: str
    endpoint: str | None = None
    placeholders: frozenset[str] = frozenset()
    pace: Callable[[], None] = lambda: None
    _local: threading.local = field(default_factory=threading.local)

    def fetch(self, photo_id: str, url: str) -> tuple[Outcome, bytes | None]:
        """What became of it, and its bytes where there are any; network trouble is an outcome, not an error."""
        # The jitter is the photograph's own, so that it doesn't hang on which thread comes first.
        jitter = generator(0, "download", photo_id)
        try:
            return self.backoff.retry(lambda: self._once(photo_id, url), jitter, self.clock)
        except TransientError as error:
            detail = f"{error} after {self.backoff.attempts} attempts"
            return Outcome(photo_id, url, FAILED, error.status, detail=detail), None

    def _once(self, photo_id: str, url: str) -> tuple[Outcome, bytes | None]:
        import requests

        address = url
        try:
            for _ in range(REDIRECTS + 1):
                self.pace()
                response = self._session().get(
                    self._local_address(address), timeout=TIMEOUT, allow_redirects=False
                )
                if not response.is_redirect:
                    return self._judged(Outcome(photo_id, url, FETCHED, response.status_code), response)
                address = urljoin(address, response.headers["Location"])
                if PurePosixPath(urlsplit(address).path).name.startswith(PLACEHOLDER):
                    detail = f"redirected to {PLACEHOLDER}"
                    return Outcome(photo_id, url, UNAVAILABLE, response.status_code, detail=detail), None
        except requests.RequestException as error:
            self._renew()
            raise TransientError(f"the connection failed ({type(error).__name__})") from None
        raise TransientError(f"more than {REDIRECTS} redirects")

    def _judged(self, outcome: Outcome, response: requests.Response) -> tuple[Outcome, bytes | None]:
        status = response.status_code
        if status in PASSING or status >= 500:
            after = retry_after(response.headers.get("Retry-After"), self.clock.now())
            raise TransientError(f"HTTP {status}", after, status)
        if status in (404, 410):
            return replace(outcome, state=GONE, detail=f"HTTP {status}"), None
        if status != 200:
            return replace(outcome, state=FAILED, detail=f"HTTP {status}"), None
        data = response.content
        found = replace(
            outcome,
            content_type=response.headers.get("Content-Type", "").split(";")[0].strip().lower() or None,
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
        )
        if found.sha256 in self.placeholders:
            return replace(found, state=UNAVAILABLE, detail="the file is a known placeholder"), None
        return found, data

    def _local_address(self, url: str) -> str:
        if self.endpoint is None:
            return url
        parts = urlsplit(url)
        return f"{self.endpoint}{parts.path}{'?' + parts.query if parts.query else ''}"

    def _session(self) -> requests.Session:
        import requests

        session: requests.Session | None = getattr(self._local, "session", None)
        if session is None:
            session = self._local.session = requests.Session()
            session.headers["User-Agent"] = self.agent
            # A proxy of the environment leads outside, never to a server on loopback.
            session.trust_env = self.endpoint is None
        return session

    def _renew(self) -> None:
        # A broken connection would stay in the session's pool.
        session: requests.Session | None = self._local.__dict__.pop("session", None)
        if session is not None:
            session.close()
