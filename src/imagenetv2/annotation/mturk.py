"""What the pipeline asks of Mechanical Turk: create a task, look at its state, list and approve its answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any
from xml.sax.saxutils import escape

from imagenetv2.annotation.ledger import Round
from imagenetv2.annotation.settings import Assignments, Hits
from imagenetv2.errors import InputError

SCHEMA = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/ExternalQuestion.xsd"
LONGEST_QUESTION = 65_535
"""Bytes; Mechanical Turk refuses longer questions."""
PAGE = 100
"""Most entries in one answer to a list call."""
TITLE = "Select the pictures that show a given object"
DESCRIPTION = "Look at a page of pictures and tick those in which you can see the object that is named."
KEYWORDS = "pictures, images, photographs, select, categorization, object recognition"
DAY = 24 * 60 * 60


@dataclass(frozen=True)
class State:
    """What the service says of one task.

    ``reviewed`` counts approved and rejected answers, ``submitted`` all that are in; of an expired task the service may
    give no better than an upper bound of these. ``waiting``: answers can still come.
    """

    hit_id: str
    wanted: int
    submitted: int
    reviewed: int
    waiting: bool

    @classmethod
    def of(cls, hit: dict[str, Any]) -> State:
        """From a HIT structure."""
        wanted = int(hit["MaxAssignments"])
        out = int(hit["NumberOfAssignmentsAvailable"]) + int(hit["NumberOfAssignmentsPending"])
        completed = int(hit["NumberOfAssignmentsCompleted"])
        submitted = max(wanted - out, completed)
        waiting = submitted < wanted and hit["HITStatus"] in ("Assignable", "Unassignable")
        return cls(str(hit["HITId"]), wanted, submitted, completed, waiting)


def question(address: str) -> str:
    """ExternalQuestion XML for a page. Raises InputError where it is longer than Mechanical Turk takes."""
    text = (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<ExternalQuestion xmlns="{SCHEMA}">'
        f"<ExternalURL>{escape(address)}</ExternalURL><FrameHeight>0</FrameHeight></ExternalQuestion>"
    )
    size = len(text.encode())
    if size > LONGEST_QUESTION:
        raise InputError(
            f"The question for {address[:60]}… has {size} bytes, more than Mechanical Turk's {LONGEST_QUESTION}; "
            f"shorten assignments.bucket."
        )
    return text


def request(round_: Round, task_id: str, xml: str, hits: Hits, settings: Assignments) -> dict[str, Any]:
    """Arguments of CreateHIT; the reward is a decimal string."""
    return {
        "Title": TITLE,
        "Description": DESCRIPTION,
        "Keywords": KEYWORDS,
        "Question": xml,
        "Reward": f"{hits.reward:.2f}",
        "MaxAssignments": hits.workers_per_task,
        "AssignmentDurationInSeconds": hits.minutes * 60,
        "LifetimeInSeconds": settings.lifetime_days * DAY,
        "AutoApprovalDelayInSeconds": settings.approval_days * DAY,
        "RequesterAnnotation": round_.annotation(task_id),
        "UniqueRequestToken": round_.token(task_id),
    }


def create(client: Any, arguments: dict[str, Any]) -> str:
    """Create a task; returns its id, also where an earlier, unanswered call had created it already."""
    from botocore.exceptions import ClientError

    try:
        return str(client.create_hit(**arguments)["HIT"]["HITId"])
    except ClientError as error:
        detail = error.response.get("Error", {})
        text = " ".join((detail.get("Code", ""), detail.get("Message", ""), _turk_code(error)))
        if not re.search(r"hit\s*already\s*exists|already exists", text, re.IGNORECASE):
            raise
        for hit_id in re.findall(r"\b[A-Z0-9]{8,64}\b", detail.get("Message", "")):
            if _annotation(client, hit_id) == arguments["RequesterAnnotation"]:
                return str(hit_id)
        raise


def _turk_code(error: Any) -> str:
    return str(error.response.get("TurkErrorCode", ""))


def _annotation(client: Any, hit_id: str) -> str | None:
    from botocore.exceptions import ClientError

    try:
        return str(client.get_hit(HITId=hit_id)["HIT"].get("RequesterAnnotation", ""))
    except ClientError:
        return None


def states(client: Any, round_: Round) -> dict[str, dict[str, State]]:
    """States of this round's tasks at the service, by task and HIT id, found by their annotation."""
    found: dict[str, dict[str, State]] = {}
    for page in client.get_paginator("list_hits").paginate(PaginationConfig={"PageSize": PAGE}):
        for hit in page.get("HITs", ()):
            task_id = round_.task(hit.get("RequesterAnnotation", ""))
            if task_id is not None:
                found.setdefault(task_id, {})[hit["HITId"]] = State.of(hit)
    return found


def assignments(client: Any, hit_id: str) -> Iterator[dict[str, Any]]:
    """All answers to a task, whatever became of them: after the approval delay, unseen ones are approved."""
    pages = client.get_paginator("list_assignments_for_hit").paginate(
        HITId=hit_id,
        AssignmentStatuses=["Submitted", "Approved", "Rejected"],
        PaginationConfig={"PageSize": PAGE},
    )
    for page in pages:
        yield from page.get("Assignments", ())


def approve(client: Any, assignment_id: str) -> None:
    """Approve, and so pay, a submitted answer; one that was approved meanwhile is fine."""
    from botocore.exceptions import ClientError

    try:
        client.approve_assignment(AssignmentId=assignment_id)
    except ClientError as error:
        if "state 'Approved'" not in str(error):
            raise


def prolong(client: Any, hit_id: str, days: int) -> None:
    """Let workers find an expired task again; costs nothing beyond the answers it was published for."""
    expires = datetime.now(UTC) + timedelta(days=days)
    client.update_expiration_for_hit(HITId=hit_id, ExpireAt=expires)
