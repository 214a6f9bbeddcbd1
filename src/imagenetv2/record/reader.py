"""Reading a record that is not clean: what is missing or broken becomes a fault, and the rest is read."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.record import source
from imagenetv2.record.faults import LEFT_OUT, REPORTED, Fault, table
from imagenetv2.record.settings import Record
from imagenetv2.record.source import Source

if TYPE_CHECKING:
    import pandas as pd

T = TypeVar("T")
KINDS: dict[type, str] = {dict: "object", list: "list"}


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
        repeated: Counter[str] = Counter()

        def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            found = dict(pairs)
            if len(found) < len(pairs):
                repeated.update({k: n - 1 for k, n in Counter(k for k, _ in pairs).items() if n > 1})
            return found

        try:
            value = json.loads(self.source.read(name), object_pairs_hook=keep)
        except (ValueError, InputError, RecursionError) as error:
            self.fault(
                name, "file", "file unreadable", f"not JSON: {error}", LEFT_OUT, "nothing can be read from it"
            )
            return None
        for key, more in sorted(repeated.items()):
            self.fault(
                name, key, "key repeated", f"named {more + 1} times in one object",
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
    """A whole number from a number or its digits; None for anything else."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d+\s*", value, re.ASCII):
        return int(value)
    return None


def usual(values: Sequence[int]) -> int | None:
    """The most frequent value, of several the smallest; None for no values."""
    counts = Counter(values)
    return min(counts, key=lambda v: (-counts[v], v)) if counts else None
