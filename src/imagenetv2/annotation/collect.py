"""Stage ``assignments``: publish the tasks, wait for people, and collect what they answered.

Every answer that is in is collected and approved, in live mode too: people are paid for what is used. Whoever wants
to reject an answer does so at Mechanical Turk before the last one is in, or leaves it to the quality of workers in
the next stage. Answers are kept in ``data/stores/mturk/`` with workers as keyed hashes, so that they outlive
Mechanical Turk's own copy and nothing is asked twice.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from imagenetv2 import archive
from imagenetv2.annotation import answers, mturk, services
from imagenetv2.annotation.hosting import Host, upload
from imagenetv2.annotation.journal import Journal
from imagenetv2.annotation.keys import fingerprint, worker_key
from imagenetv2.annotation.ledger import Ledger, Round
from imagenetv2.annotation.publishing import Publisher
from imagenetv2.annotation.settings import Assignments, Hits
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.progress import progress


def run(job: Job) -> None:
    """Write assignments.parquet and problems.parquet."""
    settings = job.settings(Assignments)
    embedded = job.endpoints.mturk is not None
    mode = "embedded" if embedded else settings.mode
    round_ = Round(mode, settings.batch, job.read("hits").version)
    store = job.store(f"mturk/{mode}")
    key = worker_key(embedded=embedded, seed=job.seed)
    kept = Kept(store / f"{settings.batch}-{round_.version}-answers.jsonl", key)
    pages = job.read("hits").table("pages")
    wanted = sorted(kept.unfinished(pages["task_id"], job.settings(Hits).workers_per_task))
    if wanted:
        ask(job, round_, store / f"{settings.batch}-ledger.jsonl", kept, wanted)
    assignments, problems = answers.tables(kept.records.values())
    if len(problems):
        job.log.warning("%d answers cannot be used; problems.parquet says why", len(problems))
    job.out.table("assignments", assignments)
    job.out.table("problems", problems)
    job.log.info("%d answers to %d tasks", len(assignments), len(pages))


class Kept:
    """The record of answers of one round."""

    def __init__(self, path: Path, key: bytes) -> None:
        self.journal, self.key = Journal(path), key
        self.records = {row["assignment_id"]: row for row in self.journal.rows()}
        if any(row["key"] != fingerprint(key) for row in self.records.values()):
            raise InputError(
                f"{path} was written under another worker key than IMAGENETV2_WORKER_KEY; set the key of that time, "
                f"or set assignments.batch to a new name."
            )

    def unfinished(self, tasks: Iterable[str], workers: int) -> set[str]:
        """Those of the tasks that have fewer answers than that."""
        counts = Counter(row["task"] for row in self.records.values())
        return {task for task in tasks if counts[task] < workers}

    def add(self, rows: list[dict[str, Any]]) -> None:
        """Keep answers that are not kept yet."""
        new = [row for row in rows if row["assignment_id"] not in self.records]
        if new:
            self.journal.append(new)
            self.records |= {row["assignment_id"]: row for row in new}


def ask(job: Job, round_: Round, path: Path, kept: Kept, wanted: list[str]) -> None:
    """Publish the wanted tasks where they are not, wait until all are answered, and collect."""
    settings, hits = job.settings(Assignments), job.read("hits")
    table, pages = hits.table("tasks"), hits.table("pages").set_index("task_id")["page"]
    with ExitStack() as stack:
        client = stack.enter_context(closing(services.mturk(job.endpoints.mturk, settings.mode)))
        store = stack.enter_context(closing(services.s3(job.endpoints.s3)))
        publisher = Publisher(client, Ledger.open(path, round_), job.settings(Hits), settings, job.log)
        host = Host(store, settings.bucket, round_.version, job.endpoints.pages)
        addresses = {task: host.address(pages[task]) for task in wanted}
        with services.refusals("Mechanical Turk"):
            publisher.reconcile(wanted)
        with services.refusals("The image host"):
            uploaded = upload(
                host,
                table[table["task_id"].isin(wanted)],
                archive.Reader(hits.path("pages.zip")),
                archive.Reader(hits.path("shown.zip")),
            )
        with services.refusals("Mechanical Turk"):
            created = publisher.publish(addresses)
            job.log.info("%d files uploaded, %d tasks published", uploaded, created)
            ids = {task: publisher.ledger.hits[task] for task in wanted}
            await_and_collect(client, ids, Views.of(table, pages), kept, publisher)


def await_and_collect(
    client: Any, ids: Mapping[str, str], views: Views, kept: Kept, publisher: Publisher
) -> None:
    """Wait for the answers to the tasks of ``ids`` (HIT ids by task) and keep them.

    Tasks that expired before all their answers came are shown to workers again, once in a run.
    """
    settings, workers, round_ = publisher.settings, publisher.hits.workers_per_task, publisher.ledger.round
    for again in (False, True):
        arriving = arrivals(lambda: states(client, round_, ids), settings)
        for _ in progress(arriving, "answers", len(ids) * workers):
            pass
        collect(client, round_, ids, views, kept)
        short = sorted(kept.unfinished(ids, workers))
        if not short:
            return
        if again:
            break
        for task in short:
            mturk.prolong(client, ids[task], settings.lifetime_days)
    raise InputError(
        f"{len(short)} of {len(ids)} tasks ended without all their answers, such as {short[0]} ({ids[short[0]]}); "
        f"run snakemake again to offer them for another {settings.lifetime_days} days (assignments.lifetime_days)."
    )


@dataclass(frozen=True)
class Views:
    """What a task's page shows: positions by token, and the page's name without its suffix."""

    places: Mapping[str, Mapping[str, int]]
    pages: Mapping[str, str]

    @classmethod
    def of(cls, tasks: pd.DataFrame, pages: pd.Series[str]) -> Views:
        """From the table of tasks and the page of each task."""
        places = {
            str(task): dict(zip(rows["token"], (int(p) for p in rows["position"]), strict=True))
            for task, rows in tasks.groupby("task_id")
        }
        return cls(places, {str(t): str(p).removesuffix(".html") for t, p in pages.items()})


def arrivals(
    look: Callable[[], list[mturk.State]],
    settings: Assignments,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> Iterator[None]:
    """Yield once for each answer that comes in, until all are in.

    Raises InputError where no answer has come for ``patience_seconds``.
    """
    seen, since, pause = 0, clock(), min(0.1, settings.poll_seconds)
    while True:
        found = look()
        total, answered = sum(s.wanted for s in found), sum(s.submitted for s in found)
        for _ in range(seen, answered):
            yield
        if not any(s.waiting for s in found):
            return
        if answered > seen:
            seen, since = answered, clock()
        elif clock() - since > settings.patience_seconds:
            raise InputError(
                f"{answered} of {total} answers are in and none came for {settings.patience_seconds:g} seconds "
                f"(assignments.patience_seconds); run snakemake again to go on waiting, nothing is published twice."
            )
        sleep(pause)
        pause = min(2 * pause, settings.poll_seconds)


def collect(client: Any, round_: Round, ids: Mapping[str, str], views: Views, kept: Kept) -> None:
    """List, approve and keep all answers to the tasks of ``ids`` (HIT ids by task).

    Raises InputError where the service counts more answers than it lists.
    """

    def fetch(task: str) -> list[dict[str, Any]]:
        rows = []
        for assignment in mturk.assignments(client, ids[task]):
            if assignment["AssignmentStatus"] == "Submitted":
                mturk.approve(client, assignment["AssignmentId"])
                assignment = {**assignment, "AssignmentStatus": "Approved"}
            rows.append(answers.record(assignment, task, views.places[task], views.pages[task], kept.key))
        return rows

    listed: dict[str, int] = {}
    with ThreadPoolExecutor(services.THREADS) as pool:
        for task, rows in zip(ids, progress(pool.map(fetch, ids), "collecting", len(ids)), strict=True):
            kept.add(rows)
            listed[ids[task]] = len(rows)
    for state in states(client, round_, ids):
        if state.reviewed > listed[state.hit_id]:
            raise InputError(
                f"Mechanical Turk counts {state.reviewed} reviewed answers to task {state.hit_id} but listed "
                f"{listed[state.hit_id]}; run snakemake again to collect the rest."
            )


def states(client: Any, round_: Round, ids: Mapping[str, str]) -> list[mturk.State]:
    """States of the tasks of ``ids``, in that order."""
    found = mturk.states(client, round_)
    lost = [task for task, hit_id in ids.items() if hit_id not in found.get(task, {})]
    if lost:
        raise InputError(
            f"Mechanical Turk no longer lists task {lost[0]} ({ids[lost[0]]}); run snakemake again."
        )
    return [found[task][hit_id] for task, hit_id in ids.items()]
