"""ImageNet's development kit: the class of each validation image, as the challenge of 2012 gave it out.

Its ILSVRC2012_IDs, 1 to 1,000, are not class indices: those are places in the sorted list of WordNet IDs, which
is why the way goes from the id to the WordNet ID and from there to the class index.
"""

from __future__ import annotations

import io
import tarfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from imagenetv2.errors import InputError
from imagenetv2.testsets.class_table import ClassTable
from imagenetv2.testsets.stores import Disk

FOLDER = "ILSVRC2012_devkit_t12"
NAMES = (FOLDER, f"{FOLDER}.tar.gz", f"{FOLDER}.tar", f"{FOLDER}.tgz")
TRUTH = "ILSVRC2012_validation_ground_truth.txt"
META = "meta.mat"
IMAGES = 50_000


@dataclass(frozen=True)
class DevelopmentKit:
    """What it says of validation images.

    Attributes:
        where: its place, for messages.
        wnid_of: WordNet ID by ILSVRC2012_ID.
        ilsvrc2012_ids: ILSVRC2012_ID of validation image n, at n − 1.
    """

    where: str
    wnid_of: Mapping[int, str]
    ilsvrc2012_ids: tuple[int, ...]

    def class_indices(self, table: ClassTable) -> tuple[int, ...]:
        """Class index of validation image n, at n − 1. Raises InputError for an id or WordNet ID that is unknown."""
        unknown = sorted(set(self.ilsvrc2012_ids) - set(self.wnid_of))
        if unknown:
            raise InputError(
                f"{self.where}: {TRUTH} holds the ILSVRC2012_ID {unknown[0]}, which {META} does not have; download "
                "the development kit again."
            )
        strange = sorted(
            {w for i in set(self.ilsvrc2012_ids) if (w := self.wnid_of[i]) not in table.index_of}
        )
        if strange:
            raise InputError(
                f"{self.where}: {META} gives the WordNet ID {strange[0]}, which is none of {table.source}'s classes; "
                "download the development kit again."
            )
        index = {i: table.index_of[wnid] for i, wnid in self.wnid_of.items() if wnid in table.index_of}
        return tuple(index[i] for i in self.ilsvrc2012_ids)


def find(given: Path | None, path: Path) -> Path | None:
    """The kit that was given or, failing that, one beside or in ``path``."""
    if given is not None:
        if not given.exists():
            raise InputError(f"--devkit: {given} does not exist; correct the path.")
        return given
    around = [folder for folder in (path, path.resolve().parent) if folder.is_dir()]
    return next((folder / name for folder in around for name in NAMES if (folder / name).exists()), None)


def read(path: Path) -> DevelopmentKit:
    """The kit at ``path``, a folder or archive. Raises InputError where it is none, or not whole."""
    found = _in_folder(path) if path.is_dir() else _in_archive(path)
    for name in (TRUTH, META):
        if len(found[name]) != 1:
            raise InputError(
                f"{path} holds {len(found[name]) or 'no'} data/{name}; give the folder {FOLDER}, or its archive, as "
                "--devkit."
            )
    return DevelopmentKit(str(path), _wnids(found[META][0], path), _truth(found[TRUTH][0], path))


def _in_folder(path: Path) -> dict[str, list[bytes]]:
    disk = Disk(path)
    return {n: [disk.read(f.name) for f in disk.files if f.name.split("/")[-1] == n] for n in (TRUTH, META)}


def _in_archive(path: Path) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {TRUTH: [], META: []}
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                name = member.name.split("/")[-1]
                if name in found and (file := archive.extractfile(member)) is not None:
                    found[name].append(file.read())
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise InputError(
            f"{path} is no whole tar archive ({error}); download the development kit again."
        ) from error
    return found


def _truth(data: bytes, path: Path) -> tuple[int, ...]:
    words = data.decode("utf-8", "replace").split()
    bad = next((n for n, word in enumerate(words, start=1) if not word.isdecimal()), None)
    if bad is not None:
        raise InputError(
            f"{path}: line {bad} of {TRUTH} is {words[bad - 1]!r}, not a whole number; download it again."
        )
    if len(words) != IMAGES:
        raise InputError(f"{path}: {TRUTH} has {len(words):,} lines, not {IMAGES:,}; download it again.")
    return tuple(int(word) for word in words)


def _wnids(data: bytes, path: Path) -> dict[int, str]:
    from scipy.io import loadmat

    try:
        synsets: Any = loadmat(io.BytesIO(data), squeeze_me=True)["synsets"]
        pairs = [(int(s["ILSVRC2012_ID"]), str(s["WNID"])) for s in synsets.reshape(-1)]
    except Exception as error:  # scipy raises whatever a broken file makes it trip over.
        raise InputError(
            f"{path}: {META} cannot be read ({error}); it must hold synsets with ILSVRC2012_ID and WNID: download the "
            "development kit again."
        ) from error
    if len(dict(pairs)) != len(pairs):
        raise InputError(f"{path}: {META} gives an ILSVRC2012_ID twice; download the development kit again.")
    return dict(pairs)
