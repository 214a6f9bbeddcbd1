"""A task's page as HTML: what a worker sees, and what the form sends.

The protocol, on which people and their simulation rely: the page is opened with ``assignmentId``, ``hitId``,
``workerId`` and ``turkSubmitTo`` in its query; a script sets the action of its one form to ``turkSubmitTo`` +
``/mturk/externalSubmit`` and fills the hidden field ``assignmentId``; every ticked image is sent as one
``selected=<token>``; the picture of a token lies beside the page as ``<token>.jpg``. The hidden field ``page`` makes
an answer without ticks still an answer, which Mechanical Turk would refuse otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from urllib.parse import unquote

from jinja2 import Template

from imagenetv2.templates import environment

PREVIEW = "ASSIGNMENT_ID_NOT_AVAILABLE"


@dataclass(frozen=True)
class Target:
    """The class that a page asks about."""

    wnid: str
    lemmas: tuple[str, ...]
    definition: str
    wikipedia: tuple[str, ...]


def render(target: Target, name: str, tokens: Sequence[str]) -> str:
    """The page ``name`` with the images of ``tokens`` in that order. It tells neither roles nor image ids."""
    words = [lemma.replace("_", " ") for lemma in target.lemmas] or [target.wnid]
    links = [
        (address, unquote(address.rstrip("/").rsplit("/", 1)[-1]).replace("_", " "))
        for address in target.wikipedia
        if address.startswith(("https://", "http://"))
    ]
    page = _template().render(
        wnid=target.wnid,
        name=words[0],
        synonyms=words[1:],
        definition=target.definition,
        links=links,
        page=name.removesuffix(".html"),
        tokens=tokens,
        preview=PREVIEW,
    )
    return f"{page}\n"


@cache
def _template() -> Template:
    return environment("imagenetv2.annotation").get_template("task.html.j2")
