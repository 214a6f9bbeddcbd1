"""The ledger of published tasks: what was intended before each call, and what came of it.

Mechanical Turk remembers a request's token for a day only; the ledger is what keeps a task from being published, and
paid, twice. Each row says in which mode it was written (embedded, sandbox or live), and a ledger holds one mode.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from imagenetv2.annotation.journal import Journal
from imagenetv2.errors import InputError


@dataclass(frozen=True)
class Round:
    """What is published together: mode, batch, and version of the tasks."""

    mode: str
    batch: str
    version: str

    def token(self, task_id: str) -> str:
        """UniqueRequestToken of a task: 64 hex digits, the most that Mechanical Turk takes."""
        parts = "\x1f".join((self.batch, self.version, task_id))
        return hashlib.sha256(parts.encode()).hexdigest()[:64]

    def annotation(self, task_id: str) -> str:
        """RequesterAnnotation, by which a task is found again at the service."""
        return f"imagenetv2 {self.batch} {self.version} {task_id}"

    def task(self, annotation: str) -> str | None:
        """The task of an annotation; None where it belongs to another round."""
        start = self.annotation("")
        return annotation.removeprefix(start) if annotation.startswith(start) else None


@dataclass
class Ledger:
    """The rows of one batch in one mode; a batch may hold several versions of the tasks."""

    path: Path
    round: Round
    hits: dict[str, str] = field(default_factory=dict)
    intended: set[str] = field(default_factory=set)
    committed: Decimal = Decimal(0)

    @classmethod
    def open(cls, path: Path, round_: Round) -> Ledger:
        """Read what is there. Raises InputError where it was written in another mode or for another batch."""
        ledger = cls(path, round_)
        costs: dict[tuple[str, str], Decimal] = {}
        for row in Journal(path).rows():
            for name in ("mode", "batch"):
                if row[name] != getattr(round_, name):
                    raise InputError(
                        f"{path} holds a row of {name} {row[name]}, but this run's is {getattr(round_, name)}; "
                        f"set assignments.batch to a new name."
                    )
            costs[row["version"], row["task"]] = Decimal(row["cost"])
            if row["version"] == round_.version:
                ledger.intended.add(row["task"])
                if row["event"] == "created":
                    ledger.hits[row["task"]] = row["hit_id"]
                elif row["event"] == "gone":
                    ledger.hits.pop(row["task"], None)
        ledger.committed = sum(costs.values(), Decimal(0))
        return ledger

    def intend(self, task_id: str, cost: Decimal) -> None:
        """Before the call: this task is about to be published. An intent counts as spent."""
        self._write("intent", task_id, cost)
        if task_id not in self.intended:
            self.intended.add(task_id)
            self.committed += cost

    def created(self, task_id: str, cost: Decimal, hit_id: str) -> None:
        """After the call: the service knows the task by ``hit_id``."""
        self._write("created", task_id, cost, hit_id=hit_id)
        self.hits[task_id] = hit_id

    def gone(self, task_id: str, cost: Decimal) -> None:
        """The service knows the task no more."""
        self._write("gone", task_id, cost, hit_id=self.hits.pop(task_id))

    def _write(self, event: str, task_id: str, cost: Decimal, **more: str) -> None:
        row = {
            "event": event,
            "mode": self.round.mode,
            "batch": self.round.batch,
            "version": self.round.version,
            "task": task_id,
            "token": self.round.token(task_id),
            "cost": str(cost),
            **more,
        }
        Journal(self.path).append([row])
