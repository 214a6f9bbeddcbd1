"""The local Mechanical Turk, asked by boto3; every answer is checked against botocore's model."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import requests
from botocore.exceptions import ClientError, ParamValidationError

from imagenetv2.job import Endpoints
from imagenetv2.world.servers.identifiers import worker_id
from imagenetv2.world.servers.questions import ANSWERS
from imagenetv2.world.servers.serve import running
from imagenetv2.world.servers.shapes import Checker

from .small_world import QUESTION, boto, make_world, photo

Start = Callable[[], tuple[Any, Endpoints]]
ASKED: dict[str, Any] = {
    "Title": "t",
    "Description": "d",
    "Reward": "0.20",
    "LifetimeInSeconds": 3600,
    "AssignmentDurationInSeconds": 600,
    "MaxAssignments": 2,
    "Question": QUESTION.format("http://127.0.0.1:1/page.html?a=1&amp;b=2"),
    "UniqueRequestToken": "one",
}
CHECKER = Checker("mturk")


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    world = make_world(tmp_path / "world", [photo(1)])
    with ExitStack() as stack:

        def run() -> tuple[Any, Endpoints]:
            endpoints = stack.enter_context(
                running(world, seed=1, data=tmp_path, version="v", parts={"mturk"})
            )
            client = boto("mturk", endpoints.mturk)
            client.meta.events.register("after-call.mturk", check)
            stack.callback(client.close)
            return client, endpoints

        yield run


def check(http_response: Any, parsed: dict[str, Any], model: Any, **_: Any) -> None:
    """Answers fit the model of the service: types, patterns, enumerations."""
    if http_response.status_code == 200:
        answer = {k: v for k, v in parsed.items() if k != "ResponseMetadata"}
        assert CHECKER.answer_problems(model.name, answer) == ""


def refused(call: Callable[..., Any], code: str, **arguments: Any) -> str:
    with pytest.raises(ClientError) as caught:
        call(**arguments)
    error = caught.value
    assert error.response["Error"]["Code"] == "RequestError"
    assert error.response["TurkErrorCode"] == f"AWS.MechanicalTurk.{code}"
    return str(error)


def post(endpoints: Endpoints, action: str, **fields: Any) -> requests.Response:
    return requests.post(f"{endpoints.mturk}/mturk/{action}", fields, timeout=10)


def accept(endpoints: Endpoints, hit: str, number: int) -> str:
    answer = post(endpoints, "accept", hitId=hit, workerId=worker_id(1, number))
    assert answer.status_code == 200, answer.text
    return str(answer.json()["assignmentId"])


def answer(endpoints: Endpoints, hit: str, number: int) -> str:
    assignment = accept(endpoints, hit, number)
    done = post(endpoints, "externalSubmit", assignmentId=assignment, page="p", selected=["a", "b|&<"])
    assert done.status_code == 200
    return assignment


def test_a_repeated_request_names_the_first_task(start: Start) -> None:
    mturk, _ = start()
    hit = mturk.create_hit(**ASKED)["HIT"]
    text = refused(mturk.create_hit, "HitAlreadyExists", **ASKED)
    assert hit["HITId"] in text
    assert "HitAlreadyExists" in text
    other = mturk.create_hit(**{**ASKED, "UniqueRequestToken": "two"})["HIT"]
    assert other["HITId"] != hit["HITId"]
    assert other["HITTypeId"] == hit["HITTypeId"]
    without = {k: v for k, v in ASKED.items() if k != "UniqueRequestToken"}
    assert mturk.create_hit(**without)["HIT"]["HITId"] != mturk.create_hit(**without)["HIT"]["HITId"]
    assert (hit["HITStatus"], hit["MaxAssignments"], hit["NumberOfAssignmentsAvailable"]) == (
        "Assignable", 2, 2,
    )  # fmt: skip
    assert hit["Expiration"] - hit["CreationTime"] == timedelta(hours=1)
    assert mturk.get_hit(HITId=hit["HITId"])["HIT"] == hit


@pytest.mark.parametrize(
    "wrong",
    [
        {"Reward": "0.200"},
        {"Reward": "$1"},
        {"Reward": "0.00"},
        {"UniqueRequestToken": "x" * 65},
        {"LifetimeInSeconds": 29},
        {"AssignmentDurationInSeconds": 10**8},
        {"MaxAssignments": 0},
    ],
)
def test_malformed_requests_are_refused(start: Start, wrong: dict[str, Any]) -> None:
    refused(start()[0].create_hit, "ParameterValidationError", **{**ASKED, **wrong})


@pytest.mark.parametrize(
    ("question", "code"),
    [
        ("no XML", "XMLParseError"),
        ("<ExternalQuestion/>", "XMLParseError"),
        (QUESTION.format("page.html"), "XMLParseError"),
        (QUESTION.format("https://h/" + "x" * 65535), "ParameterValidationError"),
    ],
)
def test_wrong_questions_are_refused(start: Start, question: str, code: str) -> None:
    refused(start()[0].create_hit, code, **{**ASKED, "Question": question})


def test_unknown_ids_operations_and_tokens_are_refused(start: Start) -> None:
    mturk, endpoints = start()
    refused(mturk.get_hit, "HITDoesNotExist", HITId="3NONE")
    refused(mturk.get_hit, "ParameterValidationError", HITId="lower")
    refused(mturk.list_assignments_for_hit, "HITDoesNotExist", HITId="3NONE")
    refused(mturk.approve_assignment, "AssignmentDoesNotExist", AssignmentId="3NONE")
    refused(mturk.list_hits, "InvalidNextToken", NextToken="abc")
    refused(mturk.list_hits, "ParameterValidationError", MaxResults=101)
    with pytest.raises(ClientError, match="UnknownOperation"):
        mturk.list_bonus_payments(HITId="3NONE")
    assert requests.post(f"{endpoints.mturk}/", "{}", timeout=10).status_code == 400
    assert requests.get(f"{endpoints.mturk}/elsewhere", timeout=10).status_code == 404
    assert mturk.get_account_balance()["AvailableBalance"] == "10000.00"


def test_the_life_of_a_task(start: Start) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**ASKED)["HIT"]["HITId"]

    def state() -> tuple[Any, ...]:
        now = mturk.get_hit(HITId=hit)["HIT"]
        counts = (now[f"NumberOfAssignments{name}"] for name in ("Available", "Pending", "Completed"))
        return now["HITStatus"], *counts

    first = accept(endpoints, hit, 0)
    assert state() == ("Assignable", 1, 1, 0)
    assert post(endpoints, "accept", hitId=hit, workerId=worker_id(1, 0)).status_code == 409
    accept(endpoints, hit, 1)
    assert state() == ("Unassignable", 0, 2, 0)
    assert post(endpoints, "accept", hitId=hit, workerId=worker_id(1, 2)).status_code == 409
    refused(mturk.delete_hit, "InvalidHITState", HITId=hit)
    post(endpoints, "return", assignmentId=first)
    assert state() == ("Assignable", 1, 1, 0)
    first = answer(endpoints, hit, 0)
    second = post(endpoints, "accept", hitId=hit, workerId=worker_id(1, 1))
    assert second.status_code == 409
    assert requests.get(f"{endpoints.mturk}/mturk/work", timeout=10).json() == []
    assert mturk.list_hits()["HITs"][0]["HITStatus"] == "Unassignable"


def test_review_and_deletion(start: Start) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**ASKED)["HIT"]["HITId"]
    first, second = answer(endpoints, hit, 0), answer(endpoints, hit, 1)
    assert mturk.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Reviewable"
    text = refused(mturk.delete_hit, "InvalidHITState", HITId=hit)
    assert "currently in the state 'Reviewable'" in text
    mturk.approve_assignment(AssignmentId=first, RequesterFeedback="thanks")
    refused(mturk.approve_assignment, "InvalidAssignmentState", AssignmentId=first)
    refused(mturk.reject_assignment, "InvalidAssignmentState", AssignmentId=first, RequesterFeedback="no")
    with pytest.raises(ParamValidationError):
        mturk.reject_assignment(AssignmentId=second)
    refused(mturk.reject_assignment, "ParameterValidationError", AssignmentId=second, RequesterFeedback=" ")
    mturk.reject_assignment(AssignmentId=second, RequesterFeedback="all ticked")
    refused(mturk.approve_assignment, "InvalidAssignmentState", AssignmentId=second)
    rejected = mturk.list_assignments_for_hit(HITId=hit, AssignmentStatuses=["Rejected"])["Assignments"]
    assert [(a["AssignmentId"], a["RequesterFeedback"]) for a in rejected] == [(second, "all ticked")]
    assert "RejectionTime" in rejected[0]
    mturk.approve_assignment(AssignmentId=second, OverrideRejection=True)
    assert mturk.get_hit(HITId=hit)["HIT"]["NumberOfAssignmentsCompleted"] == 2
    mturk.delete_hit(HITId=hit)
    assert mturk.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Disposed"
    assert mturk.list_hits()["NumResults"] == 0
    refused(mturk.delete_hit, "HITDoesNotExist", HITId=hit)
    refused(mturk.create_hit, "HitAlreadyExists", **ASKED)


def test_expiration(start: Start) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**ASKED)["HIT"]["HITId"]
    mturk.update_expiration_for_hit(HITId=hit, ExpireAt=datetime(2015, 1, 1, tzinfo=UTC))
    expired = mturk.get_hit(HITId=hit)["HIT"]
    assert (expired["HITStatus"], expired["NumberOfAssignmentsAvailable"]) == ("Reviewable", 2)
    assert post(endpoints, "accept", hitId=hit, workerId=worker_id(1, 0)).status_code == 409
    mturk.update_expiration_for_hit(HITId=hit, ExpireAt=datetime.now(UTC) + timedelta(days=1))
    assert mturk.get_hit(HITId=hit)["HIT"]["HITStatus"] == "Assignable"
    mturk.update_expiration_for_hit(HITId=hit, ExpireAt=datetime.now(UTC))
    mturk.delete_hit(HITId=hit)


def test_lists_come_in_pages(start: Start) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**{**ASKED, "MaxAssignments": 105})["HIT"]["HITId"]
    given = {answer(endpoints, hit, number) for number in range(105)}
    assert mturk.list_assignments_for_hit(HITId=hit)["NumResults"] == 10
    pages = mturk.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit, PaginationConfig={"PageSize": 100}
    )
    listed = [page["Assignments"] for page in pages]
    assert [len(page) for page in listed] == [100, 5]
    flat = [a for page in listed for a in page]
    assert {a["AssignmentId"] for a in flat} == given
    assert len({a["WorkerId"] for a in flat}) == 105
    assert all(15 <= (a["SubmitTime"] - a["AcceptTime"]).total_seconds() <= 600 for a in flat)
    for number in range(12):
        mturk.create_hit(**{**ASKED, "UniqueRequestToken": str(number)})
    assert mturk.list_hits()["NumResults"] == 10
    assert len(list(mturk.get_paginator("list_hits").paginate().search("HITs"))) == 13


def test_an_answer_is_what_the_form_sent(start: Start) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**ASKED)["HIT"]["HITId"]
    empty = post(endpoints, "externalSubmit", assignmentId=accept(endpoints, hit, 1))
    assert empty.status_code == 400
    got = mturk.get_assignment(AssignmentId=answer(endpoints, hit, 0))["Assignment"]
    fields = [
        (a.findtext(f"{{{ANSWERS}}}QuestionIdentifier"), a.findtext(f"{{{ANSWERS}}}FreeText"))
        for a in ElementTree.fromstring(got["Answer"])
    ]
    assert fields == [("page", "p"), ("selected", "a|b|&<")]
    again = post(endpoints, "externalSubmit", assignmentId=got["AssignmentId"], page="p")
    assert again.status_code == 409
    assert requests.get(f"{endpoints.mturk}/mturk/externalSubmit", timeout=10).status_code == 405


def test_state_outlives_the_server(start: Start, tmp_path: Path) -> None:
    mturk, endpoints = start()
    hit = mturk.create_hit(**ASKED)["HIT"]["HITId"]
    answer(endpoints, hit, 0)
    left = accept(endpoints, hit, 1)
    before = mturk.list_assignments_for_hit(HITId=hit)["Assignments"]
    mturk, endpoints = start()
    assert mturk.list_assignments_for_hit(HITId=hit)["Assignments"] == before
    assert mturk.get_hit(HITId=hit)["HIT"]["NumberOfAssignmentsPending"] == 0
    assert accept(endpoints, hit, 1) == left
    (tmp_path / "stores/world/v/mturk.sqlite").unlink()
    for rest in ("-wal", "-shm"):
        (tmp_path / f"stores/world/v/mturk.sqlite{rest}").unlink(missing_ok=True)
    mturk, endpoints = start()
    assert mturk.create_hit(**ASKED)["HIT"]["HITId"] == hit
    answer(endpoints, hit, 0)
    assert mturk.list_assignments_for_hit(HITId=hit)["Assignments"] == before
