"""Fetching from a host with faults: what passes, what is gone, what failed, and that nothing is lost."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.benchmark.decoding import Decoded, Undecodable
from imagenetv2.candidates.download import check_failures, fetch_all
from imagenetv2.candidates.fetching import Fetcher, user_agent
from imagenetv2.candidates.patience import Backoff
from imagenetv2.candidates.photo_store import Outcome, PhotoStore
from imagenetv2.candidates.pool import Pool, Rejection, judge
from imagenetv2.errors import InputError
from tests.unit.scripted_server import Asked, FakeClock, Reply, Scripted, scripted

URL = "https://live.staticflickr.com/65535/42_6e12345678_z.jpg?q=1"
GOOD = Reply(200, b"bytes of a photograph", "image/jpeg")


def _fetcher(server: Scripted, attempts: int = 3, **fields: object) -> tuple[Fetcher, FakeClock]:
    clock = FakeClock()
    fetch = Fetcher(Backoff(attempts), clock, user_agent("me@example.org"), server.url)
    return dataclasses.replace(fetch, **fields), clock  # type: ignore[arg-type]


def _fetch(answer: Callable[[Asked, int], Reply], **fields: object) -> tuple[Outcome, bytes | None, Scripted]:
    with scripted(answer) as server:
        fetch, _ = _fetcher(server, **fields)  # type: ignore[arg-type]
        outcome, data = fetch.fetch("42", URL)
    return outcome, data, server


def test_the_host_is_replaced_and_the_path_stays() -> None:
    outcome, data, server = _fetch(lambda request, before: GOOD)
    assert (outcome.state, outcome.url, outcome.content_type, outcome.bytes) == (
        "fetched",
        URL,
        "image/jpeg",
        21,
    )
    assert data == GOOD.body
    assert server.asked[0].path == "/65535/42_6e12345678_z.jpg?q=1"
    assert server.asked[0].headers["User-Agent"].startswith("imagenetv2/")
    assert "me@example.org" in server.asked[0].headers["User-Agent"]


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, b"<html>", "text/html"),
        Reply(500),
        Reply(503),
        Reply(drop=True),
        Reply(200, b"half", "image/jpeg", length=5000),
    ],
)
def test_faults_that_may_pass(fault: Reply) -> None:
    outcome, data, server = _fetch(lambda request, before: fault if before < 2 else GOOD)
    assert (outcome.state, data) == ("fetched", GOOD.body)
    assert len(server.asked) == 3
    outcome, data, server = _fetch(lambda request, before: fault)
    assert (outcome.state, data) == ("failed", None)
    assert "after 3 attempts" in outcome.detail
    assert outcome.http_status == (None if fault.drop or fault.length else fault.status)


def test_retry_after_is_honoured() -> None:
    with scripted(lambda r, n: GOOD if n else Reply(429, headers={"Retry-After": "30"})) as server:
        fetch, clock = _fetcher(server)
        assert fetch.fetch("42", URL)[0].state == "fetched"
    assert clock.sleeps == [30.0]


@pytest.mark.parametrize(
    ("reply", "state", "asked"),
    [
        (
            Reply(302, headers={"Location": "https://s.yimg.com/pw/images/en-us/photo_unavailable_l.png"}),
            "unavailable",
            1,
        ),
        (Reply(302, headers={"Location": "/photo_unavailable.gif"}), "unavailable", 1),
        (Reply(404), "gone", 1),
        (Reply(410), "gone", 1),
        (Reply(403), "failed", 1),
        (Reply(302, headers={"Location": "/65535/42_6e12345678_z.jpg?q=1"}), "failed", 18),
    ],
)
def test_what_will_not_come(reply: Reply, state: str, asked: int) -> None:
    outcome, data, server = _fetch(lambda request, before: reply)
    assert (outcome.state, data) == (state, None)
    assert len(server.asked) == asked


def test_a_redirect_to_another_place_is_followed() -> None:
    moved = Reply(301, headers={"Location": "https://farm1.staticflickr.com/new.jpg"})
    outcome, data, server = _fetch(lambda request, before: GOOD if request.path == "/new.jpg" else moved)
    assert (outcome.state, data, outcome.http_status) == ("fetched", GOOD.body, 200)
    assert [a.path for a in server.asked] == ["/65535/42_6e12345678_z.jpg?q=1", "/new.jpg"]


def test_a_known_placeholder_is_no_photograph() -> None:
    from hashlib import sha256

    known = frozenset({sha256(GOOD.body).hexdigest()})
    outcome, data, _ = _fetch(lambda request, before: GOOD, placeholders=known)
    assert (outcome.state, data) == ("unavailable", None)


def test_each_photograph_is_asked_for_once_and_only_failures_again(tmp_path: Path) -> None:
    urls = {str(n): f"https://host/{n}" for n in range(40)}

    def answer(request: Asked, before: int) -> Reply:
        number = int(request.path[1:])
        if number == 3 and before < 2:
            return Reply(500)
        return Reply(404) if number == 5 else Reply(200, request.path.encode(), "image/png")

    with scripted(answer) as server:
        fetch, _ = _fetcher(server, attempts=2)
        first = fetch_all(urls, PhotoStore(tmp_path), fetch, 4)
        assert first["3"].state == "failed"
        check_failures(first)
        asked = len(server.asked)
        second = fetch_all(urls, PhotoStore(tmp_path), fetch, 4)
        assert len(server.asked) == asked + 1
    assert {o.state for n, o in second.items() if n != "5"} == {"fetched"}
    assert second["5"].state == "gone"
    assert list(second) == sorted(urls)
    assert PhotoStore(tmp_path).path("3").read_bytes() == b"/3"


def test_a_run_that_is_cut_off_keeps_what_it_has(tmp_path: Path) -> None:
    urls = {str(n): f"https://host/{n}" for n in range(30)}
    with scripted(lambda r, n: Reply(200, r.path.encode(), "image/png")) as server:
        fetch, _ = _fetcher(server)
        whole = fetch_all(urls, PhotoStore(tmp_path), fetch, 2)
        states = tmp_path / "states.jsonl"
        lines = states.read_bytes().splitlines(keepends=True)
        states.write_bytes(b"".join(lines[:20]) + lines[20][:30])
        asked = len(server.asked)
        assert fetch_all(urls, PhotoStore(tmp_path), fetch, 2) == whole
        assert len(server.asked) == asked + 10


def test_another_address_is_another_file(tmp_path: Path) -> None:
    with scripted(lambda r, n: Reply(200, r.path.encode(), "image/png")) as server:
        fetch, _ = _fetcher(server)
        for url in ("https://host/a", "https://host/b"):
            fetch_all({"1": url}, PhotoStore(tmp_path), fetch, 1)
    assert PhotoStore(tmp_path).path("1").read_bytes() == b"/b"


def test_a_dead_host_ends_the_run_early(tmp_path: Path) -> None:
    urls = {str(n): f"https://host/{n}" for n in range(1000)}
    with scripted(lambda r, n: Reply(drop=True)) as server:
        fetch, _ = _fetcher(server, attempts=1)
        with pytest.raises(InputError, match="out of reach"):
            fetch_all(urls, PhotoStore(tmp_path), fetch, 2)
    assert len(server.asked) < 100


def test_more_failures_than_a_tenth_stop_the_stage() -> None:
    def outcomes(failed: int) -> dict[str, Outcome]:
        return {
            str(n): Outcome(str(n), "u", "failed" if n < failed else "fetched", detail="HTTP 500")
            for n in range(20)
        }

    check_failures(outcomes(2))
    with pytest.raises(InputError, match=r"3 of 20 downloads failed, the first, u, with: HTTP 500"):
        check_failures(outcomes(3))


def test_ids_that_are_no_numbers_never_become_paths(tmp_path: Path) -> None:
    for wrong in ("../../etc/passwd", "", "1/2", "١"):
        with pytest.raises(ValueError, match="no Flickr id"):
            PhotoStore(tmp_path).path(wrong)


def _decoded(
    width: int = 50, height: int = 40, image_id: str = "i", stored: tuple[int, int] = (50, 40)
) -> Decoded:
    return Decoded(image_id, b"", width, height, 1.0, "sha", "JPEG", 1, 0, *stored)


@pytest.mark.parametrize(
    ("stated", "reason"),
    [
        (None, None),
        ((50, 40), None),
        ((52, 38), None),
        ((40, 50), None),
        ((53, 40), "unavailable"),
        ((500, 400), "unavailable"),
    ],
)
def test_a_file_of_another_size_than_stated_is_a_placeholder(
    stated: tuple[int, int] | None, reason: str | None
) -> None:
    result = judge(_decoded(), stated, 32)
    assert (result.reason if isinstance(result, Rejection) else None) == reason


def test_small_and_undecodable_files_are_told_apart() -> None:
    small = judge(_decoded(50, 31, stored=(50, 31)), None, 32)
    assert isinstance(small, Rejection)
    assert small.reason == "too_small"
    assert judge(Undecodable("undecodable", "JPEG cannot be decoded"), None, 32) == Rejection(
        "undecodable", "JPEG cannot be decoded"
    )


def test_of_equal_pixels_the_earliest_upload_is_named_whatever_the_order() -> None:
    rows = [
        {
            "wnid": wnid,
            "photo_id": photo_id,
            "query": f"q{photo_id}",
            "rung": 0,
            "owner_id": "",
            "license": "",
            "uploaded": at,
        }
        for wnid, photo_id, at in (("a", "9", 7), ("a", "10", 7), ("a", "11", 8), ("b", "11", 8))
    ]
    for seed in range(10):
        pool = Pool({"a": 0, "b": 1})
        for place in np.random.default_rng(seed).permutation(len(rows)):
            pool.add(rows[place], _decoded())
        found = pool.candidates_table().set_index("wnid")
        assert found["photo_id"].to_dict() == {"a": "9", "b": "11"}
        assert found.loc["a", "query"] == "q9"
        assert pool.copies_table()["photo_id"].tolist() == ["10", "11", "9"]


def test_a_proxy_of_the_environment_is_not_asked_for_a_local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    assert _fetch(lambda request, before: GOOD)[0].state == "fetched"
