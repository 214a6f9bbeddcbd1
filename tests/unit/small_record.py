"""A small released record in the layout of the large one: 20 classes, 8 models, an original and three new sets."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

CLASSES = 20
PER_CLASS = 30
MODELS = ("alpha", "beta", "gamma_16k", "gamma_64k", "delta", "epsilon", "zeta", "eta")
LISTS = {
    "original": "imagenet-validation-original",
    "matched_frequency": "imagenetv2-b-7",
    "threshold": "imagenetv2-a-9",
    "top_images": "imagenetv2-c-3",
}
EARLIER = "imagenetv2-b-2"
WNIDS = tuple(f"n{10_000_000 + 37 * k:08d}" for k in range(CLASSES))
INDEX = {w: k for k, w in enumerate(WNIDS)}


@dataclass(frozen=True)
class Images:
    """Photographs with what every model says of them: ``top5`` has shape models × images × 5."""

    ids: list[str]
    classes: np.ndarray
    top5: np.ndarray

    def entries(self, places: np.ndarray) -> list[list[str]]:
        return [[self.ids[p], WNIDS[self.classes[p]]] for p in places]


def classes() -> pd.DataFrame:
    """The table of classes as the stage before would have written it."""
    rows: list[tuple[object, ...]] = [(k, w, [f"thing {k}"], "", [], []) for w, k in INDEX.items()]
    names = ["class_index", "wnid", "lemmas", "definition", "wikipedia", "neighbours"]
    return pd.DataFrame(rows, columns=names)


def photographs(rng: np.random.Generator, count: int, name: str) -> Images:
    """Photographs whose look misleads models that weigh its parts alike in the same way."""
    truth = rng.permutation(np.arange(count) % CLASSES)
    looks = rng.normal(size=(3, count, CLASSES))
    # Skill, and the weights of three parts of the look.
    skills = np.linspace(2.6, 4.4, len(MODELS))
    weights = np.random.default_rng(5).uniform(0.4, 1.4, (len(MODELS), 3))
    found = []
    for m in range(len(MODELS)):
        scores = np.tensordot(weights[m], looks, 1) + 0.5 * rng.normal(size=(count, CLASSES))
        scores[np.arange(count), truth] += skills[m]
        found.append(np.argsort(-scores, axis=1)[:, :5])
    ids = [name.format(k, f"{rng.integers(2**62):016x}{k:024x}") for k in range(count)]
    return Images(ids, truth, np.stack(found).astype(np.int64))


def write(folder: Path, seed: int = 1) -> Path:
    """A sound record below ``folder``; the new sets share a good part of their images."""
    rng = np.random.default_rng(seed)
    size = CLASSES * PER_CLASS
    original = photographs(rng, size, "ILSVRC2012_val_{0:08d}.JPEG")
    pool = photographs(rng, 2 * size, "{1}")
    for name in LISTS.values():
        if name == LISTS["original"]:
            _set(folder, name, original, np.argsort(original.classes, kind="stable"), MODELS)
        else:
            _set(folder, name, pool, rng.permutation(2 * size)[:size], MODELS)
    _set(folder, EARLIER, pool, rng.permutation(2 * size)[:size], MODELS[:5])
    return folder


def _set(folder: Path, name: str, images: Images, places: np.ndarray, models: tuple[str, ...]) -> None:
    save_list(folder, name, images.entries(places))
    for m, model in enumerate(models):
        save(folder, name, model, images.top5[m, places])


def list_file(folder: Path, name: str) -> Path:
    return folder / "data" / "datasets" / f"{name}.json"


def entries(folder: Path, name: str) -> list[list[str]]:
    """Entries of a list."""
    found: list[list[str]] = json.loads(list_file(folder, name).read_text())["image_filenames"]
    return found


def save_list(folder: Path, name: str, images: list[list[str]]) -> None:
    path = list_file(folder, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"image_filenames": images, "output_filename": path.name, "is_valid": True}))


def file(folder: Path, name: str, model: str) -> Path:
    """Where a model's predictions for a list lie."""
    return folder / "data" / "predictions" / name / f"{model}.npy"


def load(folder: Path, name: str, model: str) -> np.ndarray:
    found: np.ndarray = np.load(file(folder, name, model))
    return found


def save(folder: Path, name: str, model: str, top5: np.ndarray) -> None:
    path = file(folder, name, model)
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, top5)
