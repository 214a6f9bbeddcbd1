"""Labelled sets: images of which a person, or their making, says which are near-duplicates.

A table in one of two forms. By groups, columns ``image`` and ``group``: images of one group are near-duplicates of
each other, all others are different, and an image whose group is empty is like no other. By pairs, columns ``image``,
``other`` and ``duplicate`` (1 or 0): only these pairs count. Both may have ``kind`` and ``strength``, which say how a
copy came about; in a table of groups the images without a kind are the originals.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.wording import plural
from imagenetv2.duplicates.engine import Indices
from imagenetv2.errors import InputError

GROUPS = ("image", "group")
PAIRS = ("image", "other", "duplicate")
HOW = ("kind", "strength")
SAID = {"1": True, "0": False}


@dataclass(frozen=True)
class Labelled:
    """Pairs of images with their labels, sorted by column, then row.

    Attributes:
        names: images as the table names them, ascending.
        row, column: the pairs, as indices into ``names``; row < column.
        duplicate: whether a pair is one of near-duplicates.
        kind, strength: how the copy of a pair came about; empty where it is not one of a copy with its original.
        with_original: whether an original is among the two; None where the table does not say which are originals.
    """

    names: list[str]
    row: Indices
    column: Indices
    duplicate: npt.NDArray[np.bool_]
    kind: npt.NDArray[np.object_]
    strength: npt.NDArray[np.object_]
    with_original: npt.NDArray[np.bool_] | None

    def without(self, names: set[str]) -> Labelled:
        """The set without some images and all pairs that they are in."""
        gone = np.array([name in names for name in self.names], dtype=bool)
        kept = ~(gone[self.row] | gone[self.column])
        place = np.cumsum(~gone) - 1
        return Labelled(
            [name for name in self.names if name not in names],
            place[self.row[kept]],
            place[self.column[kept]],
            self.duplicate[kept],
            self.kind[kept],
            self.strength[kept],
            None if self.with_original is None else self.with_original[kept],
        )

    def refuse_one_sided(self, source: Path) -> None:
        """Raise InputError where there is nothing to measure."""
        for some, what in ((self.duplicate, "near-duplicates"), (~self.duplicate, "different images")):
            if not some.any():
                raise InputError(
                    f"{source}: of {plural(len(self.row), 'pair')} none is one of {what}, so precision and recall say "
                    "nothing; label pairs of both kinds."
                )


def read(path: Path, folder: Path) -> Labelled:
    """The labelled set of a CSV file; ``folder`` holds the images.

    Raises InputError where the file is no such table, contradicts itself, or names an image that is not in the
    folder.
    """
    table = _table(path)
    form = next((f for f in (PAIRS, GROUPS) if set(f) <= set(table.columns)), None)
    if form is None:
        raise InputError(
            f"{path} has the columns {', '.join(table.columns)}; it needs {', '.join(GROUPS)} or {', '.join(PAIRS)}."
        )
    if table.empty:
        raise InputError(f"{path} has no rows; label some images.")
    for column in HOW:
        if column not in table:
            table[column] = ""
    check: Callable[[Path, pd.DataFrame], Labelled] = _of_pairs if form == PAIRS else _of_groups
    found = check(path, table)
    _refuse_missing(path, found.names, folder)
    found.refuse_one_sided(path)
    return found


def _table(path: Path) -> pd.DataFrame:
    """Columns of text without spaces around it, by the lines of the file."""
    (_, names), *rows = _lines(path)
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"{path} has the column {name} twice; keep one.")
    for line, row in rows:
        if len(row) != len(names):
            raise InputError(
                f"{path}, line {line} has {plural(len(row), 'value')} under {plural(len(names), 'column')}; write a comma "
                "for each empty value, and a value with a comma in quotes."
            )
    return pd.DataFrame([row for _, row in rows], [line for line, _ in rows], names, dtype=object)


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Numbers and values of all lines that are not blank, at least one."""
    if path.is_dir():
        raise InputError(
            f"{path} is a folder; give the CSV file of labels, and the folder of images as --folder."
        )
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            rows = ((reader.line_num, [value.strip() for value in row]) for row in reader)
            found = [(line, row) for line, row in rows if row not in ([], [""])]
    except FileNotFoundError as error:
        raise InputError(f"{path} does not exist; give the CSV file of labels.") from error
    except OSError as error:
        raise InputError(
            f"{path} cannot be read: {error.strerror or error}; give the CSV file of labels."
        ) from error
    except (ValueError, csv.Error) as error:
        raise InputError(f"{path} is no table: {error}; give a CSV file in UTF-8.") from error
    if not found:
        raise InputError(f"{path} is no table: it is empty; give a CSV file in UTF-8.")
    return found


def _refuse_missing(path: Path, names: Sequence[str], folder: Path) -> None:
    missing = [name for name in names if not (folder / name).is_file()]
    if missing:
        more = f" and {len(missing) - 1} more are" if len(missing) > 1 else " is"
        raise InputError(
            f"{path}: image {missing[0]}{more} not in {folder}; names are paths within that folder, which --folder sets."
        )


def _of_groups(path: Path, table: pd.DataFrame) -> Labelled:
    twice = table["image"][table["image"].duplicated()]
    if len(twice):
        raise InputError(f"{path}: image {twice.iloc[0]} is in two rows; keep one.")
    _refuse_empty(path, table, ("image",))
    table = table.sort_values("image", ignore_index=True)
    column, row = np.nonzero(np.tri(len(table), k=-1, dtype=bool))
    group, kind, strength = (table[name].to_numpy(object) for name in ("group", *HOW))
    duplicate = (group[row] == group[column]) & (group[row] != "")
    original = kind == ""
    # The copy of a pair is its image that has a kind; a pair of two copies has no kind of its own.
    copy = np.where(original[row], column, row)
    named = duplicate & (original[row] != original[column])
    return Labelled(
        table["image"].tolist(),
        row,
        column,
        duplicate.astype(bool),
        np.where(named, kind[copy], ""),
        np.where(named, strength[copy], ""),
        None if original.all() else original[row] | original[column],
    )


def _of_pairs(path: Path, table: pd.DataFrame) -> Labelled:
    _refuse_empty(path, table, ("image", "other"))
    odd = table[~table["duplicate"].isin(SAID)]
    if len(odd):
        raise InputError(f"{path}, {_line(odd)}: duplicate is {odd['duplicate'].iloc[0]!r}; write 1 or 0.")
    same = table[table["image"] == table["other"]]
    if len(same):
        raise InputError(
            f"{path}, {_line(same)}: {same['image'].iloc[0]} is paired with itself; drop the row."
        )
    names = sorted(set(table["image"]) | set(table["other"]))
    place = {name: i for i, name in enumerate(names)}
    ends = np.sort(
        np.array([[place[a], place[b]] for a, b in zip(table["image"], table["other"], strict=True)]), axis=1
    )
    order = np.lexsort((ends[:, 0], ends[:, 1]))
    again = np.flatnonzero((np.diff(ends[order], axis=0) == 0).all(axis=1))
    if len(again):
        a, b = (names[i] for i in ends[order[again[0]]])
        raise InputError(f"{path}: the pair {a}, {b} is in two rows; keep one.")
    duplicate, kind, strength = (table[name].to_numpy(object)[order] for name in ("duplicate", *HOW))
    said = np.array([SAID[value] for value in duplicate], dtype=bool)
    return Labelled(
        names,
        ends[order, 0],
        ends[order, 1],
        said,
        np.where(said, kind, ""),
        np.where(said, strength, ""),
        None,
    )


def _refuse_empty(path: Path, table: pd.DataFrame, columns: Sequence[str]) -> None:
    for column in columns:
        empty = table[table[column] == ""]
        if len(empty):
            raise InputError(f"{path}, {_line(empty)}: {column} is empty; name a file.")


def _line(rows: pd.DataFrame) -> str:
    return f"line {rows.index[0]}"
