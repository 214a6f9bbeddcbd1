"""Recorded votes: how many people chose which class for each photograph."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from imagenetv2.errors import InputError

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Recorded:
    """A photograph's file, the WordNet ID of its label, and votes for each class in class order."""

    image: str
    wnid: str
    counts: Counts


def by_name(lemmas: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """WordNet ID of each name that a folder, label or column may have: a synonym in lower case, or the ID.

    Of classes that share a synonym the first has it.
    """
    names: dict[str, str] = {}
    for wnid, words in lemmas.items():
        names[wnid.lower()] = wnid
        for word in words:
            names.setdefault(word.lower(), wnid)
    return names


def wnid_of(name: str, names: Mapping[str, str], where: str) -> str:
    """The class of that name. Raises InputError saying ``where`` it stands."""
    wnid = names.get(name.strip().lower().replace("_", " "))
    if wnid is None:
        raise InputError(
            f"{where}: {name!r} is no class; give the table of classes a lemma of that name, or take it out."
        )
    return wnid


def read_votes(path: Path, lemmas: Mapping[str, Sequence[str]]) -> list[Recorded]:
    """The table of votes, in its order. Raises InputError naming file, line and column of what is wrong."""
    names = by_name(lemmas)
    order = {wnid: n for n, wnid in enumerate(lemmas)}
    header, rows = _table(path)
    columns = {
        c: order[wnid_of(c, names, f"{path}, first line")]
        for c in header
        if c not in ("index", "image", "label")
    }
    missing = [w for w, n in order.items() if n not in columns.values()]
    if missing:
        raise InputError(
            f"{path} has no column for {missing[0]} ({lemmas[missing[0]][0]}); add one, or take the class out."
        )
    found: list[Recorded] = []
    seen: set[str] = set()
    for line, row in enumerate(rows, start=2):
        if not row:
            continue
        if len(row) != len(header):
            raise InputError(
                f"{path}, line {line} has {len(row)} values, not {len(header)} as its first line."
            )
        record = _record(
            dict(zip(header, row, strict=True)), columns, len(order), names, f"{path}, line {line}"
        )
        if record.image in seen:
            raise InputError(f"{path}, line {line}: {record.image} stands there twice; take one out.")
        seen.add(record.image)
        found.append(record)
    return found


def _table(path: Path) -> tuple[list[str], list[list[str]]]:
    """The first line and the others."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = list(csv.reader(file))
    except FileNotFoundError as error:
        raise InputError(f"world.folder.votes: {path} does not exist; correct the name.") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} is no CSV file in UTF-8 ({error}); save it as one.") from error
    header = rows[0] if rows else []
    for wanted in ("image", "label"):
        if wanted not in header:
            raise InputError(f"{path} has no column {wanted}; its first line must name its columns.")
    return header, rows[1:]


def _record(
    row: Mapping[str, str], columns: Mapping[str, int], classes: int, names: Mapping[str, str], where: str
) -> Recorded:
    counts = np.zeros(classes, np.int64)
    for column, position in columns.items():
        text = row[column].strip()
        if not text.isdecimal():
            raise InputError(f"{where}: {column} is {text!r}; votes are whole numbers from 0.")
        counts[position] += int(text)
    if counts.sum() == 0:
        raise InputError(f"{where}: {row['image']} has no votes; take the line out.")
    return Recorded(row["image"].removeprefix("./"), wnid_of(row["label"], names, where), counts)


def in_order(counts: Counts, rng: np.random.Generator) -> Counts:
    """The votes in a random order, one row a class, one column a vote: 1 where the vote was for the class.

    All classes share the order, so that no vote is counted for two.
    """
    votes = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    ordered: Counts = (votes == np.arange(len(counts))[:, None]).astype(np.int64)
    return ordered
