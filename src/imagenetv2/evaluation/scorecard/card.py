"""From what was asked for to what is written: the whole command, without its options."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from imagenetv2.analysis.wording import plural
from imagenetv2.atomically import write_bytes
from imagenetv2.errors import InputError
from imagenetv2.evaluation.names.expansion import expand, require_meaning
from imagenetv2.evaluation.scorecard import hidden, shelf
from imagenetv2.evaluation.scorecard.comparable import NO
from imagenetv2.evaluation.scorecard.content import require_loadable
from imagenetv2.evaluation.scorecard.entrants import Entrant, outlined
from imagenetv2.evaluation.scorecard.lines import Count
from imagenetv2.evaluation.scorecard.rows import Original, Row, Scored, row
from imagenetv2.evaluation.scorecard.sets import Opened, open_all, packed
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.evaluation.scorecard.work import Piece, compute, pieces, resources
from imagenetv2.pooling import threaded
from imagenetv2.testsets.checking import check_files

FAILED, INCOMPARABLE = 1, 3


@dataclass(frozen=True)
class Plan:
    """What is to be computed, and what is there already.

    Attributes:
        sets, entrants: in the order asked for.
        pieces: every model that was found on every set.
        failed: why other models are not there, by name.
        packed: archives that are to be unpacked, of which nothing is known before.
    """

    sets: Sequence[Opened]
    entrants: Sequence[Entrant]
    pieces: Sequence[Piece]
    failed: Mapping[str, str]
    packed: Sequence[Path] = ()

    @property
    def todo(self) -> list[Piece]:
        """Without what is finished."""
        return [piece for piece in self.pieces if piece.finished is None]


@dataclass(frozen=True)
class Card:
    """Results.

    Attributes:
        rows: one a model and set, in the order asked for.
        sets, entrants: what they are of.
        failed: why models have none, or not all, by name.
    """

    rows: Sequence[Row]
    sets: Sequence[Opened]
    entrants: Sequence[Entrant]
    failed: Mapping[str, str]

    @property
    def code(self) -> int:
        """Exit code: a model failed, or something is not comparable with published numbers, or 0."""
        if self.failed:
            return FAILED
        return INCOMPARABLE if any(row["comparable"] == NO for row in self.rows) else 0


def plan(wanted: Wanted, unpack: bool = True) -> Plan:
    """Find models and sets.

    Args:
        wanted: what was asked for.
        unpack: whether compressed archives are unpacked, into ``wanted.out``, and files of sets are read, which is
            noted there; nothing else is written.

    Raises InputError where a name or a set is not as it must be, or no model can be used.
    """
    require_meaning(wanted.models)
    left = [] if unpack else packed(wanted)
    sets = open_all(wanted, left)
    entrants, failed = outlined(expand(wanted.models))
    # Models are loaded before sets are read: a file that is no network is found in seconds, and reading takes minutes.
    sets = tuple(checked(of, wanted.out, wanted.cores, look=False) for of in sets)
    found, unfit = pieces(entrants, sets, wanted)
    failed |= unfit | unloadable(entrants if left else [p.entrant for p in found if p.finished is None])
    kept = [entrant for entrant in entrants if entrant.name not in failed]
    if not kept:
        raise InputError(next(iter(failed.values())))
    if unpack:
        sets = tuple(checked(of, wanted.out, wanted.cores, look=True) for of in sets)
    found, _ = pieces(kept, sets, wanted)
    return Plan(sets, kept, found, failed, left)


def unloadable(entrants: Iterable[Entrant]) -> dict[str, str]:
    """Why models whose weights are on this machine cannot be loaded, by name; one in memory at a time."""
    failed = {}
    for name, entrant in {entrant.name: entrant for entrant in entrants}.items():
        try:
            require_loadable(entrant.model, entrant.facts)
        except InputError as error:
            failed[name] = str(error)
    return failed


def fill(plan: Plan, wanted: Wanted, log: logging.Logger) -> Card:
    """Compute what is not there, and make all rows."""
    todo, failed = plan.todo, dict(plan.failed)
    there = len(plan.pieces) - len(todo)
    log.info("%d of %s there, %d to compute", there, plural(len(plan.pieces), "prediction"), len(todo))
    if todo:
        how = resources(wanted)
        failed |= compute(todo, how, log)
    done = [piece for piece in plan.pieces if piece.finished is not None]
    return Card(_rows(done, wanted), plan.sets, plan.entrants, failed)


def checked(of: Opened, out: Path, cores: int, look: bool) -> Opened:
    """A set whose content is known: every file is read, once as long as none changes, which is noted in ``out``.

    Without ``look`` only the note is read, and content that is not in it stays unknown.
    """
    name = hashlib.sha256(f"{of.set.digest} {of.set.state}".encode()).hexdigest()
    note = hidden.checked(out) / name
    if note.exists():
        return replace(of, content=note.read_text("utf-8").strip())
    if not look:
        return of
    content = check_files(of.set, cores)
    note.parent.mkdir(parents=True, exist_ok=True)
    write_bytes(note, f"{content}\n".encode())
    return replace(of, content=content)


def _rows(done: Sequence[Piece], wanted: Wanted) -> list[Row]:
    originals = {
        piece.entrant.name: Original(Count(*shelf.right(piece.path)), piece.of)
        for piece in done
        if piece.of.part == "val"
    }

    def one(piece: Piece) -> Row:
        made = piece.finished
        assert made is not None
        scored = Scored(piece.entrant, piece.of, shelf.read(piece.path), made)
        return row(scored, originals.get(piece.entrant.name), wanted)

    return list(threaded(one, done, wanted.cores))
