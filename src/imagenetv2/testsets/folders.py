"""Open a folder or archive of images: class folders, or ImageNet's validation images without any."""

from __future__ import annotations

from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.testsets import class_folders, class_table, devkit, manifest, tree, validation
from imagenetv2.testsets.class_table import CLASSES, ClassTable
from imagenetv2.testsets.gates import Gate
from imagenetv2.testsets.known import by_name, require_release
from imagenetv2.testsets.labelled import Labelled, judge, printable
from imagenetv2.testsets.names import validation_number
from imagenetv2.testsets.pictures import Stored
from imagenetv2.testsets.stores import Store
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.tree import MANIFEST, Tree
from imagenetv2.testsets.unpacking import stem

FLAT = "flat with the development kit"


def open_images(path: Path, store: Store, kit: Path | None, *, partial: bool) -> TestSet:
    """The set in ``store``, which is what lies at ``path``; see ``opening.open_testset``."""
    found = tree.read(store)
    where = str(path) if not found.root else store.shown(found.root).rstrip("/")
    table = _table(store, found)
    listing = _manifest(store, found)
    if found.groups:
        images, layout = _by_folder(store, found, table, where), class_folders.layout(found.groups)
    else:
        images, layout = _flat(path, found, kit, table, where), FLAT
    named = by_name(*found.root.rstrip("/").split("/")[::-1], stem(path))
    gate = Gate(where, partial)
    if listing is not None:
        listing.require({image.file[len(found.root) :]: image.index for image in images}, table, gate)
    judged = judge(images, table, named, gate, listed=listing is not None)
    if found.groups and kit is not None:
        _require_kit(images, kit, path, table, where)
    digests = {}
    if listing is not None:
        digests = {found.root + file: digest for file, digest in listing.digests.items()}
    hashed = judged.known is not None and path.is_file() and require_release(path, judged.known)
    files = Stored(store, [image.file for image in images], digests)
    return judged.testset(stem(path), ", ".join(filter(None, (layout, store.kind))), files, hashed=hashed)


def _table(store: Store, found: Tree) -> ClassTable:
    if CLASSES not in found.tables:
        return class_table.imagenet()
    name = found.tables[CLASSES]
    return class_table.parse(store.read(name), store.shown(name))


def _manifest(store: Store, found: Tree) -> manifest.Manifest | None:
    name = found.tables.get(MANIFEST)
    return None if name is None else manifest.parse(store.read(name), store.shown(name))


def _by_folder(store: Store, found: Tree, table: ClassTable, where: str) -> list[Labelled]:
    if found.loose:
        first = found.loose[0].name[len(found.root) :]
        raise InputError(
            f"{where}: {len(found.loose)} images lie beside its class folders, the first is {first}; move them into one, or "
            "remove them."
        )
    images = []
    for folder, index in class_folders.indices(found.groups, table, where).items():
        start = len(found.root) + len(folder) + 1
        wnid = table.wnids[index]
        tree.require_images(store, found.groups[folder])
        images += [
            Labelled(f"{wnid}/{printable(file.name[start:])}", index, file.name, file.size)
            for file in found.groups[folder]
        ]
    if not images:
        raise InputError(f"{where}: its {len(found.groups)} class folders are empty; unpack the set again.")
    return sorted(images)


def _flat(path: Path, found: Tree, given: Path | None, table: ClassTable, where: str) -> list[Labelled]:
    numbers = [validation_number(file.name) for file in found.loose]
    if not numbers or None in numbers:
        other = next((f.name for f, n in zip(found.loose, numbers, strict=True) if n is None), None)
        some = f"{len(numbers):,} images, such as {other}," if other else "no images"
        raise InputError(
            f"{where}: it holds {some} and no class folders (0 to {len(table.wnids) - 1}, or WordNet IDs such as "
            f"{table.wnids[0]}), from which classes could be told; name a test set."
        )
    kit = devkit.find(given, path)
    if kit is None:
        raise InputError(
            f"{where}: it holds {len(numbers):,} validation images without class folders, whose classes only ImageNet's "
            f"development kit tells; give --devkit {devkit.NAMES[1]}, or lay it beside."
        )
    sure = [number for number in numbers if number is not None]
    validation.require_distinct(sure, [file.name for file in found.loose], where)
    truth = devkit.read(kit).class_indices(table)
    return sorted(
        Labelled(
            f"{table.wnids[truth[n - 1]]}/{file.name[len(found.root) :]}", truth[n - 1], file.name, file.size
        )
        for n, file in zip(sure, found.loose, strict=True)
    )


def _require_kit(images: list[Labelled], kit: Path, path: Path, table: ClassTable, where: str) -> None:
    """Compare with a kit that is given; it says nothing of other images than those of the validation set."""
    numbers = validation.numbers([image.id for image in images])
    given = devkit.find(kit, path)
    if numbers is not None and given is not None:
        indices = [image.index for image in images]
        validation.require_truth(numbers, indices, devkit.read(given), table, where)
