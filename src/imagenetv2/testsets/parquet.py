"""Images in Parquet files as the Hugging Face Hub has them: a column ``image`` and a column ``label``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.testsets import class_table, splits
from imagenetv2.testsets.class_table import WNID, ClassTable
from imagenetv2.testsets.gates import Gate
from imagenetv2.testsets.known import by_name
from imagenetv2.testsets.labelled import Labelled, judge, printable
from imagenetv2.testsets.row_groups import Rows
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.unpacking import stem

ENDING = ".parquet"


def open_parquet(path: Path, files: Sequence[Path], *, partial: bool) -> TestSet:
    """The set in ``files``, sorted, which lie at or below ``path``; see ``opening.open_testset``."""
    where = str(path)
    gate = Gate(where, partial)
    split, chosen = splits.one(files, path)
    splits.require_shards(chosen, split, gate)
    training = split.startswith("train")
    if training:
        gate.remarks.append(f"it is the split {split}, whose images networks may have been trained on")
    rows = Rows(chosen)
    if not len(rows):
        raise InputError(f"{where}: its Parquet files hold no row; name a test set.")
    table = class_table.imagenet()
    indices = _indices(rows, table, where)
    sizes = {file: file.stat().st_size for file in chosen}
    images = [
        Labelled(image, index, rows.name(row), sizes[rows.file(row)])
        for row, (image, index) in enumerate(zip(_ids(rows, indices, table), indices, strict=True))
    ]
    judged = judge(images, table, by_name(stem(path)), gate, training=training)
    return judged.testset(stem(path), f"Parquet, split {split}" if split else "Parquet", rows)


def _indices(rows: Rows, table: ClassTable, where: str) -> list[int]:
    """Class index of each row; labels that have names which are WordNet IDs go by those."""
    labels = rows.labels()
    names = (rows.features().get("label") or {}).get("names")
    size = len(names) if names else len(table.wnids)
    wrong = next((row for row, label in enumerate(labels) if not 0 <= label < size), None)
    if wrong is not None:
        hint = (
            "the split has no labels: take the validation split"
            if labels[wrong] == -1
            else "name another set"
        )
        raise InputError(f"{where}: label {labels[wrong]} of row {wrong} is none of {size} classes; {hint}.")
    if not names:
        return labels
    if all(WNID.fullmatch(str(name)) for name in names):
        strange = [name for name in names if name not in table.index_of]
        if strange or len(set(names)) < len(names):
            raise InputError(
                f"{where}: the names of its labels are {len(names)} WordNet IDs of which {len(strange)} are none of "
                f"{table.source}'s, such as {(strange or names)[0]}, or some occur twice; name another set."
            )
        return [table.index_of[names[label]] for label in labels]
    _require_words([str(name) for name in names], table, where)
    return labels


def _require_words(names: Sequence[str], table: ClassTable, where: str) -> None:
    """Raise InputError where label names, which are words, are those of another number or order of classes."""
    if len(names) != len(table.wnids):
        raise InputError(
            f"{where}: its labels have {len(names)} names, not {len(table.wnids)}, and they are no WordNet IDs, so their "
            "class indices are unknown; name another set."
        )
    words = [_words(text) for text in table.words]
    owners: dict[str, set[int]] = {}
    for index, own in enumerate(words):
        for word in own:
            owners.setdefault(word, set()).add(index)
    for index, name in enumerate(names):
        others = {other for word in _words(name) for other in owners.get(word, ())}
        if others and index not in others:
            raise InputError(
                f"{where}: label {index} is named {name!r} there, which is class {table.shown(min(others))} in "
                f"{table.source}; its classes are permuted: name another set."
            )


def _words(text: str) -> set[str]:
    return {word.strip().lower() for word in text.split(",") if word.strip()}


def _ids(rows: Rows, indices: Sequence[int], table: ClassTable) -> list[str]:
    """By the file names in the column ``image.path`` or, where these do not tell images apart, by row."""
    files = [printable((path or "").rsplit("/", 1)[-1]) for path in rows.paths()]
    ids = [f"{table.wnids[index]}/{file}" for file, index in zip(files, indices, strict=True)]
    if all(files) and len(set(ids)) == len(ids):
        return ids
    return [f"{table.wnids[index]}/{row:08d}" for row, index in enumerate(indices)]
