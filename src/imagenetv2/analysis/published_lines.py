"""Published accuracies of many models, on which a line of new on original accuracy can be fitted."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis.settings import Line
from imagenetv2.errors import InputError

Floats = npt.NDArray[np.float64]
ORIGINAL_IMAGES = 50_000
NEW_IMAGES = 10_000
FEWEST = 3
TESTBED_ORIGINAL = "val"
TESTBED = {
    "matched_frequency": "imagenetv2-matched-frequency-format-val",
    "threshold": "imagenetv2-threshold-0.7-format-val",
    "top_images": "imagenetv2-top-images-format-val",
}
"""Settings of imagenet-testbed that are the study's sets."""


@dataclass(frozen=True)
class Published:
    """Accuracies of the same models on the original and on a new set, sorted by model.

    Attributes:
        source: where they come from, in words.
        models: names; with the image size where a source gives several for a name.
        original, new: top-1 accuracies as shares, float64, shape (models,).
    """

    source: str
    models: tuple[str, ...]
    original: Floats
    new: Floats


def published(line: Line) -> Published | None:
    """What ``line`` is fitted on; None for a line that needs no files.

    Raises:
        InputError: a file can't be read, lacks a column, repeats a model or has no accuracy; or fewer than three
            models have accuracies on both sets.
    """
    read = READERS.get(line.kind)
    if read is None:
        return None
    found = read(line)
    if len(found.models) < FEWEST:
        raise InputError(
            f"{line.paths[0]}: {len(found.models)} models have accuracies on both sets, but a line needs {FEWEST}; "
            f"name other files in analysis.lines ({line.name})."
        )
    return found


def _timm(line: Line) -> Published:
    """timm's results: one row a model and image size, one file a set."""
    old, new = (_table(path, ("model", "img_size", "top1")) for path in line.paths)
    for path, table in zip(line.paths, (old, new), strict=True):
        table["model"] = table["model"] + " " + table["img_size"]
        table["top1"] = _numbers(path, table["top1"])
        _distinct(path, table["model"])
    both = old.merge(new, on="model", suffixes=("_old", "_new"))
    return _published("timm's published results", both["model"], both["top1_old"], both["top1_new"])


def _testbed(line: Line) -> Published:
    """imagenet-testbed's top-1 accuracies, one column a setting; models trained in the standard way only."""
    accuracies, kinds = line.paths
    column = TESTBED.get(line.set)
    if column is None:
        raise InputError(
            f"{accuracies}: imagenet-testbed has no set {line.set} (analysis.lines, {line.name}); known are "
            f"{', '.join(TESTBED)}."
        )
    table = _table(accuracies, ("model", TESTBED_ORIGINAL, column))
    _distinct(accuracies, table["model"])
    types = _types(kinds)
    table = table[table["model"].map(types).eq("STANDARD")]
    return _published(
        "imagenet-testbed's standard models",
        table["model"],
        _numbers(accuracies, table[TESTBED_ORIGINAL]),
        _numbers(accuracies, table[column]),
    )


def _csv(line: Line) -> Published:
    """A table of one's own."""
    path = line.paths[0]
    table = _table(path, ("model", "original", "new"))
    _distinct(path, table["model"])
    return _published(
        "a table of accuracies",
        table["model"],
        _numbers(path, table["original"]),
        _numbers(path, table["new"]),
    )


READERS: dict[str, Callable[[Line], Published]] = {"timm": _timm, "testbed": _testbed, "csv": _csv}


def _published(source: str, models: pd.Series, original: pd.Series, new: pd.Series) -> Published:
    table = pd.DataFrame({"model": models, "original": original, "new": new}).dropna()
    table = table.sort_values("model", ignore_index=True)
    shares = table[["original", "new"]].to_numpy(np.float64) / 100
    return Published(source, tuple(table["model"]), shares[:, 0], shares[:, 1])


def _table(path: Path, columns: tuple[str, ...]) -> pd.DataFrame:
    """The columns as written: numbers stay strings here, so that 1,013.01 and blanks are ours to judge."""
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, ValueError) as error:
        raise InputError(f"{path} can't be read as a CSV table ({error}); name another file.") from error
    missing = [c for c in columns if c not in table.columns]
    if missing:
        raise InputError(f"{path} has no column {missing[0]}; needed are {', '.join(columns)}.")
    return table[list(columns)].copy()


def _numbers(path: Path, texts: pd.Series) -> pd.Series:
    """Percentages; blank where none is given."""
    plain = texts.str.strip().str.replace(",", "", regex=False)
    values = pd.to_numeric(plain.where(plain != ""), errors="coerce")
    wrong = (plain != "") & ~values.between(0, 100)
    if wrong.any():
        raise InputError(
            f"{path}, column {texts.name}: {texts[wrong].iloc[0]!r} is no percentage between 0 and "
            "100; correct it."
        )
    return values


def _distinct(path: Path, models: pd.Series) -> None:
    if (repeated := models[models.duplicated()]).size:
        raise InputError(f"{path}: the model {repeated.iloc[0]} occurs more than once; leave one row.")


def _types(path: Path) -> dict[str, str]:
    try:
        found = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} can't be read as JSON ({error}); name another file.") from error
    if not isinstance(found, dict):
        raise InputError(f"{path} holds no types by model; name another file.")
    return {str(model): str(kind) for model, kind in found.items()}
