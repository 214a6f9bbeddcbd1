"""Class folders, by their names: every one must stand for a class, and no two for the same."""

from __future__ import annotations

from collections.abc import Mapping

from imagenetv2.errors import InputError
from imagenetv2.testsets.class_table import WNID, ClassTable
from imagenetv2.testsets.names import INDEX, class_of, is_class, suggestion
from imagenetv2.testsets.stores import Listed

Groups = Mapping[str, list[Listed]]


def indices(groups: Groups, table: ClassTable, where: str) -> dict[str, int]:
    """Class index of each folder, by its name and never by its place in a listing.

    Args:
        groups: files by folder.
        table: the classes.
        where: the set, for messages.

    Raises:
        InputError: a folder stands for no class, or two stand for one.
    """
    _refuse_devkit_ids(groups, table, where)
    found = {name: class_of(name, table) for name in sorted(groups)}
    strangers = [name for name, index in found.items() if index is None]
    if strangers:
        known = {index for index in found.values() if index is not None}
        raise InputError(_strange(strangers, known, groups, table, where))
    sure = {name: index for name, index in found.items() if index is not None}
    _refuse_doubles(sure, table, where)
    return sure


def layout(groups: Groups) -> str:
    """The layout in words."""
    kinds = {bool(INDEX.fullmatch(name)) for name in groups}
    if kinds == {True}:
        return "class folders by index"
    return "class folders by WordNet ID" if kinds == {False} else "class folders by index and by WordNet ID"


def _refuse_devkit_ids(groups: Groups, table: ClassTable, where: str) -> None:
    """ILSVRC2012_IDs run from 1 and are ordered otherwise, so that a folder 1000 gives them away."""
    numbers = {int(name) for name in groups if INDEX.fullmatch(name)}
    last = len(table.wnids)
    if last in numbers and 0 not in numbers and max(numbers) == last:
        raise InputError(
            f"{where}: its folders are numbered up to {last} without 0, so these are probably ILSVRC2012_IDs of the "
            f"development kit and not class indices (0 to {last - 1}), which have another order; name the folders by WordNet ID, "
            "which data/meta.mat of the development kit gives."
        )


def _strange(strangers: list[str], known: set[int], groups: Groups, table: ClassTable, where: str) -> str:
    name = strangers[0]
    count = f"{len(strangers)} of its {len(groups)} folders"
    if is_class(name):
        what = "WordNet IDs" if WNID.fullmatch(name) else "class indices"
        return (
            f"{where}: {count} are extra, the first is {name}, which is not among the {len(table.wnids)} {what} of "
            f"{table.source}; remove or rename them."
        )
    if len(strangers) == len(groups):
        inner = next((n for n in ("val", "validation") if n in groups), None)
        hint = f"name its folder {inner}" if inner else "name a folder of class folders"
        return (
            f"{where}: it holds {', '.join(strangers[:3])}{' …' if len(strangers) > 3 else ''} and no class folders (0 "
            f"to {len(table.wnids) - 1}, or WordNet IDs such as {table.wnids[0]}); {hint}."
        )
    free = [index for index in range(len(table.wnids)) if index not in known]
    return (
        f"{where}: {count} are named neither by class index nor by WordNet ID, the first is {name}"
        f"{suggestion(name, free, table)}; rename or remove them."
    )


def _refuse_doubles(found: Mapping[str, int], table: ClassTable, where: str) -> None:
    first: dict[int, str] = {}
    doubles = [(first[i], name, i) for name, i in found.items() if first.setdefault(i, name) != name]
    if doubles:
        one, other, index = doubles[0]
        raise InputError(
            f"{where}: {len(doubles)} classes have two folders, the first are {one} and {other}, both of class "
            f"{table.shown(index)}; put their images together, or remove one of them."
        )
