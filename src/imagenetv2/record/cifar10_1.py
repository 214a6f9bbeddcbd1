"""Predictions that were released with CIFAR-10.1: one archive, a row a model, the first class only."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from imagenetv2.errors import InputError
from imagenetv2.record import npy
from imagenetv2.record.listings import Listing
from imagenetv2.record.prediction_checks import values
from imagenetv2.record.prediction_checks.rows import align
from imagenetv2.record.reader import Reader
from imagenetv2.record.sheets import Sheet

ARCHIVE = "cifar101_predictions.npz"
LABELS = {"original": "cifar10_test_labels.npy", "v4": "labels_v4", "v6": "labels_v6"}
"""Where each set's labels are: a file beside the archive, or an array in it."""


def read(
    reader: Reader, indices: Mapping[str, int]
) -> tuple[list[Sheet], dict[str, Listing], dict[str, str]]:
    """Predictions of every model on every set, the sets' images, and the list of each set, which has its name.

    Top-5 arrays hold the class in the first column and -1 in the others. Images are named by their places.

    Raises InputError where the archive, its names of models or a set's labels cannot be read: nothing can be told
    without.
    """
    arrays = _members(reader)
    try:
        models = npy.texts(arrays["models"])
    except (KeyError, npy.Unreadable) as error:
        raise InputError(
            f"{reader.source.path}: {ARCHIVE} names no models ({error}); fetch it again."
        ) from error
    repeated = sorted({m for m in models if models.count(m) > 1})
    if repeated:
        raise InputError(
            f"{reader.source.path}: {ARCHIVE} names {repeated[0]} twice in models; give each row a name of its own."
        )
    by_index = {v: k for k, v in indices.items()}
    listings = {name: _labels(reader, arrays, name, by_index) for name in LABELS}
    sheets = [s for name in LABELS for s in _sheets(arrays.get(name), name, models, listings, len(indices))]
    return sheets, listings, {name: name for name in LABELS}


def place(name: str) -> str:
    """Where predictions for a set lie in the record: the archive and the array in it."""
    return f"{ARCHIVE}/{name}"


def _members(reader: Reader) -> dict[str, bytes]:
    try:
        return npy.members(reader.source.read(ARCHIVE))
    except npy.Unreadable as error:
        raise InputError(f"{reader.source.path}: {ARCHIVE} is {error}; fetch it again.") from error


def _labels(reader: Reader, arrays: Mapping[str, bytes], name: str, by_index: Mapping[int, str]) -> Listing:
    where = LABELS[name]
    try:
        found = npy.parse(reader.source.read(where) if where.endswith(".npy") else arrays[where])
    except (KeyError, npy.Unreadable) as error:
        raise InputError(
            f"{reader.source.path}: labels {where} cannot be read ({error}); fetch them again."
        ) from error
    classes = found.astype(np.int64)
    if (
        found.ndim != 1
        or not len(found)
        or not (classes == found).all()
        or not set(classes.tolist()) <= set(by_index)
    ):
        raise InputError(
            f"{reader.source.path}: labels {where} are not classes from 0 to {len(by_index) - 1}; fetch them again."
        )
    width = len(str(len(classes) - 1))
    ids = tuple(f"{i:0{width}d}" for i in range(len(classes)))
    return Listing(
        name,
        ids,
        tuple(by_index[c] for c in classes.tolist()),
        classes,
        np.arange(len(classes)),
        own_ids=True,
    )


def _sheets(
    data: bytes | None, name: str, models: list[str], listings: Mapping[str, Listing], count: int
) -> list[Sheet]:
    """One sheet a model; all left out where the set's array cannot be split into rows of models."""
    empty = [Sheet(name, model, place(name)) for model in models]
    try:
        if data is None:
            raise npy.Unreadable("the archive holds no array of that name")
        found = npy.parse(data)
        if found.ndim == 2 and found.shape[0] != len(models) and found.shape[1] == len(models):
            found = found.T
        if found.ndim != 2 or len(found) != len(models):
            raise npy.Unreadable(f"shape {found.shape} is not one row for each of {len(models)} models")
    except npy.Unreadable as error:
        return [
            s.left_out("file unreadable", str(error), "no predictions can be read from it") for s in empty
        ]
    out = []
    for sheet, row in zip(empty, found, strict=True):
        whole, numbers = values.whole(sheet, row[:, None])
        out.append(whole if numbers is None else align(whole, numbers, listings, count))
    return out
