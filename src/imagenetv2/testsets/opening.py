"""Open a test set, whatever its layout, behind its gates."""

from __future__ import annotations

from pathlib import Path

from imagenetv2.errors import InputError
from imagenetv2.testsets import tree
from imagenetv2.testsets.folders import open_images
from imagenetv2.testsets.names import is_beside
from imagenetv2.testsets.parquet import ENDING, open_parquet
from imagenetv2.testsets.pipeline_sets import artifact_at, open_artifact
from imagenetv2.testsets.stores import Disk
from imagenetv2.testsets.testset import TestSet
from imagenetv2.testsets.unpacking import first_bytes, open_store

PARQUET = b"PAR1"


def open_testset(
    path: Path, *, devkit: Path | None = None, partial: bool = False, scratch: Path | None = None
) -> TestSet:
    """The test set at ``path``: a folder, a tar, tar.gz or zip archive, Parquet files, or a frozen set.

    No image is read: ``checking.check_files`` does that. An archive that has the size of a published one is hashed.

    Args:
        path: where it is.
        devkit: folder or archive of ImageNet's development kit, for a flat folder of validation images; None
            looks beside and in ``path``. Given for validation images in class folders, it is compared with them.
        partial: whether a set that lacks classes or images is opened, with remarks, instead of refused.
        scratch: folder in which a compressed archive may be unpacked, once.

    Raises:
        InputError: anything is not as it must be; says what was found and what was expected.
    """
    if not path.exists():
        raise InputError(f"{path} does not exist; correct the path of the test set.")
    artifact = artifact_at(path)
    if artifact is not None:
        return open_artifact(artifact)
    if path.is_file() and first_bytes(path).startswith(PARQUET):
        return open_parquet(path, [path], partial=partial)
    store = open_store(path, scratch)
    tables = [file.name for file in store.files if file.name.endswith(ENDING) and not is_beside(file.name)]
    if tables and isinstance(store, Disk) and not tree.has_classes(store):
        return open_parquet(path, [path / name for name in tables], partial=partial)
    return open_images(path, store, devkit, partial=partial)
