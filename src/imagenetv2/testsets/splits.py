"""Which split Parquet files are of, as their names and folders say, and whether all its files are there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.testsets.gates import Gate

SHARD = re.compile(r"(.+?)-(\d{5})-of-(\d{5})[^/]*\.parquet", re.ASCII)
SPLIT = re.compile(
    r"(?:partial[-_])?(train|training|validation|valid|val|dev|test|testing)(?![A-Za-z])", re.ASCII
)
"""What a file or folder of one split begins with; the Hub's own conversion has <configuration>/<split>/0000.parquet."""
VALIDATION = ("validation", "val", "valid")


def one(files: Sequence[Path], path: Path) -> tuple[str, list[Path]]:
    """The only split or, of several, the validation split, with its files; its name may be empty.

    Raises InputError where there are several, and not one of them is the validation split.
    """
    found: dict[str, list[Path]] = {}
    for file in files:
        found.setdefault(_split(file, path), []).append(file)
    chosen = [name for name in found if name in VALIDATION] if len(found) > 1 else list(found)
    if len(chosen) != 1 or (len(found) > 1 and "" in found):
        named = ", ".join(name or "one without a name" for name in found)
        raise InputError(
            f"{path}: it holds Parquet files of several splits ({named}); name a folder with one of them."
        )
    return chosen[0], found[chosen[0]]


def require_shards(files: Sequence[Path], split: str, gate: Gate) -> None:
    """Raise InputError where files of a split are missing, or some are of another partition of it.

    Missing ones are a remark where only a part is meant to be there.
    """
    shards = [shard for file in files if (shard := SHARD.fullmatch(file.name))]
    if not shards:
        return
    many, places = {int(shard[3]) for shard in shards}, {int(shard[2]) for shard in shards}
    if len(many) > 1 or len(places) < len(shards) or len(shards) < len(files):
        raise InputError(
            f"{gate.where}: its {len(files)} Parquet files of split {split} are of several partitions, such as "
            f"{files[0].name} and {files[-1].name}; name a folder with one of them."
        )
    if len(places) != (total := many.pop()):
        gate.lacks(
            f"{len(places)} of the {total} Parquet files of split {split} are there",
            "download the missing ones",
        )


def _split(file: Path, path: Path) -> str:
    """By the file's name or else by the nearest folder, up to the one that was named."""
    shard = SHARD.fullmatch(file.name)
    if shard:
        return shard[1]
    names = [file.stem]
    if path.is_dir():
        names += [*file.relative_to(path).parts[-2::-1], path.resolve().name]
    return next((split[1] for name in names if (split := SPLIT.match(name))), "")
