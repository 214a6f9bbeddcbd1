"""Downloaded files, kept: one a photograph, with what became of each in a journal."""

from __future__ import annotations

import hashlib
import re
import threading
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from imagenetv2 import atomically
from imagenetv2.candidates.journal import Journal

FETCHED, UNAVAILABLE, GONE, FAILED = "fetched", "unavailable", "gone", "failed"
TERMINAL = frozenset({FETCHED, UNAVAILABLE, GONE})
"""States in which nothing is asked for again; ``failed`` is tried again by the next run."""


@dataclass(frozen=True)
class Outcome:
    """What became of one photograph; ``bytes`` and ``sha256`` are of its file, where there is one."""

    photo_id: str
    url: str
    state: str
    http_status: int | None = None
    content_type: str | None = None
    bytes: int | None = None
    sha256: str | None = None
    detail: str = ""


class PhotoStore:
    """Files ``<folder>/files/<last two digits>/<photo_id>`` and ``<folder>/states.jsonl``; may be shared by threads."""

    def __init__(self, folder: Path) -> None:
        self._files = folder / "files"
        self._journal = Journal(folder / "states.jsonl")
        self._lock = threading.Lock()
        names = {f.name for f in fields(Outcome)}
        self._outcomes: dict[str, Outcome] = {}
        for record in self._journal.read():
            if set(record) == names:
                self._outcomes[str(record["photo_id"])] = Outcome(**record)

    def path(self, photo_id: str) -> Path:
        """Where the file of a photograph lies. Raises ValueError for an id that is not a number."""
        if not re.fullmatch(r"\d+", photo_id, re.ASCII):
            raise ValueError(f"{photo_id!r} is no Flickr id")
        return self._files / photo_id[-2:] / photo_id

    def settled(self, photo_id: str, url: str) -> Outcome | None:
        """The outcome that needs no further try: terminal, for this address, and its file whole."""
        outcome = self._outcomes.get(photo_id)
        if outcome is None or outcome.url != url or outcome.state not in TERMINAL:
            return None
        if outcome.state == FETCHED and not self._whole(outcome):
            return None
        return outcome

    def _whole(self, outcome: Outcome) -> bool:
        try:
            with self.path(outcome.photo_id).open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest() == outcome.sha256
        except OSError:
            return False

    def keep(self, photo_id: str, data: bytes) -> None:
        """Write the file whole or not at all."""
        path = self.path(photo_id)
        path.parent.mkdir(parents=True, exist_ok=True)
        atomically.write_bytes(path, data)

    def record(self, outcome: Outcome) -> None:
        """Note what became of a photograph; after its file, so that a state never speaks of a file to come."""
        with self._lock:
            self._journal.append(asdict(outcome))
            self._outcomes[outcome.photo_id] = outcome
