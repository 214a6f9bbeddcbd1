"""Reading a record that is not clean: what is missing or broken becomes a fault, and the rest is read."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import source
from imagenetv2.record.faults import CORRECTED, LEFT_OUT, REPORTED, Fault, table
from imagenetv2.record.settings import Record
from imagenetv2.record.source import Source

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
KINDS: dict[type, str] = {dict: "object", list: "list"}
HALF = re.compile("[\ud800-\udfff]")
"""Halves of surrogate pairs: JSON can write one alone, but it is no character, and no file can hold it."""
PERHAPS = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\x00")
"""Bytes without which a JSON file has no such half: escapes, UTF-8 of one, zeros of UTF-16."""
DIGITS = 4000
"""Longer texts of digits are not read as numbers; Python itself refuses them."""


class Reader:
    """A record's JSON files, and the faults found so far in ``faults``."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.faults: list[Fault] = []

    @classmethod
    def of(cls, job: Job) -> Reader:
        """The record that the configuration names. Raises InputError where none lies there."""
        settings = job.settings(Record)
        assert settings.path is not None
        return cls(source.read(settings.path, settings.kind))

    def fault(
        self, file: str, subject: str, fault: str, detail: str, action: str = REPORTED, evidence: str = ""
    ) -> None:
        """Note one fault; see ``Fault`` for what the arguments are."""
        self.faults.append(Fault(file, subject, fault, detail, action, evidence))

    def value(self, name: str, kind: type[T], *, optional: bool = False) -> T | None:
        """The value of a JSON file, an object or a list; None, and a fault, where there is none of that kind.

        A missing ``optional`` file is no fault. A repeated key in an object is one; its last value counts.
        """
        if name not in self.source.sizes:
            if not optional:
                self.fault(name, "file", "file missing", "the record holds no file of that name")
            return None
        try:
            value, repeated, halves = parsed(self.source.read(name))
        except (ValueError, InputError, RecursionError) as error:
            self.fault(
                name, "file", "file unreadable", f"not JSON: {error}", LEFT_OUT, "nothing can be read from it"
            )
            return None
        if halves:
            self.fault(
                name, "file", "text not Unicode", f"{halves:,} texts hold half a surrogate pair", CORRECTED,
                "half a pair is no character; U+FFFD stands in its place",
            )  # fmt: skip
        for key, more in sorted(repeated.items()):
            self.fault(
                name, HALF.sub("\ufffd", key), "key repeated", f"named {more + 1} times in one object",
                LEFT_OUT, "the last value counts, as for every reader of JSON",
            )  # fmt: skip
        if not isinstance(value, kind):
            self.fault(
                name, "file", "file of another type", f"holds a {type(value).__name__}, not a JSON {KINDS[kind]}",
                LEFT_OUT, "nothing in it has the expected form",
            )  # fmt: skip
            return None
        return value

    def family(self, folder: str, kind: type[T]) -> dict[str, T]:
        """Values of all JSON files below a folder by name, those that are readable."""
        names = self.source.names(folder, ".json")
        if not names:
            self.fault(folder, "folder", "folder empty", "the record holds no JSON files there")
        found = {name: self.value(name, kind) for name in names}
        return {name: value for name, value in found.items() if value is not None}

    def objects(self, name: str, items: Iterable[Any]) -> list[tuple[int, dict[str, Any]]]:
        """Items of a list that are objects, with their places; others are left out with a fault."""
        found = []
        for place, item in enumerate(items):
            if isinstance(item, dict):
                found.append((place, item))
            else:
                self.fault(
                    name, f"item {place}", "item of another type", f"holds {short(item)}, not a JSON object",
                    LEFT_OUT, "it has none of the fields",
                )  # fmt: skip
        return found

    def write(self, job: Job) -> None:
        """Write the table of faults, and log how many of which kind there are."""
        job.out.table("faults", table(self.faults))
        kinds = Counter(f.fault for f in set(self.faults))
        job.log.info("%s: %s faults", job.stage.name, f"{sum(kinds.values()):,}")


def parsed(data: bytes) -> tuple[Any, Counter[str], int]:
    """The value of a JSON file, keys that an object names again, and texts with half a surrogate pair.

    Raises ValueError for what is no JSON, RecursionError where it is nested too deep.
    """
    repeated: Counter[str] = Counter()

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            repeated.update({k: n - 1 for k, n in Counter(k for k, _ in pairs).items() if n > 1})
        return found

    value = json.loads(data, object_pairs_hook=keep)
    value, halves = without_halves(value) if PERHAPS.search(data) else (value, 0)
    return value, repeated, halves


def without_halves(value: Any) -> tuple[Any, int]:
    """A value read from JSON with U+FFFD for every half of a surrogate pair, and how many texts held one."""
    if isinstance(value, str):
        return (HALF.sub("\ufffd", value), 1) if HALF.search(value) else (value, 0)
    if isinstance(value, list):
        parts = [without_halves(v) for v in value]
        number = sum(n for _, n in parts)
        return ([v for v, _ in parts] if number else value), number
    if isinstance(value, dict):
        pairs = [(without_halves(k), without_halves(v)) for k, v in value.items()]
        number = sum(n + m for (_, n), (_, m) in pairs)
        return ({k: v for (k, _), (v, _) in pairs} if number else value), number
    return value, 0


def tuples(frame: pd.DataFrame, *columns: str) -> list[tuple[Any, ...]]:
    """Rows of some columns as tuples of plain values."""
    return list(zip(*(frame[c].to_numpy(dtype=object).tolist() for c in columns), strict=True))


def short(value: object, most: int = 60) -> str:
    """A value as it would stand in JSON, cut to ``most`` characters."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def some(items: Iterable[object], most: int = 3) -> str:
    """The first few items and how many more there are."""
    found = [str(i) for i in items]
    more = len(found) - most
    return ", ".join(found[:most]) + (f" and {more:,} more" if more > 0 else "")


def text(value: object) -> str:
    """A value as text: a text as it is, nothing as the empty one, anything else as it would stand in JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def texts(value: object) -> list[str] | None:
    """A list of texts; a single text is a list of one; None for anything else."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return value
    return None


def whole(value: object) -> int | None:
    """A whole number of 64 bits from a number or its digits; None for anything else."""
    if isinstance(value, bool):
        return None
    found = None
    if isinstance(value, int):
        found = value
    elif (isinstance(value, float) and value.is_integer()) or (
        isinstance(value, str) and re.fullmatch(rf"\s*[+-]?\d{{1,{DIGITS}}}\s*", value, re.ASCII)
    ):
        found = int(value)
    return found if found is not None and -(2**63) <= found < 2**63 else None


def number(value: object) -> float | None:
    """A finite number from a number or a text that holds one; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value)
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) else None


def usual(values: Sequence[int]) -> int | None:
    """The most frequent value, of several the smallest; None for no values."""
    counts = Counter(values)
    return min(counts, key=lambda v: (-counts[v], v)) if counts else None
