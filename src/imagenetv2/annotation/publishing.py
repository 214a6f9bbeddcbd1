"""Publishing tasks: nothing twice, nothing above the limit, and what it costs is said first."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from imagenetv2.annotation import mturk
from imagenetv2.annotation.cost import cost
from imagenetv2.annotation.ledger import Ledger
from imagenetv2.annotation.settings import Assignments, Hits
from imagenetv2.errors import InputError
from imagenetv2.progress import progress


@dataclass(frozen=True)
class Publisher:
    """The service, the ledger, and the settings under which tasks are published."""

    client: Any
    ledger: Ledger
    hits: Hits
    settings: Assignments
    log: logging.Logger

    @property
    def each(self) -> Decimal:
        """Cost of one task, fees included, in US dollars."""
        return cost(1, self.hits.workers_per_task, self.hits.reward)

    def reconcile(self, tasks: Iterable[str]) -> None:
        """Bring the ledger in line with the service.

        A task that the service has and the ledger lacks is written down: the process was killed between the call and
        the note. One that the ledger has and the service lacks will be published again, but never in live mode.
        """
        there = mturk.states(self.client, self.ledger.round)
        for task_id in sorted(tasks):
            known, found = self.ledger.hits.get(task_id), there.get(task_id, {})
            if known is None and found:
                self.ledger.created(task_id, self.each, min(found))
            elif known is not None and known not in found:
                if self.ledger.round.mode == "live":
                    raise InputError(
                        f"{self.ledger.path}: task {task_id} was published as {known}, which Mechanical Turk does not "
                        f"list any more; it is not paid for twice: set assignments.batch to a new name to publish anew."
                    )
                self.ledger.gone(task_id, self.each)
            if len(found) > 1:
                self.log.warning("task %s is at the service %d times; one counts", task_id, len(found))

    def publish(self, addresses: Mapping[str, str]) -> int:
        """Create the tasks that are not there yet, from their pages' addresses; returns how many that were."""
        missing = {t: mturk.question(a) for t, a in sorted(addresses.items()) if t not in self.ledger.hits}
        self._agree_to_pay(missing)
        for task_id, xml in progress(missing.items(), "publishing tasks", len(missing)):
            self.ledger.intend(task_id, self.each)
            arguments = mturk.request(self.ledger.round, task_id, xml, self.hits, self.settings)
            self.ledger.created(task_id, self.each, mturk.create(self.client, arguments))
        return len(missing)

    def _agree_to_pay(self, missing: Mapping[str, str]) -> None:
        """Raises InputError where live tasks would cost more than the limit, with what this batch has cost before."""
        if self.ledger.round.mode != "live" or not missing:
            return
        new = sum(1 for task_id in missing if task_id not in self.ledger.intended) * self.each
        total, limit = self.ledger.committed + new, self.settings.spend_limit
        self.log.warning(
            "%d live tasks will cost %s US dollars, fees included; with earlier ones of batch %s %s of at most %s",
            len(missing), new, self.settings.batch, total, limit,
        )  # fmt: skip
        if limit is None or total > limit:
            raise InputError(
                f"assignments.spend_limit is {limit} US dollars but batch {self.settings.batch} would cost {total}, "
                f"fees included; nothing was published; raise the limit or reduce the tasks."
            )
