"""Where classes are read from: a CSV, or timm's table of ImageNet's 1,000; and WordNet's hypernym pairs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from imagenetv2.errors import InputError

WNID = re.compile(r"n\d{8}", re.ASCII)
REQUIRED = ("class_index", "wnid", "lemmas", "definition")
OPTIONAL = ("hypernyms", "wikipedia")


@dataclass(frozen=True)
class ClassRow:
    """One class as its source describes it; ``hypernyms`` are one way up, nearest first, or empty."""

    class_index: int
    wnid: str
    lemmas: tuple[str, ...]
    definition: str
    hypernyms: tuple[str, ...] = ()
    wikipedia: tuple[str, ...] = ()


def read(table: str) -> list[ClassRow]:
    """Rows of ``classes.table``, ordered by the class index that the source states.

    Raises InputError naming the row and column for anything missing, malformed, repeated or out of range.
    """
    rows = _timm(table) if table.startswith("timm:") else _csv(Path(table))
    rows = sorted(rows, key=lambda row: row.class_index)
    _check(table, rows)
    return rows


def _csv(path: Path) -> list[ClassRow]:
    import pandas as pd

    try:
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8", skipinitialspace=True)
    except (OSError, ValueError) as error:
        raise InputError(
            f"classes.table: {path} cannot be read as CSV ({str(error).strip()}); give a UTF-8 table with the "
            f"columns {', '.join(REQUIRED + OPTIONAL)}."
        ) from error
    missing = [name for name in REQUIRED if name not in frame]
    if missing:
        raise InputError(
            f"classes.table: {path} has no column {missing[0]}; it needs {', '.join(REQUIRED)} "
            f"and may have {', '.join(OPTIONAL)}."
        )
    rows = []
    for line, record in enumerate(frame.to_dict("records"), start=2):
        values = {str(k): str(v).strip() for k, v in record.items()}
        index = values["class_index"]
        if not re.fullmatch(r"\d+", index, re.ASCII):
            raise InputError(
                f"classes.table: {path}, line {line}: class_index is {index!r}; it must be a whole number."
            )
        rows.append(
            ClassRow(
                int(index),
                values["wnid"],
                _list(values["lemmas"]),
                values["definition"],
                _list(values.get("hypernyms", "")),
                _list(values.get("wikipedia", "")),
            )
        )
    return rows


def _timm(table: str) -> list[ClassRow]:
    from timm.data.imagenet_info import ImageNetInfo

    if table != "timm:imagenet-1k":
        raise InputError(
            f"classes.table: {table} is unknown; of timm's tables timm:imagenet-1k can be used, or give a CSV."
        )
    info = ImageNetInfo("imagenet-1k")
    rows = []
    for index, wnid in enumerate(info.label_names()):  # type: ignore[no-untyped-call]
        names = info.label_name_to_description(wnid)
        definition = info.label_name_to_description(wnid, detailed=True).removeprefix(f"{names}: ")
        rows.append(ClassRow(index, wnid, _distinct(names.split(",")), definition))
    return rows


def _list(text: str) -> tuple[str, ...]:
    return _distinct(text.split(";"))


def _distinct(parts: list[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(stripped for part in parts if (stripped := part.strip())))


def _check(table: str, rows: list[ClassRow]) -> None:
    where = f"classes.table: {table}"
    if not rows:
        raise InputError(f"{where} holds no class; give at least one row.")
    for expected, row in enumerate(rows):
        if row.class_index != expected:
            problem = "missing" if row.class_index > expected else "given twice"
            index = min(row.class_index, expected)
            raise InputError(
                f"{where}: class_index {index} is {problem}; the indices must be 0 to {len(rows) - 1}, each once."
            )
    seen: set[str] = set()
    for row in rows:
        for wnid in (row.wnid, *row.hypernyms):
            if not WNID.fullmatch(wnid):
                raise InputError(
                    f"{where}: class {row.class_index}: {wnid!r} is no WordNet ID; write n and eight digits."
                )
        if row.wnid in seen:
            raise InputError(
                f"{where}: wnid {row.wnid} occurs twice; each class has a WordNet ID of its own."
            )
        seen.add(row.wnid)
        if not row.lemmas:
            raise InputError(f"{where}: {row.wnid} has no lemmas; give at least one, they are the queries.")


def read_parents(path: Path) -> dict[str, list[str]]:
    """Parents of each synset from ImageNet's ``is_a`` file: "parent child" a line, blank lines ignored.

    Raises InputError naming the line that isn't two WordNet IDs.
    """
    try:
        text = path.read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"classes.is_a: {path} cannot be read ({error}); correct the path.") from error
    parents: dict[str, list[str]] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        pair = line.split()
        if not pair:
            continue
        if len(pair) != 2 or not all(WNID.fullmatch(wnid) for wnid in pair):
            raise InputError(
                f"classes.is_a: {path}, line {number}: {line!r} must be the WordNet IDs of a parent and a child."
            )
        parents.setdefault(pair[1], []).append(pair[0])
    return {child: sorted(set(found)) for child, found in parents.items()}
