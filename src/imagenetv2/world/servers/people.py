"""Simulated workers: they find tasks, open the page, look at every picture, tick boxes, and submit the form.

They know nothing of the pipeline and reach it over HTTP alone, so that a page which does not work yields no votes.
"""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urljoin

import numpy as np
import numpy.typing as npt

from imagenetv2.images import UndecodableImageError
from imagenetv2.world.servers import identifiers
from imagenetv2.world.servers.browser import Browser, LoadError
from imagenetv2.world.servers.page import BrokenPageError, Page, read
from imagenetv2.world.servers.recognition import Gallery, look
from imagenetv2.world.servers.votes import Pool

LOG = logging.getLogger(__name__)
THREADS = 4
PAUSES = (0.5, 2.0)
"""Seconds after which someone tries a page again that did not work; then they leave it."""
PAGE_TYPES = ("text/html", "application/xhtml+xml")


@dataclass(frozen=True)
class Offer:
    """A task that is open: ``token`` decides who takes it, ``taken`` are the ids of those who have."""

    hit_id: str
    token: str
    url: str
    places: int
    taken: frozenset[str]

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Offer:
        """From the website's list."""
        return cls(entry["hitId"], entry["token"], entry["url"], entry["places"], frozenset(entry["workers"]))


class Memory:
    """What people have seen: the photograph of each picture, by the digest of its bytes; shared by all."""

    def __init__(self, gallery: Gallery) -> None:
        self._gallery, self._seen, self._lock = gallery, dict[bytes, str | None](), threading.Lock()

    def photographs(self, pictures: list[bytes]) -> list[str | None]:
        """The photograph that each file shows. Raises UndecodableImageError for a file that shows nothing."""
        keys = [hashlib.sha256(data).digest() for data in pictures]
        with self._lock:
            new = {key: data for key, data in zip(keys, pictures, strict=True) if key not in self._seen}
            thumbnails: list[npt.NDArray[np.uint8]] = [look(data) for data in new.values()]
            self._seen |= dict(zip(new, self._gallery.recognise(thumbnails), strict=True))
            return [self._seen[key] for key in keys]


class Crowd:
    """All workers of a world, at work on the website at ``site``; for ``pauses`` see ``PAUSES``."""

    def __init__(self, site: str, pool: Pool, gallery: Gallery, pauses: tuple[float, ...] = PAUSES) -> None:
        self._site, self._pool, self._memory, self._pauses = site, pool, Memory(gallery), pauses
        self._ids = [identifiers.worker_id(pool.seed, n) for n in range(pool.people.workers)]
        self._begun: set[str] = set()
        self._stop, self._local = threading.Event(), threading.local()
        self._browsers: list[Browser] = []

    def run(self, stop: threading.Event, pause: float = 0.2) -> None:
        """Work until ``stop`` is set or the website is gone; ``pause`` in seconds between two looks at it."""
        self._stop = stop
        with ThreadPoolExecutor(THREADS) as threads:
            while not stop.wait(pause):
                try:
                    offers = [
                        Offer.of(entry) for entry in json.loads(self._browser.get(self._url("work")).data)
                    ]
                except LoadError:
                    break
                for offer in offers:
                    if offer.hit_id in self._begun:
                        continue
                    self._begun.add(offer.hit_id)
                    for number in self._pool.chosen(offer.token, offer.places):
                        if self._ids[number] not in offer.taken:
                            threads.submit(self._attend, offer, number)
            threads.shutdown(wait=True, cancel_futures=True)
        for browser in self._browsers:
            browser.close()

    @property
    def _browser(self) -> Browser:
        browser: Browser | None = getattr(self._local, "browser", None)
        if browser is None:
            browser = self._local.browser = Browser()
            self._browsers.append(browser)
        return browser

    def _url(self, action: str) -> str:
        return f"{self._site}/mturk/{action}"

    def _attend(self, offer: Offer, number: int) -> None:
        try:
            for pause in (*self._pauses, None):
                try:
                    self._work(offer, number)
                    return
                except (BrokenPageError, LoadError, UndecodableImageError) as error:
                    if pause is None and not self._stop.is_set():
                        LOG.warning("a worker leaves task %s: %s", offer.hit_id, error)
                    if pause is None or self._stop.wait(pause):
                        return
        except Exception:
            LOG.exception("a worker failed on task %s", offer.hit_id)

    def _work(self, offer: Offer, number: int) -> None:
        """Accept, look, answer. Raises what makes the page one that can't be answered; the task is then returned."""
        worker = self._ids[number]
        status, answer = self._browser.post(
            self._url("accept"), [("hitId", offer.hit_id), ("workerId", worker)]
        )
        if status != 200:  # Expired, deleted or taken in the meantime.
            return
        assignment = str(json.loads(answer)["assignmentId"])
        try:
            page, photographs = self._look(offer, worker, assignment)
            ticked = {
                box.value
                for box, file in zip(page.boxes, photographs, strict=True)
                if file is not None and self._pool.selects(number, file, page.wnid)
            }
            status, answer = self._browser.post(self._url("externalSubmit"), page.fields(assignment, ticked))
            if status != 200:
                raise LoadError(f"submitting answers {status}: {answer.decode('utf-8', 'replace').strip()}")
        except BaseException:
            self._browser.post(self._url("return"), [("assignmentId", assignment)])
            raise

    def _look(self, offer: Offer, worker: str, assignment: str) -> tuple[Page, list[str | None]]:
        """The page and the photograph in each box; every picture is loaded."""
        query = {
            "assignmentId": assignment,
            "hitId": offer.hit_id,
            "workerId": worker,
            "turkSubmitTo": self._site,
        }
        loaded = self._browser.get(f"{offer.url}{'&' if '?' in offer.url else '?'}{urlencode(query)}")
        if loaded.content_type not in PAGE_TYPES:
            raise BrokenPageError(f"{offer.url} is {loaded.content_type}: a browser saves it, not shows it")
        page = read(loaded.data.decode("utf-8", "replace"))
        pictures = [self._browser.get(urljoin(loaded.url, box.source)).data for box in page.boxes]
        return page, self._memory.photographs(pictures)
