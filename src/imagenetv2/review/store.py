"""The append-only store of people's verdicts: one JSON object a line."""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from imagenetv2 import atomically
from imagenetv2.errors import InputError

MOMENT = "%Y-%m-%dT%H:%M:%SZ"
"""How a time is written: UTC, to the second."""


class PairVerdict(BaseModel):
    """A line of ``pairs.jsonl``. ``time`` is when it was recorded; it is empty in lines that are older than it."""

    model_config = ConfigDict(extra="forbid", strict=True)

    image_id: str = Field(min_length=1)
    neighbour_id: str = Field(min_length=1)
    verdict: Literal["duplicate", "different"]
    reviewer: str = Field(min_length=1)
    time: str = Field("", pattern=r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)?$")
    note: str = ""

    @property
    def pair(self) -> frozenset[str]:
        """The two images, whichever comes first."""
        return frozenset((self.image_id, self.neighbour_id))


class ClassVerdict(BaseModel):
    """A line of ``<rule>.jsonl``."""

    model_config = ConfigDict(extra="forbid", strict=True)

    round: int = Field(ge=0)
    wnid: str = Field(min_length=1)
    images: list[str] = Field(min_length=1)
    blacklisted: list[str]
    reasons: list[str]
    reviewer: str = Field(min_length=1)

    @model_validator(mode="after")
    def _agree(self) -> ClassVerdict:
        if len(set(self.images)) < len(self.images):
            raise ValueError("images names one image twice")
        strange = [i for i in self.blacklisted if i not in self.images]
        if strange:
            raise ValueError(f"blacklisted names {strange[0]}, which is not among images")
        if len(set(self.blacklisted)) < len(self.blacklisted):
            raise ValueError("blacklisted names one image twice")
        if len(self.reasons) != len(self.blacklisted) or not all(self.reasons):
            raise ValueError("reasons needs one reason for each blacklisted image")
        return self


V = TypeVar("V", PairVerdict, ClassVerdict)


def read(path: Path | None, kind: type[V]) -> list[V]:
    """The verdicts of a store in their order; none where it is not there yet.

    A last line without a line end, as a killed writer leaves it, is ignored unless it is whole. Raises
    InputError naming file, line and field for any other line that is not a verdict.
    """
    if path is None or not path.is_file():
        return []
    lines = path.read_bytes().split(b"\n")
    found = []
    for number, line in enumerate(lines, 1):
        torn = number == len(lines)
        if not line.strip() or (torn and not _parses(line)):
            continue
        found.append(parse(line, kind, f"{path}, line {number}"))
    return found


def parse(text: str | bytes, kind: type[V], where: str) -> V:
    """One verdict from JSON. Raises InputError with one sentence that begins with ``where``."""
    try:
        return kind.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"]))
        message = first["msg"].removeprefix("Value error, ")
        raise InputError(
            f"{where}: {f'{field}: ' if field else ''}{message}; correct it or remove the line."
        ) from error


def append(path: Path, verdicts: Sequence[BaseModel]) -> None:
    """Add verdicts: all of them or, where this is killed, none; a torn last line is dropped."""
    old = path.read_bytes() if path.is_file() else b""
    whole, _, tail = old.rpartition(b"\n")
    if tail.strip() and _parses(tail):
        whole = old
    text = whole + b"\n" if whole else b""
    text += b"".join(v.model_dump_json().encode() + b"\n" for v in verdicts)
    atomically.write_bytes(path, text, durable=True)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the store for one writer; another waits."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / ".lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _parses(line: bytes) -> bool:
    try:
        json.loads(line)
    except ValueError:
        return False
    return True
