"""The API client against a server with every fault that the API is known for."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.candidates.flickr import KEY, SECRET, Credentials, Flickr
from imagenetv2.candidates.patience import Backoff, TransientError
from imagenetv2.errors import InputError
from tests.unit.scripted_server import Asked, FakeClock, Reply, Scripted, scripted

GOOD = Reply.json({"stat": "ok", "photos": {"total": "0", "perpage": 500, "photo": []}})
CANARY = "canary-key-1f7a"


def _search(server: Scripted, attempts: int = 4) -> tuple[Mapping[str, Any], FakeClock]:
    clock = FakeClock()
    flickr = Flickr(
        Credentials(CANARY, "canary-secret"), server.url, Backoff(attempts), np.random.default_rng(1), clock
    )
    return flickr.search({"text": "cat"}, lambda answer: None), clock


def _then_good(*faults: Reply) -> Callable[[Asked, int], Reply]:
    return lambda request, before: faults[before] if before < len(faults) else GOOD


@pytest.mark.parametrize(
    "fault",
    [
        Reply(429, b"<html>Too Many Requests</html>", "text/html"),
        Reply(500, b"<html>oops</html>", "text/html"),
        Reply(503, b"", "text/plain"),
        Reply(200, b"<html>maintenance</html>", "text/html"),
        Reply(200, b"", "application/json"),
        Reply(200, b"[1, 2]", "application/json"),
        Reply(200, b'{"stat": "ok"', "application/json"),
        Reply(200, b'{"stat": "ok"}', "application/json", length=500),
        Reply(drop=True),
        Reply.json({"stat": "fail", "code": 105, "message": "Service currently unavailable"}),
        Reply.json({"stat": "fail", "code": "10", "message": "search unavailable"}),
    ],
)
def test_faults_that_may_pass_are_tried_again(fault: Reply) -> None:
    with scripted(_then_good(fault, fault)) as server:
        answer, clock = _search(server)
    assert answer["stat"] == "ok"
    assert len(server.asked) == 3
    assert len(clock.sleeps) == 2
    assert 0 < clock.sleeps[0] <= 0.5 < clock.sleeps[1] <= 1.0


def test_retry_after_is_honoured() -> None:
    with scripted(_then_good(Reply(429, b"", "text/html", {"Retry-After": "17"}))) as server:
        assert _search(server)[1].sleeps == [17.0]


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (Reply(429, b"<html>", "text/html"), "HTTP 429"),
        (Reply(200, b"<html>", "text/html"), "HTTP 200, but the answer is not JSON"),
        (Reply(drop=True), "the connection failed"),
    ],
)
def test_after_the_last_attempt_the_error_names_the_cause(fault: Reply, message: str) -> None:
    with scripted(lambda request, before: fault) as server, pytest.raises(InputError, match=message) as error:
        _search(server, attempts=3)
    assert len(server.asked) == 3
    assert CANARY not in str(error.value)


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (
            Reply.json({"stat": "fail", "code": 100, "message": f"Invalid API Key {CANARY}"}),
            "refuses the API key",
        ),
        (Reply.json({"stat": "fail", "code": 98, "message": "Invalid auth token"}), "refuses the API key"),
        (Reply(401, b"oauth_problem=consumer_key_unknown", "text/plain"), "refuses the API key"),
        (Reply.json({"stat": "fail", "code": 18, "message": "Illogical arguments"}), "contradict"),
        (Reply.json({"stat": "fail", "code": 3, "message": "Parameterless"}), "without arguments"),
        (Reply(400, b"", "text/plain"), "HTTP 400"),
    ],
)
def test_refusals_stop_at_once(fault: Reply, message: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    with scripted(lambda request, before: fault) as server, pytest.raises(InputError, match=message) as error:
        _search(server)
    assert len(server.asked) == 1
    assert CANARY not in str(error.value)
    assert CANARY not in caplog.text


def test_an_answer_that_the_caller_refuses_is_asked_for_again() -> None:
    seen: list[Any] = []

    def check(answer: Any) -> None:
        seen.append(answer)
        if len(seen) == 1:
            raise TransientError("not yet")

    with scripted(_then_good()) as server:
        flickr = Flickr(Credentials("k", "s"), server.url, Backoff(2), np.random.default_rng(1), FakeClock())
        flickr.search({"text": "cat"}, check)
    assert len(seen) == 2


def test_what_is_sent_and_that_nothing_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with scripted(_then_good()) as server:
        _search(server)
    form = server.asked[0].form
    assert server.asked[0].path == "/services/rest/"
    assert (form["method"], form["text"], form["format"]) == ("flickr.photos.search", "cat", "json")
    assert form["nojsoncallback"] == "1"
    assert sorted(tmp_path.iterdir()) == []


def test_the_pace_is_kept_for_every_attempt() -> None:
    paced: list[None] = []
    with scripted(_then_good(Reply(500))) as server:
        flickr = Flickr(
            Credentials("k", "s"), server.url, Backoff(2), np.random.default_rng(1), FakeClock(),
            lambda: paced.append(None),
        )  # fmt: skip
        flickr.search({"text": "cat"}, lambda answer: None)
    assert len(paced) == 2


@pytest.mark.parametrize("missing", [KEY, SECRET])
def test_missing_credentials_are_named_and_present_ones_never_shown(missing: str) -> None:
    environment = {KEY: CANARY, SECRET: CANARY}
    assert CANARY not in repr(Credentials.of_environment(environment))
    with pytest.raises(InputError, match=missing):
        Credentials.of_environment({**environment, missing: " "})


def test_a_proxy_of_the_environment_is_not_asked_for_a_local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with scripted(_then_good()) as server:
        assert _search(server)[0]["stat"] == "ok"
