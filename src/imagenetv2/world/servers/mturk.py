"""The requester's side of the local Mechanical Turk: the JSON protocol that boto3 speaks.

Requests are checked against botocore's own model of the service, so that what passes here is well-formed there.
"""

from __future__ import annotations

import base64
import binascii
import json
import sqlite3
import time
from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from imagenetv2.world.servers import identifiers
from imagenetv2.world.servers.dispatch import Request, Response
from imagenetv2.world.servers.hit import Hit, RefusedError
from imagenetv2.world.servers.marketplace import DECIDED, Marketplace
from imagenetv2.world.servers.questions import check_question
from imagenetv2.world.servers.shapes import Checker

TARGET = "MTurkRequesterServiceV20170117"
BALANCE = "10000.00"
"""What an account of the sandbox always holds."""
PAGE, MOST = 10, 100
MOST_ANSWERS = 10**9
STATUSES = ("Submitted", "Approved", "Rejected")
_TYPE = (
    "Title",
    "Description",
    "Reward",
    "Keywords",
    "AssignmentDurationInSeconds",
    "AutoApprovalDelayInSeconds",
)
_COPIED = (*_TYPE, "Question", "RequesterAnnotation", "QualificationRequirements")
_MONTH = 30 * 86400


class MTurk:
    """Answers POST / with a header X-Amz-Target."""

    def __init__(self, marketplace: Marketplace) -> None:
        self._market, self._checker = marketplace, Checker("mturk")
        self._operations: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "CreateHIT": self._create_hit,
            "GetHIT": self._get_hit,
            "ListHITs": self._list_hits,
            "ListAssignmentsForHIT": self._list_assignments,
            "GetAssignment": self._get_assignment,
            "ApproveAssignment": self._approve,
            "RejectAssignment": self._reject,
            "UpdateExpirationForHIT": self._update_expiration,
            "DeleteHIT": self._delete_hit,
            "GetAccountBalance": lambda _: {"AvailableBalance": BALANCE},
        }

    def __call__(self, request: Request) -> Response:
        """The answer to one operation; the service's refusals have status 400 and type RequestError."""
        if request.path != "/":
            return Response(404, b"Not Found\n")
        service, _, name = request.headers.get("X-Amz-Target", "").partition(".")
        if request.method != "POST" or service != TARGET or name not in self._operations:
            return _fault("UnknownOperationException", None, f"{service}.{name} is not served here")
        if not request.headers.get("Authorization", "").startswith("AWS4-HMAC-SHA256"):
            return _fault("MissingAuthenticationTokenException", None, "Missing Authentication Token")
        try:
            given = json.loads(request.body or b"{}")
            wrong = self._checker.problems(name, given)
            if wrong:
                raise RefusedError("ParameterValidationError", wrong)
            return _answer(self._operations[name](given))
        except ValueError as error:
            return _fault("SerializationException", None, str(error))
        except RefusedError as error:
            stamp = f"{error} ({time.time_ns() // 1_000_000} s)"
            return _fault("RequestError", f"AWS.MechanicalTurk.{error.code}", stamp)

    def _create_hit(self, given: Mapping[str, Any]) -> dict[str, Any]:
        check_question(given.get("Question"))
        _within("LifetimeInSeconds", given["LifetimeInSeconds"], 30, 31536000)
        _within("AssignmentDurationInSeconds", given["AssignmentDurationInSeconds"], 30, 31536000)
        _within("MaxAssignments", given.get("MaxAssignments", 1), 1, MOST_ANSWERS)
        if Decimal(given["Reward"]) < Decimal("0.01"):
            raise RefusedError("ParameterValidationError", f"Reward {given['Reward']} is below 0.01")
        return {"HIT": hit_shape(self._market.create(given))}

    def _get_hit(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return {"HIT": hit_shape(self._market.hit(given["HITId"]))}

    def _list_hits(self, given: Mapping[str, Any]) -> dict[str, Any]:
        most = given.get("MaxResults", PAGE)
        (after,) = _place(given.get("NextToken"), 0)
        found = self._market.hits(int(after), most + 1)
        page = found[:most]
        more = {"NextToken": _token(page[-1].number)} if len(found) > most else {}
        return {"NumResults": len(page), "HITs": [hit_shape(h) for h in page], **more}

    def _list_assignments(self, given: Mapping[str, Any]) -> dict[str, Any]:
        most = given.get("MaxResults", PAGE)
        submitted, key = _place(given.get("NextToken"), 0, "")
        statuses = given.get("AssignmentStatuses") or STATUSES
        found = self._market.assignments(given["HITId"], statuses, (int(submitted), str(key)), most + 1)
        hit, page = self._market.hit(given["HITId"]), found[:most]
        last = page[-1] if page else None
        more = (
            {"NextToken": _token(last["submitted"], last["assignment_id"])}
            if len(found) > most and last
            else {}
        )
        return {"NumResults": len(page), "Assignments": [assignment_shape(hit, a) for a in page], **more}

    def _get_assignment(self, given: Mapping[str, Any]) -> dict[str, Any]:
        row = self._market.assignment(given["AssignmentId"])
        hit = self._market.hit(row["hit_id"])
        return {"Assignment": assignment_shape(hit, row), "HIT": hit_shape(hit)}

    def _approve(self, given: Mapping[str, Any]) -> dict[str, Any]:
        override = given.get("OverrideRejection", False)
        self._market.approve(given["AssignmentId"], given.get("RequesterFeedback"), override)
        return {}

    def _reject(self, given: Mapping[str, Any]) -> dict[str, Any]:
        if not given["RequesterFeedback"].strip():
            raise RefusedError("ParameterValidationError", "A rejection needs a reason in RequesterFeedback")
        self._market.reject(given["AssignmentId"], given["RequesterFeedback"])
        return {}

    def _update_expiration(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self._market.expire(given["HITId"], float(given["ExpireAt"]))
        return {}

    def _delete_hit(self, given: Mapping[str, Any]) -> dict[str, Any]:
        self._market.delete(given["HITId"])
        return {}


def hit_shape(hit: Hit) -> dict[str, Any]:
    """A task as the service's HIT structure; times are seconds since 1970."""
    kind = identifiers.hit_type_id(*(str(hit.request.get(name, "")) for name in _TYPE))
    return {
        "HITId": hit.hit_id,
        "HITTypeId": kind,
        "HITGroupId": identifiers.hit_group_id(kind),
        "CreationTime": hit.created,
        "Expiration": hit.expiration,
        "HITStatus": hit.status,
        "HITReviewStatus": "NotReviewed",
        "MaxAssignments": hit.places,
        "NumberOfAssignmentsPending": hit.pending,
        "NumberOfAssignmentsAvailable": hit.available,
        # The service counts only what was approved or rejected, not what was merely submitted.
        "NumberOfAssignmentsCompleted": hit.reviewed,
        "AutoApprovalDelayInSeconds": _MONTH,
        **{name: hit.request[name] for name in _COPIED if name in hit.request},
    }


def assignment_shape(hit: Hit, row: sqlite3.Row) -> dict[str, Any]:
    """An answer as the service's Assignment structure; times are seconds since 1970."""
    out: dict[str, Any] = {
        "AssignmentId": row["assignment_id"],
        "WorkerId": row["worker_id"],
        "HITId": row["hit_id"],
        "AssignmentStatus": row["status"],
        "AcceptTime": row["accepted"],
        "SubmitTime": row["submitted"],
        "AutoApprovalTime": row["submitted"] + hit.request.get("AutoApprovalDelayInSeconds", _MONTH),
        "Answer": row["answer"],
    }
    if row["status"] != "Submitted":
        out["ApprovalTime" if row["status"] == "Approved" else "RejectionTime"] = DECIDED
    if row["feedback"]:
        out["RequesterFeedback"] = row["feedback"]
    return out


def _within(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise RefusedError("ParameterValidationError", f"{name} {value} is not between {least} and {most}")


def _token(*place: int | str) -> str:
    return base64.urlsafe_b64encode(json.dumps(place).encode()).decode()


def _place(token: str | None, *start: int | str) -> tuple[int | str, ...]:
    if token is None:
        return start
    try:
        place = json.loads(base64.urlsafe_b64decode(token))
    except (ValueError, binascii.Error):
        place = None
    if not isinstance(place, list) or [type(p) for p in place] != [type(s) for s in start]:
        raise RefusedError("InvalidNextToken", "The NextToken is not one that this service gave")
    return tuple(place)


def _answer(value: Mapping[str, Any], status: int = 200) -> Response:
    return Response.json(value, status, "application/x-amz-json-1.1")


def _fault(kind: str, code: str | None, message: str) -> Response:
    extra = {"TurkErrorCode": code} if code else {}
    return _answer({"__type": kind, "Message": message, "message": message, **extra}, 400)
