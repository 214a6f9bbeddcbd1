"""A task of the local Mechanical Turk, and what the service says when it refuses something."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class RefusedError(Exception):
    """The marketplace refuses; ``code`` is the service's TurkErrorCode without its prefix."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Hit:
    """A task, its request as CreateHIT got it, and how its places stand.

    It is Assignable while places are left, Unassignable while all are taken but not all answered, Reviewable once
    all are answered or it has expired and nobody is at work on it, Disposed once deleted. ``pending`` places are
    taken, ``submitted`` answered, ``reviewed`` approved or rejected; times in seconds since 1970.
    """

    number: int
    hit_id: str
    token: str
    request: Mapping[str, Any]
    places: int
    created: int
    expiration: int
    deleted: bool
    pending: int
    submitted: int
    reviewed: int

    @property
    def expired(self) -> bool:
        """Whether workers find it no more."""
        return self.expiration <= time.time()

    @property
    def available(self) -> int:
        """Places that workers may take."""
        return max(0, self.places - self.pending - self.submitted - self.reviewed)

    @property
    def status(self) -> str:
        """HITStatus."""
        if self.deleted:
            return "Disposed"
        if self.pending:
            return "Assignable" if self.available and not self.expired else "Unassignable"
        return "Assignable" if self.available and not self.expired else "Reviewable"
