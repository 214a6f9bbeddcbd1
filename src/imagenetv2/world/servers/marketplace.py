"""The state of the local Mechanical Turk: tasks and answers, and what may happen to them when.

An assignment is Submitted, then Approved or Rejected; for the states of tasks see ``Hit``. What was accepted but not
submitted is forgotten when the server ends, as if the worker had gone away.

Tasks are created and expire on the real clock, with which requesters compare. Workers' times are simulated: they
begin at ``EPOCH`` and seconds are drawn, so that answers don't depend on when and how fast they were given.
"""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from imagenetv2.randomness import generator
from imagenetv2.world.servers import identifiers
from imagenetv2.world.servers.database import Database
from imagenetv2.world.servers.hit import Hit, RefusedError

EPOCH = 1560124800
"""10 June 2019, from when on workers accept tasks."""
DECIDED = EPOCH + 86400
"""The moment at which the requester approves or rejects."""
SCHEMA = """
CREATE TABLE IF NOT EXISTS hits (
    number INTEGER PRIMARY KEY, hit_id TEXT UNIQUE, token TEXT, request TEXT, places INTEGER,
    created INTEGER, expiration INTEGER, deleted INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS assignments (
    assignment_id TEXT PRIMARY KEY, hit_id TEXT, worker_id TEXT, status TEXT, answer TEXT,
    accepted INTEGER, submitted INTEGER, feedback TEXT
);
CREATE INDEX IF NOT EXISTS by_hit ON assignments (hit_id, submitted, assignment_id);
"""


class Marketplace:
    """Tasks and answers in a file; every accepted change is committed before the call returns."""

    def __init__(self, path: Path, seed: int) -> None:
        self._data, self._seed = Database(path, SCHEMA), seed
        self._pending: dict[str, tuple[str, str]] = {}
        self._lock = threading.RLock()

    def close(self) -> None:
        """Close the file."""
        self._data.close()

    def create(self, request: Mapping[str, Any]) -> Hit:
        """A new task. RefusedError where the UniqueRequestToken was used before; it names the task made then."""
        text, now = json.dumps(request, sort_keys=True, ensure_ascii=False), int(time.time())
        with self._lock, self._data.change() as change:
            number = change.execute("SELECT COALESCE(MAX(number), 0) + 1 FROM hits").fetchone()[0]
            digest = hashlib.sha256(text.encode()).hexdigest()
            token = request.get("UniqueRequestToken") or f"{digest}-{number}"
            hit_id = identifiers.hit_id(token)
            if change.execute("SELECT 1 FROM hits WHERE hit_id = ?", (hit_id,)).fetchone():
                raise RefusedError(
                    "HitAlreadyExists", f'HitAlreadyExists: The HIT with ID "{hit_id}" already exists.'
                )
            change.execute(
                "INSERT INTO hits (number, hit_id, token, request, places, created, expiration) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    number,
                    hit_id,
                    token,
                    text,
                    request.get("MaxAssignments", 1),
                    now,
                    now + request["LifetimeInSeconds"],
                ),
            )
        return self.hit(hit_id)

    def hit(self, hit_id: str) -> Hit:
        """A task, deleted ones too. Raises RefusedError where there is none of that id."""
        found = self._hits("WHERE hit_id = ?", hit_id)
        if not found:
            raise RefusedError("HITDoesNotExist", f"Hit {hit_id} does not exist.")
        return found[0]

    def hits(self, after: int, most: int) -> list[Hit]:
        """Tasks that aren't deleted, in order of creation, from behind number ``after``."""
        return self._hits("WHERE deleted = 0 AND number > ? ORDER BY number LIMIT ?", after, most)

    def open_hits(self) -> list[tuple[Hit, list[str]]]:
        """Tasks that workers may accept, with the workers who have answered or are at work."""
        found = self._hits(
            "WHERE deleted = 0 AND answers < places AND expiration > ? ORDER BY number", time.time()
        )
        return [(hit, self._workers(hit.hit_id)) for hit in found if hit.available]

    def assignments(
        self, hit_id: str, statuses: Sequence[str], after: tuple[int, str], most: int
    ) -> list[sqlite3.Row]:
        """Answers to a task in order of (submission, id), from behind ``after``."""
        self.hit(hit_id)
        return self._data.rows(
            f"SELECT * FROM assignments WHERE hit_id = ? AND status IN ({','.join('?' * len(statuses))}) "
            "AND (submitted, assignment_id) > (?, ?) ORDER BY submitted, assignment_id LIMIT ?",
            hit_id, *statuses, *after, most,
        )  # fmt: skip

    def assignment(self, assignment_id: str) -> sqlite3.Row:
        """One answer. Raises RefusedError where there is none of that id."""
        row = self._data.row("SELECT * FROM assignments WHERE assignment_id = ?", assignment_id)
        if row is None:
            raise RefusedError("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist.")
        return row

    def approve(self, assignment_id: str, feedback: str | None, override: bool) -> None:
        """Submitted becomes Approved; Rejected too where ``override``."""
        self._decide(
            assignment_id, "Approved", feedback, ("Submitted", "Rejected") if override else ("Submitted",)
        )

    def reject(self, assignment_id: str, feedback: str) -> None:
        """Submitted becomes Rejected."""
        self._decide(assignment_id, "Rejected", feedback, ("Submitted",))

    def expire(self, hit_id: str, at: float) -> None:
        """Moves the end of a task to ``at``, in seconds since 1970; a past one ends it at once."""
        self._live(hit_id)
        with self._lock, self._data.change() as change:
            change.execute("UPDATE hits SET expiration = ? WHERE hit_id = ?", (math.floor(at), hit_id))

    def delete(self, hit_id: str) -> None:
        """Disposes of a Reviewable task all of whose answers are approved or rejected."""
        hit = self._live(hit_id)
        if hit.status != "Reviewable" or hit.submitted:
            # The service's own words; they don't say that unreviewed answers are what stands in the way.
            raise RefusedError(
                "InvalidHITState",
                f"This HIT is currently in the state '{hit.status}'.  "
                "This operation can be called with a status of: Reviewing, Reviewable",
            )
        with self._lock, self._data.change() as change:
            change.execute("UPDATE hits SET deleted = 1 WHERE hit_id = ?", (hit_id,))

    def accept(self, hit_id: str, worker_id: str) -> str:
        """A worker takes a place; returns the assignment's id. RefusedError where none is left for them."""
        with self._lock:
            hit = self.hit(hit_id)
            if hit.status != "Assignable":
                raise RefusedError("HITNotAssignable", f"HIT {hit_id} is {hit.status}.")
            if worker_id in self._workers(hit_id):
                raise RefusedError("AlreadyAccepted", f"Worker {worker_id} has accepted HIT {hit_id} before.")
            assignment = identifiers.assignment_id(hit_id, worker_id)
            self._pending[assignment] = (hit_id, worker_id)
            return assignment

    def give_back(self, assignment_id: str) -> None:
        """A worker returns a task unanswered."""
        with self._lock:
            self._pending.pop(assignment_id, None)

    def submit(self, assignment_id: str, answer: str) -> None:
        """The answer of an accepted assignment, as QuestionFormAnswers XML."""
        with self._lock:
            if assignment_id not in self._pending:
                raise RefusedError(
                    "AssignmentDoesNotExist", f"Nobody is at work on assignment {assignment_id}."
                )
            hit_id, worker_id = self._pending[assignment_id]
            hit = self.hit(hit_id)
            accepted, submitted = self._times(hit, worker_id)
            with self._data.change() as change:
                change.execute(
                    "INSERT INTO assignments VALUES (?, ?, ?, 'Submitted', ?, ?, ?, NULL)",
                    (assignment_id, hit_id, worker_id, answer, accepted, submitted),
                )
            del self._pending[assignment_id]

    def _times(self, hit: Hit, worker_id: str) -> tuple[int, int]:
        rng = generator(self._seed, "world", "seconds", hit.token, worker_id)
        accepted = EPOCH + int(rng.integers(60, 6 * 3600))
        seconds = max(15, int(rng.lognormal(math.log(95.0), 0.45)))
        return accepted, accepted + min(seconds, int(hit.request["AssignmentDurationInSeconds"]))

    def _decide(self, assignment_id: str, status: str, feedback: str | None, allowed: Sequence[str]) -> None:
        with self._lock, self._data.change() as change:
            row = change.execute(
                "SELECT a.status, h.deleted FROM assignments a JOIN hits h USING (hit_id) WHERE assignment_id = ?",
                (assignment_id,),
            ).fetchone()
            if row is None or row["deleted"]:
                raise RefusedError("AssignmentDoesNotExist", f"Assignment {assignment_id} does not exist.")
            if row["status"] not in allowed:
                raise RefusedError(
                    "InvalidAssignmentState",
                    f"This Assignment is currently in the state '{row['status']}'.  "
                    f"This operation can be called with a status of: {', '.join(allowed)}",
                )
            change.execute(
                "UPDATE assignments SET status = ?, feedback = ? WHERE assignment_id = ?",
                (status, feedback, assignment_id),
            )

    def _live(self, hit_id: str) -> Hit:
        hit = self.hit(hit_id)
        if hit.deleted:
            raise RefusedError("HITDoesNotExist", f"Hit {hit_id} does not exist.")
        return hit

    def _workers(self, hit_id: str) -> list[str]:
        rows = self._data.rows("SELECT worker_id FROM assignments WHERE hit_id = ?", hit_id)
        with self._lock:
            pending = [worker for hit, worker in self._pending.values() if hit == hit_id]
        return sorted({row["worker_id"] for row in rows} | set(pending))

    def _hits(self, where: str, *values: Any) -> list[Hit]:
        rows = self._data.rows(
            "SELECT *, (SELECT COUNT(*) FROM assignments a WHERE a.hit_id = hits.hit_id) AS answers, "
            "(SELECT COUNT(*) FROM assignments a WHERE a.hit_id = hits.hit_id AND status = 'Submitted') AS fresh "
            f"FROM hits {where}",
            *values,
        )
        with self._lock:
            at_work = [hit for hit, _ in self._pending.values()]
        return [
            Hit(
                r["number"], r["hit_id"], r["token"], json.loads(r["request"]), r["places"], r["created"],
                r["expiration"], bool(r["deleted"]), at_work.count(r["hit_id"]), r["fresh"],
                r["answers"] - r["fresh"],
            )
            for r in rows
        ]  # fmt: skip
