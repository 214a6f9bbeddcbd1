"""Which class index is which WordNet ID: ImageNet's table, or that of another benchmark beside a set."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass
from functools import cached_property

from imagenetv2.errors import InputError
from imagenetv2.testsets import timm_tables

CLASSES = "classes.csv"
WNID = re.compile(r"n\d{8}", re.ASCII)


@dataclass(frozen=True)
class ClassTable:
    """Classes in the order of the class index.

    Attributes:
        source: whose table it is, for messages.
        wnids: WordNet ID of each class.
        words: synonyms of each class, separated by commas; maybe empty.
    """

    source: str
    wnids: tuple[str, ...]
    words: tuple[str, ...]

    @cached_property
    def index_of(self) -> dict[str, int]:
        """Class index by WordNet ID."""
        return {wnid: index for index, wnid in enumerate(self.wnids)}

    @property
    def is_imagenet(self) -> bool:
        """Whether these are ImageNet's 1,000 classes in their usual order."""
        return self.wnids == timm_tables.imagenet_wnids()

    def shown(self, index: int) -> str:
        """A class for a message: both its names."""
        return f"{index} ({self.wnids[index]})"


def imagenet() -> ClassTable:
    """ImageNet's 1,000 classes, as timm carries them."""
    return ClassTable("ImageNet", timm_tables.imagenet_wnids(), timm_tables.imagenet_words())


def parse(data: bytes, where: str) -> ClassTable:
    """A table with the columns class_index, wnid and maybe words.

    Raises InputError where it is none, or where it numbers ImageNet's 1,000 classes in another order.
    """
    rows = read_rows(data, where, ("class_index", "wnid"))
    wnids, words = [], []
    for line, row in enumerate(rows, start=2):
        if row["class_index"] != str(line - 2):
            raise InputError(
                f"{where}, line {line}: class_index is {row['class_index']!r}, not {line - 2}; the rows must be in "
                "the order of the class index, from 0."
            )
        if not WNID.fullmatch(row["wnid"]) or row["wnid"] in wnids:
            raise InputError(
                f"{where}, line {line}: {row['wnid']!r} is no WordNet ID of its own; write n and eight digits, each "
                "class once."
            )
        wnids.append(row["wnid"])
        words.append(row.get("words", ""))
    table = ClassTable(where, tuple(wnids), tuple(words))
    _require_usual_order(table)
    return table


def _require_usual_order(table: ClassTable) -> None:
    usual = timm_tables.imagenet_wnids()
    if set(table.wnids) == set(usual) and table.wnids != usual:
        index = next(i for i, wnid in enumerate(table.wnids) if wnid != usual[i])
        raise InputError(
            f"{table.source}: class index {index} is {table.wnids[index]} there, but {usual[index]} in ImageNet: the "
            "classes are permuted; correct the table, or delete it and name the folders by WordNet ID."
        )


def read_rows(data: bytes, where: str, needed: tuple[str, ...]) -> list[dict[str, str]]:
    """Rows of a CSV in UTF-8, all values as text. Raises InputError where it is none or lacks a column."""
    try:
        text = data.decode("utf-8-sig")
        reader = csv.DictReader(io.StringIO(text, newline=""), strict=True)
        rows = [{key: value or "" for key, value in row.items() if key} for row in reader]
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{where} cannot be read as CSV in UTF-8 ({error}); mend or delete it.") from error
    missing = [name for name in needed if name not in (reader.fieldnames or ())]
    if missing or not rows:
        lacks = f"has no column {missing[0]}" if missing else "holds no row"
        raise InputError(f"{where} {lacks}; it needs the columns {', '.join(needed)}, or delete it.")
    return rows
