"""The Flickr API: one call, tried again where that may help, and failures told apart."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from imagenetv2.candidates.patience import Backoff, Clock, TransientError, retry_after
from imagenetv2.errors import InputError

if TYPE_CHECKING:
    import requests

KEY, SECRET = "IMAGENETV2_FLICKR_KEY", "IMAGENETV2_FLICKR_SECRET"
TIMEOUT = 60.0
"""Seconds without a byte after which a call counts as failed."""

REFUSED = frozenset({95, 96, 97, 98, 99, 100})
"""API error codes that mean: this key or its signature is not accepted."""
PASSING = frozenset({0, 10, 105, 106, 201})
"""API error codes of services that are unavailable for now."""
MEANINGS = {
    1: "too many tags",
    3: "a search without arguments is not allowed",
    18: "the arguments contradict each other",
    111: "the format is unknown",
    112: "the method is unknown",
    116: "the address is refused",
}


@dataclass(frozen=True)
class Credentials:
    """An API key and its secret; neither is ever printed."""

    key: str
    secret: str

    def __repr__(self) -> str:
        return "Credentials(…)"

    @classmethod
    def of_environment(cls, environment: Mapping[str, str] = os.environ) -> Credentials:
        """From the environment; InputError naming the variable that is missing."""
        for name in (KEY, SECRET):
            if not environment.get(name, "").strip():
                raise InputError(
                    f"the environment variable {name} is not set; the search needs a Flickr API key and its secret, "
                    "from https://www.flickr.com/services/apps/create."
                )
        return cls(environment[KEY].strip(), environment[SECRET].strip())


class Flickr:
    """Calls ``flickr.photos.search`` and gives parsed JSON.

    Args:
        credentials: key and secret.
        endpoint: base address of a local server; None means Flickr.
        backoff: how often and after what waits a call is tried again.
        generator: draws the jitter.
        clock: sleeps.
        pace: called before every call, to keep to a rate.
    """

    def __init__(
        self,
        credentials: Credentials,
        endpoint: str | None,
        backoff: Backoff,
        generator: np.random.Generator,
        clock: Clock,
        pace: Callable[[], None] = lambda: None,
    ) -> None:
        import flickrapi

        self._api = flickrapi.FlickrAPI(
            credentials.key,
            credentials.secret,
            format="parsed-json",
            store_token=False,  # Otherwise it writes a database into the home folder.
            timeout=TIMEOUT,
        )
        if endpoint is not None:
            self._api.REST_URL = f"{endpoint}/services/rest/"
        # It logs the bodies of failed calls as errors; what matters of them is in our messages.
        logging.getLogger("flickrapi").setLevel(logging.CRITICAL)
        self._backoff, self._generator, self._clock, self._pace = backoff, generator, clock, pace
        # A proxy of the environment leads outside, never to a server on loopback.
        self._proxies = endpoint is None
        self._last: requests.Response | None = None
        self._renew()

    def search(self, arguments: Mapping[str, str], check: Callable[[Any], object]) -> dict[str, Any]:
        """The answer to one search; ``check`` raises TransientError for one that is not what it should be.

        Raises InputError where the key is refused, where the call can't succeed, or after the last attempt.
        """
        try:
            return self._backoff.retry(lambda: self._once(arguments, check), self._generator, self._clock)
        except TransientError as error:
            raise InputError(
                f"Flickr ({self._api.REST_URL}) did not answer after {self._backoff.attempts} attempts: {error}; "
                "answers so far are kept, run again later."
            ) from None

    def _once(self, arguments: Mapping[str, str], check: Callable[[Any], object]) -> dict[str, Any]:
        import flickrapi
        import requests

        self._pace()
        self._last = None
        try:
            answer: dict[str, Any] = self._api.photos.search(**arguments)
        except flickrapi.FlickrError as error:
            raise self._classified(error) from None
        except requests.RequestException as error:
            self._renew()
            raise TransientError(f"the connection failed ({type(error).__name__})") from None
        except (ValueError, AttributeError):
            raise TransientError(f"{self._status()}, but the answer is not JSON") from None
        check(answer)
        return answer

    def _classified(self, error: Any) -> Exception:
        if error.code is None:
            return self._http_failure()
        said = f"code {error.code}"
        if error.code in REFUSED:
            return InputError(
                f"Flickr refuses the API key ({said}); the search stops, check {KEY} and {SECRET}, "
                "and at Flickr whether the key was disabled."
            )
        if error.code in PASSING:
            return TransientError(f"the service is unavailable ({said})")
        meaning = MEANINGS.get(error.code, "see flickr.photos.search in Flickr's API documentation")
        return InputError(f"Flickr refuses the search ({said}: {meaning}); correct the section search.")

    def _http_failure(self) -> Exception:
        status = None if self._last is None else self._last.status_code
        if status in (401, 403):
            return InputError(
                f"Flickr refuses the API key (HTTP {status}); the search stops, check {KEY} and {SECRET}."
            )
        if status is not None and 400 <= status < 500 and status not in (408, 425, 429):
            return InputError(f"Flickr refuses the call (HTTP {status}); correct the section search.")
        header = None if self._last is None else self._last.headers.get("Retry-After")
        return TransientError(self._status(), retry_after(header, self._clock.now()), status)

    def _status(self) -> str:
        return "no answer" if self._last is None else f"HTTP {self._last.status_code}"

    def _remember(self, response: requests.Response, **_: object) -> None:
        self._last = response

    def _renew(self) -> None:
        """A session of our own: flickrapi's is shared by all its users, and a broken connection stays in it."""
        import requests

        session = requests.Session()
        session.trust_env = self._proxies
        session.hooks["response"].append(self._remember)
        self._api.flickr_oauth.session = session
