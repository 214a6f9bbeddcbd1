"""Ledger, requests and refusals: nothing twice, nothing above the limit, no mode mixed with another."""

from __future__ import annotations

import logging
import re
from decimal import Decimal
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from botocore.stub import Stubber

from imagenetv2.annotation import mturk, services
from imagenetv2.annotation.collect import arrivals
from imagenetv2.annotation.journal import Journal
from imagenetv2.annotation.ledger import Ledger, Round
from imagenetv2.annotation.publishing import Publisher
from imagenetv2.annotation.settings import Assignments, Hits
from imagenetv2.errors import InputError

ROUND = Round("live", "first", "0123456789")
HIT = "3TVSS0C0E1Z8G946BFKQLBD6IXQWTX"
LIVE = Assignments(mode="live", spend_limit=Decimal("5.00"))


def client() -> Any:
    return services.mturk("http://127.0.0.1:9", "sandbox")


def hit(hit_id: str, task: str, **facts: Any) -> dict[str, Any]:
    return {
        "HITId": hit_id, "RequesterAnnotation": ROUND.annotation(task), "MaxAssignments": 10, "HITStatus": "Assignable",
        "NumberOfAssignmentsAvailable": 10, "NumberOfAssignmentsPending": 0, "NumberOfAssignmentsCompleted": 0, **facts,
    }  # fmt: skip


def publisher(service: Any, path: Path, settings: Assignments = LIVE, mode: str = "live") -> Publisher:
    ledger = Ledger.open(path, Round(mode, "first", "0123456789"))
    return Publisher(service, ledger, Hits(reward=Decimal("0.10")), settings, logging.getLogger("imagenetv2"))


def test_a_journal_forgives_a_torn_last_line_and_nothing_else(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    assert journal.rows() == []
    journal.append([{"a": "ä"}, {"a": 2}])
    with journal.path.open("ab") as file:
        file.write(b'{"a": 3')
    assert journal.rows() == [{"a": "ä"}, {"a": 2}]
    journal.append([{"a": 4}])
    assert journal.rows() == [{"a": "ä"}, {"a": 2}, {"a": 4}]
    journal.path.write_bytes(b'{"a": 1}\n{"a"\n{"a": 2}\n')
    with pytest.raises(InputError, match="line 2, is damaged"):
        journal.rows()


def test_a_torn_line_longer_than_a_block_is_cut_off(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j.jsonl")
    journal.path.write_bytes(b"x" * 10_000)
    journal.append([{"a": 1}])
    journal.path.write_bytes(journal.path.read_bytes() + b"y" * 10_000)
    journal.append([{"a": 2}])
    assert journal.rows() == [{"a": 1}, {"a": 2}]


def test_a_ledger_holds_one_mode_and_remembers_what_was_intended(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "l.jsonl", ROUND)
    ledger.intend("a", Decimal("1.40"))
    ledger.created("a", Decimal("1.40"), HIT)
    ledger.intend("b", Decimal("1.40"))
    again = Ledger.open(ledger.path, ROUND)
    assert (again.hits, again.intended, again.committed) == ({"a": HIT}, {"a", "b"}, Decimal("2.80"))
    assert all(row["mode"] == "live" for row in Journal(ledger.path).rows())
    other = Ledger.open(ledger.path, Round("live", "first", "fedcba9876"))
    assert (other.hits, other.committed) == ({}, Decimal("2.80")), (
        "the limit is the batch's, over all versions"
    )
    with pytest.raises(InputError, match="mode live, but this run's is sandbox"):
        Ledger.open(ledger.path, Round("sandbox", "first", "0123456789"))


def test_tokens_are_as_long_as_mturk_allows_and_differ_by_batch_version_and_task() -> None:
    tokens = {
        Round("live", batch, version).token(task)
        for batch in "ab"
        for version in ("1", "2")
        for task in ("x", "y")
    }
    assert len(tokens) == 8 and all(re.fullmatch("[0-9a-f]{64}", token) for token in tokens)
    assert ROUND.task(ROUND.annotation("n1-0001")) == "n1-0001"
    assert ROUND.task("imagenetv2 second 0123456789 n1-0001") is None


def test_the_question_is_an_external_question_whose_bytes_are_counted() -> None:
    root = ElementTree.fromstring(mturk.question("https://host/a?b=1&c=2"))
    assert root.tag == f"{{{mturk.SCHEMA}}}ExternalQuestion"
    assert root.findtext(f"{{{mturk.SCHEMA}}}ExternalURL") == "https://host/a?b=1&c=2"
    with pytest.raises(InputError, match="more than Mechanical Turk's 65535"):
        mturk.question("https://host/" + "ä" * 32_700)


def test_a_request_is_what_botocores_model_allows() -> None:
    arguments = mturk.request(ROUND, "n1-0001", mturk.question("https://h/p"), Hits(), Assignments())
    assert arguments["Reward"] == "0.20" and arguments["MaxAssignments"] == 10
    assert len(arguments["UniqueRequestToken"]) == 64 and len(arguments["RequesterAnnotation"]) <= 255
    service = client()
    with Stubber(service) as stub:
        stub.add_response("create_hit", {"HIT": {"HITId": HIT}}, arguments)
        assert mturk.create(service, arguments) == HIT


def test_a_repeated_request_finds_the_task_of_the_first() -> None:
    arguments = mturk.request(ROUND, "t", mturk.question("https://h/p"), Hits(), Assignments())
    service = client()
    with Stubber(service) as stub:
        text = f'The HIT with ID "{HIT}" already exists. (1560124800000 s)'
        stub.add_client_error("create_hit", "RequestError", text)
        stub.add_response("get_hit", {"HIT": hit(HIT, "t")}, {"HITId": HIT})
        assert mturk.create(service, arguments) == HIT
        stub.add_client_error("create_hit", "RequestError", "Your account has too little money")
        with (
            pytest.raises(InputError, match=r"Mechanical Turk: .*too little money"),
            services.refusals("Mechanical Turk"),
        ):
            mturk.create(service, arguments)


def test_live_tasks_above_the_limit_are_refused_before_anything_is_sent(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    service = client()
    with (
        Stubber(service),
        pytest.raises(InputError, match=r"spend_limit is 5\.00 .* cost 5\.60, fees included"),
    ):
        publisher(service, tmp_path / "l.jsonl").publish({f"t{n}": "https://h/p" for n in range(4)})
    assert "4 live tasks will cost 5.60 US dollars" in caplog.text
    assert not (tmp_path / "l.jsonl").exists()


def test_what_was_spent_before_counts_against_the_limit(tmp_path: Path) -> None:
    earlier = Ledger.open(tmp_path / "l.jsonl", Round("live", "first", "fedcba9876"))
    earlier.intend("t0", Decimal("4.00"))
    service = client()
    with Stubber(service), pytest.raises(InputError, match=r"would cost 5\.40"):
        publisher(service, tmp_path / "l.jsonl").publish({"t0": "https://h/p"})


def test_a_question_that_is_too_long_is_refused_before_anything_is_sent(tmp_path: Path) -> None:
    service = client()
    with Stubber(service), pytest.raises(InputError, match="65535"):
        publisher(service, tmp_path / "l.jsonl").publish(
            {"a": "https://h/p", "b": "https://h/" + "x" * 70_000}
        )


def test_a_live_task_that_the_service_lost_is_not_paid_for_twice(tmp_path: Path) -> None:
    for mode in ("live", "sandbox"):
        path = tmp_path / f"{mode}.jsonl"
        ledger = Ledger.open(path, Round(mode, "first", "0123456789"))
        ledger.intend("t", Decimal("1.40"))
        ledger.created("t", Decimal("1.40"), HIT)
        service = client()
        with Stubber(service) as stub:
            stub.add_response("list_hits", {"HITs": [], "NumResults": 0})
            found = publisher(service, path, Assignments() if mode == "sandbox" else LIVE, mode)
            if mode == "live":
                with pytest.raises(
                    InputError, match=f"published as {HIT}, which Mechanical Turk does not list"
                ):
                    found.reconcile(["t"])
            else:
                found.reconcile(["t"])
                assert found.ledger.hits == {}


def test_a_task_that_was_made_but_not_noted_is_adopted(tmp_path: Path) -> None:
    service = client()
    found = publisher(service, tmp_path / "l.jsonl")
    found.ledger.intend("t", Decimal("1.40"))
    with Stubber(service) as stub:
        foreign = {**hit("3AAA", "t"), "RequesterAnnotation": "someone else's"}
        stub.add_response("list_hits", {"HITs": [foreign, hit(HIT, "t")], "NumResults": 2})
        found.reconcile(["t"])
    assert found.ledger.hits == {"t": HIT}
    assert found.publish({"t": "https://h/p"}) == 0


def test_states_count_answers_that_are_in_and_reviewed() -> None:
    busy = hit(
        HIT, "t", NumberOfAssignmentsAvailable=2, NumberOfAssignmentsPending=1, NumberOfAssignmentsCompleted=4
    )
    assert mturk.State.of(busy) == mturk.State(HIT, 10, 7, 4, True)
    expired = {**busy, "HITStatus": "Reviewable"}
    assert not mturk.State.of(expired).waiting


def test_waiting_ends_with_the_last_answer_or_with_patience() -> None:
    def look(counts: list[int]) -> list[mturk.State]:
        answered = counts.pop(0) if len(counts) > 1 else counts[0]
        return [mturk.State("H", 10, answered, 0, answered < 10)]

    now = [0.0]
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        now[0] += seconds

    settings = Assignments(poll_seconds=0.5, patience_seconds=3.0)
    assert len(list(arrivals(lambda c=[0, 4, 4, 10]: look(c), settings, sleep, lambda: now[0]))) == 10  # type: ignore[misc]
    assert pauses == [0.1, 0.2, 0.4]
    with pytest.raises(
        InputError, match=r"4 of 10 answers are in and none came for 3 seconds .* run snakemake again"
    ):
        list(arrivals(lambda c=[0, 4]: look(c), settings, sleep, lambda: now[0]))  # type: ignore[misc]


def test_real_services_need_credentials_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in services.CREDENTIALS:
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(InputError, match="AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are not set"):
        services.mturk(None, "sandbox")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "an id")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "a secret")
    assert services.mturk(None, "sandbox").meta.endpoint_url == services.SANDBOX
    assert services.mturk(None, "live").meta.endpoint_url == services.LIVE
