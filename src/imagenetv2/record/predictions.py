"""Stage ``record/predictions``: what every model said of every image, with what is wrong in the files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

import numpy as np

from imagenetv2.job import Job
from imagenetv2.record import cifar10_1, released
from imagenetv2.record.faults import LEFT_OUT
from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks.all_checks import checked
from imagenetv2.record.published_sets import revision
from imagenetv2.record.reader import Reader
from imagenetv2.record.settings import Record
from imagenetv2.record.sheets import COLUMNS, Sheet, Top5, usable
from imagenetv2.record.stages import SETS

if TYPE_CHECKING:
    import pandas as pd

NETWORKS = "Convolutional networks"
"""Family of a model that no pattern names."""


@dataclass(frozen=True)
class Imported:
    """What a record's predictions come to: arrays by set, models × images × 5, and the declared tables.

    A set without a list has an empty array, 0 × 0 × 5, and no rows in the tables.
    """

    arrays: Mapping[str, Top5]
    images: pd.DataFrame
    models: pd.DataFrame
    earlier: pd.DataFrame


def run(job: Job) -> None:
    """Write images, models, earlier revisions, faults, and one array a set."""
    reader = Reader.of(job)
    classes = job.read("record/classes").table("classes")
    indices = dict(zip(classes["wnid"], classes["class_index"].astype(int), strict=True))
    found = imported(reader, indices, job.settings(Record))
    for name, top5 in found.arrays.items():
        np.save(job.out.path(f"{name}.npy"), top5)
        job.log.info("record/predictions: %s models on %s", len(top5), name)
    job.out.table("images", found.images)
    job.out.table("models", found.models)
    job.out.table("earlier", found.earlier)
    reader.write(job)


def imported(reader: Reader, indices: Mapping[str, int], settings: Record) -> Imported:
    """Predictions of a record after all checks; faults go to the reader.

    Args:
        reader: the record.
        indices: class index by WordNet ID, or by the class's name where classes have none.
        settings: kind of the record, and families of models.

    Raises InputError where the record holds no predictions of original images.
    """
    kind = cifar10_1 if settings.kind == "cifar10.1" else released
    sheets, listings, sets = kind.read(reader, indices)
    sheets = checked(sheets, listings, list(sets.values()), len(indices))
    table, missing = models(sheets, sets, settings.families)
    reader.faults += [f for s in sheets for f in s.faults]
    for model, name in missing:
        evidence = "models are compared on all sets; what it has on the others is kept"
        detail = f"no predictions on {name}"
        reader.fault(kind.place(sets[name]), model, "model missing", detail, LEFT_OUT, evidence)
    arrays = {name: array(usable(sheets, listing), listings[listing]) for name, listing in sets.items()}
    arrays |= {n: np.empty((0, 0, COLUMNS), np.int16) for n in SETS[settings.kind] if n not in sets}
    return Imported(arrays, images(listings, sets), table, earlier(sheets, listings, sets))


def array(ready: Sequence[Sheet], listing: Listing) -> Top5:
    """Class indices, int16, models × images × 5."""
    return (
        np.stack([s.values for s in ready]) if ready else np.empty((0, len(listing.ids), COLUMNS), np.int16)
    )


def images(listings: Mapping[str, Listing], sets: Mapping[str, str]) -> pd.DataFrame:
    """One row a set and image, as ``record.part_tables.IMAGES`` declares."""
    import pandas as pd

    return pd.concat(
        pd.DataFrame(
            {
                "set": name,
                "row": np.arange(len(listings[listing].ids)),
                "image_id": listings[listing].ids,
                "wnid": listings[listing].wnids,
                "class_index": listings[listing].classes,
            }
        )
        for name, listing in sets.items()
    )


def models(
    sheets: Sequence[Sheet], sets: Mapping[str, str], families: Mapping[str, Sequence[str]]
) -> tuple[pd.DataFrame, list[tuple[str, str]]]:
    """One row a set and model, as ``record.part_tables.MODELS`` declares, and models that a set has no file of."""
    import pandas as pd

    names = sorted({s.model for s in sheets if s.listing in sets.values()})
    rows: list[tuple[object, ...]] = []
    missing = []
    for name, listing in sets.items():
        place = {s.model: k for k, s in enumerate(usable(sheets, listing))}
        for model in names:
            files = [s for s in sheets if s.listing == listing and s.model == model]
            best = min(files, key=lambda s: (not s.usable, s.file), default=None)
            if best is None:
                missing.append((model, name))
                rows.append((name, model, family(model, families), "", False, None, "model missing"))
            else:
                row = place[model] if best.usable else None
                rows.append((name, model, family(model, families), best.file, best.usable, row, best.action))
    columns = ["set", "model", "family", "source_file", "usable", "row", "action"]
    return pd.DataFrame(rows, columns=columns).astype({"row": "Int64"}), missing


def family(model: str, families: Mapping[str, Sequence[str]]) -> str:
    """The first family one of whose patterns fits a model's name."""
    for name, patterns in families.items():
        if any(fnmatchcase(model, pattern) for pattern in patterns):
            return name
    return NETWORKS


def earlier(
    sheets: Sequence[Sheet], listings: Mapping[str, Listing], sets: Mapping[str, str]
) -> pd.DataFrame:
    """One row a revision that was not published and model, as ``record.part_tables.EARLIER`` declares."""
    import pandas as pd

    rows = []
    for name, listing in listings.items():
        which = revision(name)
        if which is None or name in sets.values():
            continue
        for sheet in usable(sheets, name):
            right = sheet.values == listing.classes[:, None]
            rows.append(
                (*which, sheet.model, len(right), int(right[:, 0].sum()), int(right.any(axis=1).sum()))
            )
    return pd.DataFrame(rows, columns=["set", "revision", "model", "images", "right", "right5"])
