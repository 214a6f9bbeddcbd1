"""From the file that a sheet saves to the store of verdicts."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from imagenetv2.errors import InputError
from imagenetv2.plan import Plan as Run
from imagenetv2.review.queue import KINDS, PAIRS, classes, pairs, require_people
from imagenetv2.review.store import MOMENT, ClassVerdict, PairVerdict, append, locked, parse, read

Sorted = tuple[list[BaseModel], int, list[str]]
"""Verdicts to add, how many are known, and what is stale."""


@dataclass(frozen=True)
class Recorded:
    """What became of a file: verdicts added, already there, and no longer asked for (by pair or class)."""

    kind: str
    added: int
    known: int
    stale: tuple[str, ...]


def record(run: Run, file: Path, now: datetime | None = None) -> Recorded:
    """Append the verdicts of a saved file to the store, all at once; those on pairs with the time, ``now``.

    Verdicts that are in the store already are left out, so the same file may be recorded twice. Those on pairs
    that are not at or below a cut-off or are one image twice, or on images that a class no longer has, are left out and reported.
    Raises InputError where the file is not one that a sheet saved, and where none of it is asked for.
    """
    require_people(run)
    kind, given = _opened(file)
    moment = (now or datetime.now(UTC)).astimezone(UTC).strftime(MOMENT)
    with locked(run.config.review.store):
        path = run.config.review.store / f"{kind}.jsonl"
        sort = _sorted_pairs if kind == PAIRS else _sorted_classes
        new, known, stale = sort(run, path, file, given, moment)
        if stale and not (new or known):
            raise InputError(
                f"{file}: nothing in it is asked for any more ({stale[0]}); write a new sheet with "
                f"imagenetv2 review sheet {kind}."
            )
        if new:
            append(path, new)
    return Recorded(kind, len(new), known, tuple(stale))


def _opened(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        given = json.loads(file.read_text("utf-8"))
    except OSError as error:
        raise InputError(
            f"{file} cannot be read ({error.strerror}); name a file that a sheet saved."
        ) from error
    except ValueError as error:
        raise InputError(f"{file} is not JSON ({error}); name a file that a sheet saved.") from error
    if not isinstance(given, dict) or given.get("kind") not in KINDS:
        raise InputError(f"{file}: kind is none of {', '.join(KINDS)}; name a file that a sheet saved.")
    if not isinstance(given.get("reviewer"), str) or not given["reviewer"].strip():
        raise InputError(f"{file}: reviewer is empty; enter your name on the sheet and save again.")
    verdicts = given.get("verdicts")
    if not isinstance(verdicts, list) or not all(isinstance(v, dict) for v in verdicts):
        raise InputError(f"{file}: verdicts is not a list of objects; name a file that a sheet saved.")
    if not verdicts:
        raise InputError(f"{file}: it holds no verdicts; judge something on the sheet and save again.")
    return given["kind"], given


def _sorted_pairs(run: Run, path: Path, file: Path, given: dict[str, Any], moment: str) -> Sorted:
    table = pairs(run)
    ids = zip(table["image_id"].tolist(), table["neighbour_id"].tolist(), strict=True)
    asked = {frozenset(pair) for pair in ids}
    latest = {v.pair: (v.verdict, v.reviewer, v.note) for v in read(path, PairVerdict)}
    new: list[BaseModel] = []
    known, stale = 0, []
    for number, item in enumerate(given["verdicts"]):
        line = {**item, "reviewer": given["reviewer"].strip(), "time": moment}
        verdict = parse(json.dumps(line), PairVerdict, f"{file}, verdicts[{number}]")
        if verdict.image_id == verdict.neighbour_id:
            stale.append(f"{verdict.image_id} and itself have the same pixels, which nobody has to judge")
        elif verdict.pair not in asked:
            stale.append(f"{verdict.image_id} and {verdict.neighbour_id} are not at or below a cut-off")
        elif latest.get(verdict.pair) == (verdict.verdict, verdict.reviewer, verdict.note):
            known += 1
        else:
            new.append(verdict)
    return new, known, stale


def _sorted_classes(run: Run, path: Path, file: Path, given: dict[str, Any], moment: str) -> Sorted:
    queue = classes(run, given["kind"])
    before = [(v.wnid, sorted(v.images), v.blacklisted, v.reviewer) for v in read(path, ClassVerdict)]
    new: list[BaseModel] = []
    known, stale = 0, []
    for number, item in enumerate(given["verdicts"]):
        line = {**item, "reviewer": given["reviewer"].strip(), "round": queue.revision.number}
        verdict = parse(json.dumps(line), ClassVerdict, f"{file}, verdicts[{number}]")
        now = queue.classes.get(verdict.wnid)
        images = sorted(verdict.images)
        if (verdict.wnid, images, verdict.blacklisted, verdict.reviewer) in before:
            known += 1
        elif now is None or tuple(images) != now.ids:
            stale.append(f"{verdict.wnid} holds other images in revision {queue.revision.number}")
        else:
            new.append(verdict)
    return new, known, stale
