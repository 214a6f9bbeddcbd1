"""Sets that this pipeline made: a frozen ``datasets/<rule>``, or the validation split of ``reference``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imagenetv2.artifacts import MANIFEST, Artifact
from imagenetv2.errors import InputError
from imagenetv2.job import folder
from imagenetv2.sampling.frozen import require_frozen
from imagenetv2.testsets.class_table import ClassTable
from imagenetv2.testsets.gates import Gate
from imagenetv2.testsets.labelled import Labelled, judge
from imagenetv2.testsets.pictures import Stored
from imagenetv2.testsets.stores import Zip
from imagenetv2.testsets.testset import TestSet

if TYPE_CHECKING:
    import pandas as pd

KEY = ["image_id", "wnid"]
KEYS = ("stage", "version", "reads", "files")
"""What the manifest of an artifact has, and one that someone else laid there has not."""


def artifact_at(path: Path) -> Artifact | None:
    """The artifact whose folder, or whose stage's folder with one version, ``path`` is; None where it is none.

    Raises InputError where a stage's folder holds several versions.
    """
    if _is_artifact(path):
        return Artifact(path.resolve())
    place = path.resolve()
    if not place.is_dir() or (place.parent.name != "datasets" and place.name != "reference"):
        return None
    versions = sorted(p for p in path.iterdir() if not p.name.startswith(".") and _is_artifact(p))
    if len(versions) > 1:
        raise InputError(
            f"{path} holds {len(versions)} versions: {', '.join(p.name for p in versions)}; name one of them, or its link below "
            "latest/."
        )
    return Artifact(versions[0].resolve()) if versions else None


def _is_artifact(path: Path) -> bool:
    try:
        found = json.loads((path / MANIFEST).read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(found, dict) and found.keys() >= set(KEYS)


def open_artifact(artifact: Artifact) -> TestSet:
    """A frozen set, or the validation images of the original benchmark as this pipeline holds them.

    Raises InputError for a set that is not frozen, and for an artifact of another stage.
    """
    stage, where = str(artifact.manifest["stage"]), str(artifact.folder)
    if stage == "reference":
        rows = artifact.table("reference")
        images, source, layout = rows[rows["split"] == "val"], artifact, "validation images of this pipeline"
    elif stage.startswith("datasets/"):
        require_frozen(artifact)
        source = beside(artifact, "candidates")
        images, layout = frozen_images(artifact, source), "a frozen set of this pipeline"
    else:
        raise InputError(
            f"{where} is an artifact of {stage}, which is no test set; name one of datasets/ or reference."
        )
    table = class_table_of(beside(artifact, "classes"))
    labelled = sorted(
        Labelled(row["file"], int(row["class_index"]), row["file"], 1) for row in images.to_dict("records")
    )
    if not labelled:
        raise InputError(f"{where} holds no images; see its tables for why.")
    store = Zip(source.path("images.zip"))
    sizes = {file.name: file.size for file in store.files}
    lost = next((image.file for image in labelled if image.file not in sizes), None)
    if lost is not None:
        raise InputError(
            f"{source.folder / 'images.zip'} holds no {lost}; delete its folder and run snakemake."
        )
    sized = [Labelled(image.id, image.index, image.file, sizes[image.file]) for image in labelled]
    judged = judge(sized, table, None, Gate(where, partial=False), listed=True)
    name = f"{stage.removeprefix('datasets/')} {artifact.version}"
    return judged.testset(name, layout, Stored(store, [image.file for image in sized]))


def frozen_images(dataset: Artifact, candidates: Artifact) -> pd.DataFrame:
    """Rows of a set with those of the candidates that they are; sorted by file.

    Raises InputError where an image is not among the candidates.
    """
    pool = candidates.table("candidates")
    own = dataset.table("images")[[*KEY, "class_index"]]
    rows = own.merge(pool.drop(columns="class_index"), on=KEY, how="left", validate="one_to_one")
    lost = rows.loc[rows["file"].isna(), "image_id"]
    if len(lost):
        raise InputError(
            f"{dataset.folder}: image {lost.iloc[0]} is not among the candidates; delete the folder and run snakemake."
        )
    return rows.sort_values("file", ignore_index=True)


def beside(artifact: Artifact, stage: str) -> Artifact:
    """The artifact of that stage which ``artifact`` was made from, in the same data folder."""
    reads: dict[str, Any] = artifact.manifest["reads"]
    data = artifact.folder.resolve().parents[str(artifact.manifest["stage"]).count("/") + 1]
    return Artifact(folder(data, stage, str(reads[stage])))


def class_table_of(classes: Artifact) -> ClassTable:
    """The class table of this pipeline's artifact ``classes``."""
    rows = classes.table("classes").sort_values("class_index")
    words = tuple(", ".join(lemmas) for lemmas in rows["lemmas"])
    return ClassTable(str(classes.folder), tuple(rows["wnid"]), words)
