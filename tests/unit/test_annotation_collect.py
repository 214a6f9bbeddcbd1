"""Publish, answer and collect through a local Mechanical Turk and image host, and what a killed run leaves."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from imagenetv2 import archive
from imagenetv2.annotation import collect, frequencies, hits, mturk, services
from imagenetv2.annotation.journal import Journal
from imagenetv2.errors import InputError
from imagenetv2.job import Endpoints, Job
from imagenetv2.world.servers import page
from imagenetv2.world.servers.browser import Browser, LoadError
from imagenetv2.world.servers.people import Crowd as SimulatedCrowd
from imagenetv2.world.servers.questions import external_url
from imagenetv2.world.servers.recognition import Gallery, look
from imagenetv2.world.servers.votes import Pool
from imagenetv2.world.settings import People
from tests.unit import annotation_inputs as given

MakeJob = Callable[..., Job]


@pytest.fixture
def endpoints(tmp_path: Path) -> Iterator[Endpoints]:
    with given.local_services(tmp_path / "services") as found:
        yield found


@pytest.fixture
def tasks(make_job: MakeJob, tmp_path: Path) -> dict[str, Any]:
    """The artifact of the stage ``hits``, as input of the next one."""
    job = make_job("hits", config=given.CONFIG, inputs=given.inputs(tmp_path / "in"))
    hits.run(job)
    return {
        path.name: pd.read_parquet(path) if path.suffix == ".parquet" else path.read_bytes()
        for path in sorted(job.out.folder.iterdir())
    }


def assignments_job(make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints, **settings: Any) -> Job:
    config = {**given.CONFIG, "assignments": {**given.CONFIG["assignments"], **settings}}
    return make_job("assignments", config=config, inputs={"hits": tasks}, endpoints=endpoints)


class Crowd(threading.Thread):
    """People who open each task's page and tick what ``ticks(worker, token)`` says, until told to stop."""

    def __init__(self, endpoints: Endpoints, ticks: Callable[[str, str], bool], workers: int = 3) -> None:
        super().__init__(daemon=True)
        self.endpoints, self.ticks, self.workers = endpoints, ticks, workers
        self.stopped = threading.Event()
        self.pictures = 0

    def run(self) -> None:
        browser = Browser()
        while not self.stopped.wait(0.05):
            for offer in json.loads(browser.get(f"{self.endpoints.mturk}/mturk/work").data):
                names = [f"WORKER{n}" for n in range(self.workers)]
                new = [name for name in names if name not in offer["workers"]]
                for name in new[: offer["places"] - len(offer["workers"])]:
                    self._work(browser, offer, name)
        browser.close()

    def _work(self, browser: Browser, offer: dict[str, Any], worker: str) -> None:
        seen = page.read(browser.get(offer["url"]).data.decode())
        base = offer["url"].rsplit("/", 1)[0]
        self.pictures += sum(bool(browser.get(f"{base}/{box.source}").data) for box in seen.boxes)
        ticked = [box.value for box in seen.boxes if self.ticks(worker, box.value)]
        fields = {"page": [v for n, v in seen.hidden if n == "page"], "selected": ticked}
        given.answer(self.endpoints, offer["hitId"], worker, fields)

    def __enter__(self) -> Crowd:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stopped.set()
        self.join()


@pytest.fixture
def client(endpoints: Endpoints) -> Iterator[Any]:
    with closing(services.mturk(endpoints.mturk, "sandbox")) as found:
        yield found


def published(client: Any) -> list[dict[str, Any]]:
    return [hit for part in client.get_paginator("list_hits").paginate() for hit in part["HITs"]]


def even(worker: str, token: str) -> bool:
    return (int(token, 16) + int(worker[-1])) % 2 == 0


def table(job: Job, name: str = "assignments") -> pd.DataFrame:
    return pd.read_parquet(job.out.folder / f"{name}.parquet")


def test_from_tasks_to_frequencies(make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints) -> None:
    job = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even) as crowd:
        collect.run(job)
    answered, shown = table(job), tasks["tasks.parquet"]
    assert crowd.pictures == 4 * 3 * 8
    assert answered.groupby("task_id").size().eq(3).all() and answered["task_id"].nunique() == 4
    assert answered["worker"].nunique() == 3 and set(answered["status"]) == {"Approved"}
    assert table(job, "problems").empty
    numbers = {
        collect.answers.worker_hash(collect.worker_key(embedded=True, seed=job.seed), f"WORKER{n}"): n
        for n in range(3)
    }
    tokens = shown.set_index(["task_id", "position"])["token"]
    for row in answered.itertuples():
        expected = [
            p for p, token in tokens[row.task_id].items() if even(f"WORKER{numbers[row.worker]}", token)
        ]
        assert list(row.selected) == expected
    written = b"".join(p.read_bytes() for p in sorted((job.data / "stores").rglob("*")) if p.is_file())
    assert b"WORKER" not in written and b"WORKER" not in b"".join(
        p.read_bytes() for p in sorted(job.out.folder.iterdir())
    )
    after = make_job(
        "frequencies",
        inputs={
            "hits": tasks,
            "assignments": {f"{n}.parquet": table(job, n) for n in ("assignments", "problems")},
        },
    )
    frequencies.run(after)
    counts = table(after, "frequencies")
    assert (counts["shown"] == 3).all() and len(counts) == shown[
        ["image_id", "wnid"]
    ].drop_duplicates().shape[0]


def test_what_is_collected_is_kept_and_never_asked_for_again(
    make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints
) -> None:
    first = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even):
        collect.run(first)
    nobody = Endpoints(mturk="http://127.0.0.1:9", s3="http://127.0.0.1:9", pages="http://127.0.0.1:9")
    again = assignments_job(make_job, tasks, nobody)
    collect.run(again)
    pd.testing.assert_frame_equal(table(again), table(first))
    other_key = make_job(
        "assignments", config=given.CONFIG, inputs={"hits": tasks}, endpoints=endpoints, seed=first.seed + 1
    )
    with pytest.raises(InputError, match="another worker key"):
        collect.run(other_key)


@pytest.mark.parametrize(("calls", "noted"), [(0, True), (2, False), (2, True)])
def test_a_killed_run_goes_on_without_publishing_twice(
    make_job: MakeJob,
    tasks: dict[str, Any],
    endpoints: Endpoints,
    client: Any,
    monkeypatch: pytest.MonkeyPatch,
    calls: int,
    noted: bool,
) -> None:
    """The run is killed in its n-th call to create a task, before the service sees it or after it answered."""
    create, made = mturk.create, []

    def dying(client: Any, arguments: dict[str, Any]) -> str:
        if len(made) == calls:
            if noted:
                create(client, arguments)
            raise KeyboardInterrupt
        made.append(create(client, arguments))
        return made[-1]

    monkeypatch.setattr(mturk, "create", dying)
    with pytest.raises(KeyboardInterrupt):
        collect.run(assignments_job(make_job, tasks, endpoints))
    monkeypatch.setattr(mturk, "create", create)
    job = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even):
        collect.run(job)
    there = [hit["HITId"] for hit in published(client)]
    assert len(there) == 4 and set(there) == set(table(job)["hit_id"])


def test_when_nobody_comes_it_says_how_many_answers_are_in_and_goes_on_later(
    make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints
) -> None:
    with Crowd(endpoints, even, workers=2), pytest.raises(InputError, match="8 of 12 answers are in"):
        collect.run(assignments_job(make_job, tasks, endpoints, patience_seconds=1.0))
    job = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even):
        collect.run(job)
    assert len(table(job)) == 12


def test_embedded_tasks_are_published_anew_where_the_services_lost_them(
    make_job: MakeJob, tasks: dict[str, Any], tmp_path: Path
) -> None:
    with given.local_services(tmp_path / "one") as lost, pytest.raises(InputError, match="0 of 12"):
        collect.run(assignments_job(make_job, tasks, lost, patience_seconds=0.2))
    with given.local_services(tmp_path / "two") as fresh, Crowd(fresh, even):
        job = assignments_job(make_job, tasks, fresh)
        collect.run(job)
    assert len(table(job)) == 12
    events = [r["event"] for r in Journal(job.store("mturk/embedded") / "first-ledger.jsonl").rows()]
    assert events.count("gone") == 4 and events.count("created") == 8


def test_answers_that_do_not_fit_the_page_are_told_and_rejected_ones_keep_their_state(
    make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints, client: Any
) -> None:
    with pytest.raises(InputError, match="0 of 12"):
        collect.run(assignments_job(make_job, tasks, endpoints, patience_seconds=0.1))
    first = published(client)[0]["HITId"]
    given.answer(endpoints, first, "FORGER", {"selected": ["0" * 32]})
    rejected = given.answer(endpoints, first, "LAZY", {"selected": [""]})
    client.reject_assignment(AssignmentId=rejected, RequesterFeedback="nothing ticked")
    job = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even):
        collect.run(job)
    (problem,) = table(job, "problems")["problem"]
    assert "images that were not shown" in problem
    rows = table(job)
    assert len(rows) == 11
    assert rows.set_index("assignment_id").loc[rejected, "status"] == "Rejected"


def test_expired_tasks_are_offered_again(
    make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints, client: Any
) -> None:
    with pytest.raises(InputError, match="0 of 12"):
        collect.run(assignments_job(make_job, tasks, endpoints, patience_seconds=0.1))
    for hit in published(client):
        client.update_expiration_for_hit(HITId=hit["HITId"], ExpireAt=0)
    job = assignments_job(make_job, tasks, endpoints)
    with Crowd(endpoints, even):
        collect.run(job)
    assert len(table(job)) == 12


def test_the_host_holds_each_page_with_its_pictures_and_uploads_nothing_twice(
    make_job: MakeJob,
    tasks: dict[str, Any],
    endpoints: Endpoints,
    client: Any,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    for _ in range(2):
        caplog.clear()
        with caplog.at_level("INFO"), pytest.raises(InputError, match="0 of 12"):
            collect.run(assignments_job(make_job, tasks, endpoints, patience_seconds=0.1))
    assert "0 files uploaded, 0 tasks published" in caplog.text
    (tmp_path / "shown.zip").write_bytes(tasks["shown.zip"])
    browser = Browser()
    shown = tasks["tasks.parquet"].merge(tasks["pages.parquet"], on="task_id")
    found = [external_url(hit["Question"]) for hit in published(client)]
    addresses = {url.rsplit("/", 1)[1]: url for url in found}
    reader = archive.Reader(tmp_path / "shown.zip")
    for row in shown.sample(20, random_state=1).itertuples():
        document = browser.get(addresses[row.page])
        assert document.content_type == "text/html"
        loaded = browser.get(f"{document.url.rsplit('/', 1)[0]}/{row.token}.jpg")
        assert (loaded.content_type, loaded.data) == ("image/jpeg", reader.data(f"{row.image_id}.jpg"))
    with pytest.raises(LoadError):
        browser.get(f"{document.url}x")
    browser.close()


def test_two_runs_give_the_same_tables_whatever_the_order_of_the_answers(
    make_job: MakeJob, tasks: dict[str, Any], tmp_path: Path
) -> None:
    made = []
    for name in ("one", "two"):
        with given.local_services(tmp_path / name) as found, Crowd(found, even):
            job = assignments_job(make_job, tasks, found, batch="same")
            (job.store("mturk/embedded") / "same-0123456789-answers.jsonl").unlink(missing_ok=True)
            collect.run(job)
        made.append((job.out.folder / "assignments.parquet").read_bytes())
    assert made[0] == made[1]


def test_the_embedded_world_s_people_can_work_on_our_pages(
    make_job: MakeJob, tasks: dict[str, Any], endpoints: Endpoints, tmp_path: Path
) -> None:
    """They know the photographs by their looks alone, and tick those of which they say so on record."""
    (tmp_path / "shown.zip").write_bytes(tasks["shown.zip"])
    shown = archive.Reader(tmp_path / "shown.zip")
    files = [name.removesuffix(".jpg") for name in shown.names()]
    said = {(file, wnid): [int(file, 16) % 2, 1] * 5 for file in files for wnid in given.WNIDS}
    pool = Pool(1, People(workers=10), lambda file, wnid: 0.0, said, frozenset())
    gallery = Gallery(files, [look(shown.data(f"{file}.jpg")) for file in files])
    stop = threading.Event()
    people = threading.Thread(target=SimulatedCrowd(str(endpoints.mturk), pool, gallery).run, args=(stop,))
    job = assignments_job(make_job, tasks, endpoints)
    people.start()
    try:
        collect.run(job)
    finally:
        stop.set()
        people.join()
    cast = frequencies.votes(tasks["tasks.parquet"], table(job))
    by_image = cast.groupby("image_id")["selected"]
    assert by_image.mean()[[f for f in by_image.groups if int(f, 16) % 2]].eq(1.0).all()
    assert 0.2 < by_image.mean()[[f for f in by_image.groups if not int(f, 16) % 2]].mean() < 0.8
