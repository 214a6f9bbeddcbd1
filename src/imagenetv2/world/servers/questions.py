"""Questions and answers as Mechanical Turk writes them in XML."""

from __future__ import annotations

import re
from collections.abc import Sequence
from urllib.parse import urlsplit
from xml.etree import ElementTree
from xml.sax.saxutils import escape

from imagenetv2.world.servers.hit import RefusedError

SCHEMAS = "http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas"
EXTERNAL = f"{SCHEMAS}/2006-07-14/ExternalQuestion.xsd"
ANSWERS = f"{SCHEMAS}/2005-10-01/QuestionFormAnswers.xsd"
LARGEST = 65535
"""Bytes of a question."""
_NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_question(question: str | None) -> None:
    """Raises RefusedError for what is not an ExternalQuestion of at most 65,535 bytes."""
    if question is None:
        raise RefusedError("ParameterValidationError", "Question or HITLayoutId is needed")
    if len(question.encode()) > LARGEST:
        raise RefusedError("ParameterValidationError", f"Question is longer than {LARGEST} bytes")
    external_url(question)


def external_url(question: str) -> str:
    """The address of the page. Raises RefusedError where the XML or the address is not right."""
    try:
        root = ElementTree.fromstring(question)
    except ElementTree.ParseError as error:
        raise RefusedError("XMLParseError", f"Question is not well-formed XML: {error}") from error
    if root.tag != f"{{{EXTERNAL}}}ExternalQuestion":
        raise RefusedError(
            "XMLParseError", f"Question is a {root.tag}, not an ExternalQuestion of {EXTERNAL}"
        )
    url = (root.findtext(f"{{{EXTERNAL}}}ExternalURL") or "").strip()
    height = (root.findtext(f"{{{EXTERNAL}}}FrameHeight") or "").strip()
    if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).netloc:
        raise RefusedError("XMLParseError", f"ExternalURL {url!r} is not an address")
    if not height.isdigit():
        raise RefusedError("XMLParseError", f"FrameHeight {height!r} is not a number of pixels")
    return url


def answers(fields: Sequence[tuple[str, str]]) -> str:
    """QuestionFormAnswers XML of a submitted form: values of one name are joined by ``|``, in order."""
    joined: dict[str, list[str]] = {}
    for name, value in fields:
        if name != "assignmentId":
            joined.setdefault(_NOT_XML.sub("", name), []).append(_NOT_XML.sub("", value))
    parts = "".join(
        f"<Answer>\n<QuestionIdentifier>{escape(name)}</QuestionIdentifier>\n"
        f"<FreeText>{escape('|'.join(values))}</FreeText>\n</Answer>\n"
        for name, values in joined.items()
    )
    return f'<?xml version="1.0" encoding="UTF-8"?>\n<QuestionFormAnswers xmlns="{ANSWERS}">\n{parts}</QuestionFormAnswers>'
