"""The simulated workers, on pages that work and pages that don't."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from imagenetv2.artifacts import Artifact
from imagenetv2.job import Endpoints
from imagenetv2.world.servers import identifiers
from imagenetv2.world.servers.people import Crowd
from imagenetv2.world.servers.questions import ANSWERS
from imagenetv2.world.servers.recognition import gallery, look
from imagenetv2.world.servers.serve import running
from imagenetv2.world.servers.votes import Pool, pool
from imagenetv2.world.settings import People

from .small_world import QUESTION, boto, jpeg, make_world, photo, task_page

SEED, WNID, PLACES = 7, "n00000001", 10
PEOPLE = People(workers=12, careless=0.1)
POOL = range(24)
SOURCES = [f"x{n}.jpg" for n in POOL]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Artifact:
    """24 photographs with probabilities 0, 0.25 … 1 in turn, and one validation photograph."""
    truth = [(f"p{n}.jpg", WNID, n % 5 / 4, list[int]()) for n in POOL]
    return make_world(
        tmp_path_factory.mktemp("world") / "w",
        [*(photo(n) for n in POOL), photo(90, file=None, status="gone"), photo(91, status="broken")],
        [
            {"file": "v.jpg", "split": "val", "wnid": WNID},
            {"file": "t.jpg", "split": "train", "wnid": WNID},
        ],
        [*truth, ("v.jpg", WNID, 1.0, [])],
        {"p91.jpg": b"\xff\xd8\xff broken"},
    )


@contextmanager
def at_work(site: str | None, workers: Pool, world: Artifact) -> Iterator[None]:
    stop = threading.Event()
    crowd = Crowd(str(site), workers, gallery(world), pauses=(0.01,))
    thread = threading.Thread(target=crowd.run, args=(stop, 0.02))
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


class Requester:
    """Uploads pages and pictures, publishes tasks, and reads answers."""

    def __init__(self, endpoints: Endpoints) -> None:
        self.mturk, self.s3 = boto("mturk", endpoints.mturk), boto("s3", endpoints.s3)
        self.pages = endpoints.pages

    def __enter__(self) -> Requester:
        return self

    def __exit__(self, *_: object) -> None:
        self.mturk.close()
        self.s3.close()

    def upload(self, name: str, data: bytes, kind: str) -> None:
        self.s3.put_object(Bucket="b", Key=name, Body=data, ContentType=kind)

    def pictures(self) -> None:
        """The photographs under other names, encoded anew."""
        self.s3.create_bucket(Bucket="b")
        for n in POOL:
            self.upload(f"x{n}.jpg", jpeg(n, quality=80), "image/jpeg")

    def publish(self, token: str, html: str, kind: str = "text/html", places: int = PLACES) -> str:
        self.upload(f"{token}.html", html.encode(), kind)
        hit = self.mturk.create_hit(
            Title="t", Description="d", Reward="0.20", LifetimeInSeconds=3600, AssignmentDurationInSeconds=600,
            MaxAssignments=places, Question=QUESTION.format(f"{self.pages}/b/{token}.html"),
            UniqueRequestToken=token,
        )  # fmt: skip
        return str(hit["HIT"]["HITId"])

    def answers(self, hit: str) -> dict[str, tuple[Any, ...]]:
        """By worker: the pictures ticked, in order, and what else the service says."""
        rows = self.mturk.list_assignments_for_hit(HITId=hit, MaxResults=100)["Assignments"]
        return {
            a["WorkerId"]: (ticked(a["Answer"]), a["AssignmentId"], a["AcceptTime"], a["SubmitTime"])
            for a in rows
        }

    def wait(self, hit: str, places: int = PLACES) -> dict[str, tuple[Any, ...]]:
        until(lambda: len(self.answers(hit)) == places)
        return self.answers(hit)


def ticked(xml: str) -> list[str]:
    fields = {
        a.findtext(f"{{{ANSWERS}}}QuestionIdentifier"): a.findtext(f"{{{ANSWERS}}}FreeText")
        for a in ElementTree.fromstring(xml)
    }
    assert fields.pop("page") == "p&q"
    return [value for value in (fields.get("selected") or "").split("|") if value]


def until(done: Callable[[], bool]) -> None:
    for _ in range(600):
        if done():
            return
        time.sleep(0.05)
    raise AssertionError("it did not happen within 30 seconds")


def workers_of(world: Artifact) -> Pool:
    return pool(SEED, PEOPLE, world.table("truth"))


def test_people_answer_what_they_see(world: Artifact, tmp_path: Path) -> None:
    runs = []
    for run in ("first", "second"):
        workers = workers_of(world)
        with (
            running(world, seed=SEED, data=tmp_path / run, version="v") as endpoints,
            Requester(endpoints) as requester,
            at_work(endpoints.mturk, workers, world),
        ):
            requester.pictures()
            hits = [requester.publish(token, task_page(WNID, SOURCES)) for token in ("one", "two")]
            hits.append(requester.publish("all", task_page(WNID, SOURCES), places=20))
            runs.append([requester.wait(hit, n) for hit, n in zip(hits, (10, 10, 12), strict=True)])
    assert runs[0] == runs[1]
    numbers = {identifiers.worker_id(SEED, n): n for n in range(PEOPLE.workers)}
    for answers, token in zip(runs[0], ("one", "two", "all"), strict=True):
        assert {numbers[w] for w in answers} == set(workers.chosen(token, 20 if token == "all" else PLACES))
        for worker, (selected, *_) in answers.items():
            expected = [f"x{n}" for n in POOL if workers.selects(numbers[worker], f"p{n}.jpg", WNID)]
            assert selected == expected
    assert set(runs[0][0]) != set(runs[0][1])


def test_people_go_on_after_a_restart_at_another_port(world: Artifact, tmp_path: Path) -> None:
    workers = workers_of(world)
    with (
        running(world, seed=SEED, data=tmp_path, version="v") as endpoints,
        Requester(endpoints) as requester,
    ):
        requester.pictures()
        hit = requester.publish("one", task_page(WNID, SOURCES[:3]))
        with at_work(endpoints.mturk, workers, world):
            until(lambda: len(requester.answers(hit)) > 0)
        before = requester.answers(hit)
    with (
        running(world, seed=SEED, data=tmp_path, version="v") as endpoints,
        Requester(endpoints) as requester,
        at_work(endpoints.mturk, workers, world),
    ):
        after = requester.wait(hit)
    assert before.items() <= after.items()
    with (
        running(world, seed=SEED, data=tmp_path / "new", version="v") as endpoints,
        Requester(endpoints) as requester,
        at_work(endpoints.mturk, workers, world),
    ):
        requester.pictures()
        assert requester.wait(requester.publish("one", task_page(WNID, SOURCES[:3]))) == after


GOOD = task_page(WNID, SOURCES[:2])
BROKEN = {
    "no form": GOOD.replace("<form", "<div"),
    "two forms": GOOD + GOOD,
    "method get": GOOD.replace('method="post" ', ""),
    "no class": GOOD.replace(f' data-wnid="{WNID}"', ""),
    "no assignmentId": GOOD.replace('name="assignmentId"', 'name="assignment"'),
    "no button": GOOD.replace("button", "b"),
    "button that does not submit": GOOD.replace("<button", '<button type="button"'),
    "no pictures": task_page(WNID, []),
    "picture outside the label": GOOD.replace("<img", "</label><img"),
    "box without label": GOOD.replace("<label>", "<p>").replace("</label>", "</p>"),
    "same value twice": task_page(WNID, [SOURCES[0], SOURCES[0]]),
    "picture missing": GOOD.replace("x1.jpg", "missing.jpg"),
    "picture not a picture": GOOD.replace("x1.jpg", "text.jpg"),
    "nothing but assignmentId": GOOD.replace('name="page"', "").replace("x0", "v").replace("x1", "v2"),
}


def test_pages_that_do_not_work_yield_no_votes(
    world: Artifact, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.WARNING, "imagenetv2.world.servers.people")
    with (
        running(world, seed=SEED, data=tmp_path, version="v") as endpoints,
        Requester(endpoints) as requester,
        at_work(endpoints.mturk, workers_of(world), world),
    ):
        requester.pictures()
        requester.upload("text.jpg", b"not a picture", "image/jpeg")
        for n in ("v", "v2"):
            requester.upload(
                f"{n}.jpg", jpeg(0, quality=70), "image/jpeg"
            )  # p0 is ticked by the careless only
        hits = {
            name: requester.publish(str(n), html, places=1) for n, (name, html) in enumerate(BROKEN.items())
        }
        hits["download"] = requester.publish("download", GOOD, "binary/octet-stream", places=1)
        good = requester.publish("good", GOOD)
        requester.wait(good)
        until(lambda: len(caplog.records) >= len(hits))
        found = {name: len(requester.answers(hit)) for name, hit in hits.items()}
        left = {name for name, hit in hits.items() if any(hit in r.getMessage() for r in caplog.records)}
    assert found == dict.fromkeys(hits, 0)
    assert left == set(hits)
    ids = [identifiers.worker_id(SEED, n) for n in range(PEOPLE.workers)]
    assert not any(worker in r.getMessage() for r in caplog.records for worker in ids)


def test_recorded_votes_are_replayed(tmp_path: Path) -> None:
    votes = {f"p{n}.jpg": [(n >> bit) & 1 for bit in range(12)] for n in range(1, 9)}
    world = make_world(
        tmp_path / "w",
        [photo(n) for n in range(1, 10)],
        truth=[(file, WNID, sum(v) / 12, v) for file, v in votes.items()],
    )
    workers = workers_of(world)
    for file, recorded in votes.items():
        assert [workers.selects(n, file, WNID) for n in range(12)] == [bool(v) for v in recorded]
    assert not any(workers.selects(n, "p9.jpg", WNID) for n in range(12))


def test_the_pool_selects_as_often_as_the_truth_says(world: Artifact) -> None:
    """Mean over many photographs and all workers, careless ones included; 6 standard errors."""
    people = People(workers=40, careless=0.1)
    for p in (0.1, 0.5, 0.93):
        files = [f"f{n}" for n in range(500)]
        frame = world.table("truth").head(1)
        known = pool(SEED, people, frame)
        workers = Pool(SEED, people, lambda file, wnid, p=p: p, {}, known.careless)
        mean = sum(workers.selects(w, f, WNID) for w in range(40) for f in files) / 20_000
        assert abs(mean - p) < 6 * (p * (1 - p) / 20_000) ** 0.5
    assert len(known.careless) == 4
    assert len(set(known.chosen("t", 40))) == 40


def test_photographs_are_recognised_by_their_looks(world: Artifact) -> None:
    known = gallery(world)
    seen = [look(jpeg(n, quality=60, side=96)) for n in POOL]
    assert known.recognise(seen) == [f"p{n}.jpg" for n in POOL]
    assert known.recognise([look(jpeg(10**6)), look(jpeg(10**6 + 1)), look(jpeg(555))]) == [
        "v.jpg",
        None,
        None,
    ]
    assert "p91.jpg" not in known.files
    assert known.recognise([]) == []
