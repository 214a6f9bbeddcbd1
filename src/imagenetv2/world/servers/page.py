"""A task page as a worker sees it: its one form, the pictures in it, and what submitting it sends."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from html.parser import HTMLParser


class BrokenPageError(Exception):
    """A page on which nobody can work; the message says what is wrong with it."""


@dataclass(frozen=True)
class Box:
    """A checkbox and the address of the picture beside it, as the page writes it."""

    value: str
    source: str


@dataclass(frozen=True)
class Page:
    """The class asked about, fields that are submitted as they are, and the boxes in their order."""

    wnid: str
    hidden: tuple[tuple[str, str], ...]
    boxes: tuple[Box, ...]

    def fields(self, assignment_id: str, ticked: Collection[str]) -> list[tuple[str, str]]:
        """What a browser sends, ``assignmentId`` filled in, a field ``selected`` for each ticked box."""
        own = [(name, assignment_id if name == "assignmentId" else value) for name, value in self.hidden]
        return own + [("selected", box.value) for box in self.boxes if box.value in ticked]


@dataclass
class _Form:
    attributes: dict[str, str]
    hidden: list[tuple[str, str]] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    lonely: int = 0
    buttons: int = 0


def read(html: str) -> Page:
    """The page of that HTML. Raises BrokenPageError for one that can't be answered."""
    parser = _Parser()
    parser.feed(html)
    parser.close()
    if len(parser.forms) != 1:
        raise BrokenPageError(f"the page has {len(parser.forms)} forms, not one")
    form = parser.forms[0]
    wnid = form.attributes.get("data-wnid", "")
    values = [box.value for box in form.boxes]
    problems = {
        "the form's method is not post": form.attributes.get("method", "get").lower() != "post",
        "the form has no data-wnid": not wnid,
        "the form has no hidden field assignmentId": "assignmentId" not in dict(form.hidden),
        "the form has no button to submit it": form.buttons == 0,
        "the form has no picture to tick": not form.boxes,
        "a checkbox has no picture in its label": form.lonely > 0,
        "two checkboxes have the same value": len(set(values)) < len(values),
    }
    wrong = [text for text, holds in problems.items() if holds]
    if wrong:
        raise BrokenPageError(wrong[0])
    return Page(wnid, tuple(form.hidden), tuple(form.boxes))


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.forms: list[_Form] = []
        self._form: _Form | None = None
        self._values: list[str] = []
        self._sources: list[str] = []
        self._in_label = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag == "form" and self._form is None:
            self._form = _Form(given)
            self.forms.append(self._form)
        if self._form is None:
            return
        if tag == "label":
            self._end_label()
            self._in_label = True
        elif tag == "img" and self._in_label and given.get("src"):
            self._sources.append(given["src"])
        elif tag == "button" and given.get("type", "submit") == "submit":
            self._form.buttons += 1
        elif tag == "input":
            self._input(self._form, given)

    def _input(self, form: _Form, given: dict[str, str]) -> None:
        kind, name = given.get("type", "text").lower(), given.get("name", "")
        if kind == "submit":
            form.buttons += 1
        elif kind == "hidden" and name:
            form.hidden.append((name, given.get("value", "")))
        elif kind == "checkbox" and name == "selected":
            if self._in_label:
                self._values.append(given.get("value", "on"))
            else:
                form.lonely += 1

    def handle_endtag(self, tag: str) -> None:
        if tag == "label":
            self._end_label()
        elif tag == "form":
            self._end_label()
            self._form = None

    def _end_label(self) -> None:
        if self._form is not None and self._values:
            if len(self._values) == len(self._sources) == 1:
                self._form.boxes.append(Box(self._values[0], self._sources[0]))
            else:
                self._form.lonely += len(self._values)
        self._values, self._sources, self._in_label = [], [], False
