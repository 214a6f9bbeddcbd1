"""From a listing to groups: the root of a set, its class folders, and what lies beside them."""

from __future__ import annotations

from dataclasses import dataclass

from imagenetv2.errors import InputError
from imagenetv2.images import UndecodableImageError, container
from imagenetv2.testsets.class_table import CLASSES
from imagenetv2.testsets.names import is_beside, is_class, is_image
from imagenetv2.testsets.stores import Listed, Store

MANIFEST = "manifest.csv"
TABLES = (CLASSES, MANIFEST)
MAGIC = 16


@dataclass(frozen=True)
class Tree:
    """A set before anything is judged.

    Attributes:
        root: folder in the store that holds the class folders, with a slash at its end; or empty.
        groups: files of each class folder, by the folder's name below the root; folders may be empty.
        loose: images that lie in no class folder.
        tables: names in the store of classes.csv and manifest.csv, where they lie at the root.
    """

    root: str
    groups: dict[str, list[Listed]]
    loose: list[Listed]
    tables: dict[str, str]


def read(store: Store) -> Tree:
    """Group the files of a store.

    Folders that only hold one other folder are gone into, as archives often begin with one, until a name is that
    of a class.
    """
    files = [file for file in store.files if not is_beside(file.name)]
    folders = [name for name in store.folders if not is_beside(name)]
    root = _root(files, folders)
    groups: dict[str, list[Listed]] = {
        name[len(root) :]: []
        for name in folders
        if name.startswith(root) and "/" not in name[len(root) :] and name != root
    }
    loose, tables = [], {}
    for file in files:
        if not file.name.startswith(root):
            continue
        first, slash, _ = file.name[len(root) :].partition("/")
        if slash:
            groups.setdefault(first, []).append(file)
        elif first in TABLES:
            tables[first] = file.name
        elif is_image(first):
            loose.append(file)
    groups.pop("", None)
    return Tree(root, groups, loose, tables)


def has_classes(store: Store) -> bool:
    """Whether a folder that is named like a class holds a file that is named like an image."""
    groups = read(store).groups
    return any(
        is_class(name) and any(is_image(file.name) for file in files) for name, files in groups.items()
    )


def _root(files: list[Listed], folders: list[str]) -> str:
    root = ""
    while True:
        below = {
            name[len(root) :].split("/")[0] for name in folders if name.startswith(root) and name != root
        }
        below.discard("")
        loose = any("/" not in file.name[len(root) :] for file in files if file.name.startswith(root))
        if loose or len(below) != 1 or is_class(next(iter(below))):
            return root
        root += f"{next(iter(below))}/"


def require_images(store: Store, files: list[Listed]) -> None:
    """Raise InputError where a file in a class folder is no image, by its name or else by its first bytes."""
    for file in files:
        if not is_image(file.name) and file.size:
            try:
                container(store.read(file.name, MAGIC))
            except UndecodableImageError as error:
                raise InputError(
                    f"{store.shown(file.name)} is {error}; class folders hold images only: remove it."
                ) from error
