"""Published test sets: what their folders and archives must hold."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.progress import bar
from imagenetv2.testsets import timm_tables

CHUNK = 1 << 20


@dataclass(frozen=True)
class Release:
    """An archive as it was published: its size in bytes and its SHA-256, in hex."""

    bytes: int
    sha256: str


@dataclass(frozen=True)
class Known:
    """A published set.

    Attributes:
        name: as in tables.
        images: how many there are.
        per_class: how many there are of each class; None where classes differ.
        named: what a folder or archive of it is named like.
        subset: timm's name of the list of its classes; None for all of ImageNet's.
        releases: its archives; those of ImageNetV2 were replaced once. Of the older ones only sizes and SHA-256 are
            known here, not what is in them: two are half as large. Like any set they must pass the counts.
    """

    name: str
    images: int
    per_class: int | None
    named: re.Pattern[str]
    subset: str | None = None
    releases: tuple[Release, ...] = ()

    @property
    def classes(self) -> tuple[int, ...]:
        """Class indices that it is about, ascending."""
        return tuple(range(1000)) if self.subset is None else timm_tables.subset(self.subset)


def _named(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![a-z0-9]){pattern}(?![a-z0-9])", re.IGNORECASE)


# SHA-256 and sizes: the checksum tables of TensorFlow Datasets for all sets (in which those of ImageNetV2 occur at
# both of its addresses).
VALIDATION = Known(
    "imagenet-val", 50_000, 50, _named(r"ILSVRC2012[-_](img[-_])?val"),
    releases=(Release(6_744_924_160, "c7e06a6c0baccf06d8dbeb6577d71efff84673a5dbdd50633ab44f8ea0456ae0"),),
)  # fmt: skip
KNOWN = (
    VALIDATION,
    Known(
        "imagenetv2-matched-frequency", 10_000, 10, _named(r"(imagenet(v2)?[-_])?matched[-_]?frequency"),
        releases=(
            Release(1_264_079_360, "f0c37fdf925916b19ea1323cd9a2208cdb6959ba2c32eef2a7fc393835c9ca7c"),
            Release(1_253_959_680, "a32004f9e773279307499059d320336a23ccdc62cb32063da29bae9bd04c122c"),
        ),
    ),
    Known(
        "imagenetv2-threshold-0.7", 10_000, 10, _named(r"(imagenet(v2)?[-_])?threshold[-_]?0\.?7"),
        releases=(
            Release(1_249_906_176, "32142bfe998f9cfa4141be691f6a80eeb1e27b24bd532a668eb08c26d98897a2"),
            Release(605_399_040, "bf2e2d9b625ae29c6e44982928f36220af62359b74602a995518a06840d0d76e"),
        ),
    ),
    Known(
        "imagenetv2-top-images", 10_000, 10, _named(r"(imagenet(v2)?[-_])?top[-_]?images"),
        releases=(
            Release(1_245_927_936, "85e4ace30f3f0d660152062254b8759dda66267b27f7ec0fd8d5768f1073a04b"),
            Release(606_351_360, "1ced1ef684934a84af854658bc8ff9adbbec553631e6eef3535ef816c3d3b98f"),
        ),
    ),
    Known(
        "imagenet-a", 7_500, None, _named(r"imagenet[-_]?a"), "imagenet_a",
        (Release(687_552_512, "3bb3632277e6ba6392ea64c02ddbf4dd2266c9caffd6bc09c9656d28f012589e"),),
    ),
    Known(
        "imagenet-r", 30_000, None, _named(r"imagenet[-_]?r(endition)?"), "imagenet_r",
        (Release(2_191_079_936, "18c6bf493b39a0d975d48e587437f562caab9c52ae6327dcfa9dd8eb54aa1b52"),),
    ),
)  # fmt: skip


def by_name(*names: str) -> Known | None:
    """The published set that one of these names of folders and archives is of."""
    for name in names:
        for known in KNOWN:
            if known.named.search(name):
                return known
    return None


def require_release(archive: Path, known: Known) -> bool:
    """Hash an archive that has the size of a published one; returns whether it is that.

    An archive of another size was packed by someone else, and is judged by what is in it.

    Raises InputError where the size is that of a published one, but the content differs.
    """
    size = archive.stat().st_size
    for release in known.releases:
        if size == release.bytes:
            found = _digest(archive, size)
            if found != release.sha256:
                raise InputError(
                    f"{archive} is as large as the published archive of {known.name}, but its SHA-256 is "
                    f"{found[:16]}…, not {release.sha256[:16]}…: it is damaged; download it again."
                )
            return True
    return False


def _digest(path: Path, size: int) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file, bar(f"hashing {path.name}", size) as shown:
        while chunk := file.read(CHUNK):
            digest.update(chunk)
            shown.update(len(chunk))
    return digest.hexdigest()
