"""A benchmark of three colours, small enough to train every kind on in a moment."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2.images import content_id, encode_png

WNIDS = ("n00000001", "n00000002", "n00000003")


def classes_table(wnids: Iterable[str] = WNIDS) -> pd.DataFrame:
    rows = [
        {
            "class_index": i, "wnid": wnid, "lemmas": [wnid], "definition": "", "wikipedia": [],
            "hypernyms": [], "neighbours": [],
        }
        for i, wnid in enumerate(wnids)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def picture(random: np.random.Generator, colour: int, size: tuple[int, int] = (40, 48)) -> np.ndarray:
    """Noise in which one channel is brighter and stripes run in a direction of its own."""
    values = random.integers(0, 120, (*size, 3))
    rows, columns = np.mgrid[: size[0], : size[1]]
    stripes = ((rows, columns, rows + columns)[colour] // 4) % 2
    values[..., colour] += 60 + 70 * stripes
    return values.astype(np.uint8)


def archive(files: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as out:
        for name, data in sorted(files.items()):
            out.writestr(name, data)
    return buffer.getvalue()


def rows_of(split: str, per_class: int, seed: int) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
    random = np.random.default_rng(seed)
    rows, files = [], {}
    for index, wnid in enumerate(WNIDS):
        for _ in range(per_class):
            pixels = picture(random, index)
            image = content_id(pixels)
            file = f"{wnid}/{image}.png"
            files[file] = encode_png(pixels)
            rows.append(
                {
                    "image_id": image, "split": split, "wnid": wnid, "class_index": index, "file": file,
                    "source_file": file, "source_sha256": "", "source_format": "PNG",
                    "width": pixels.shape[1], "height": pixels.shape[0], "spread": 1.0,
                }
            )  # fmt: skip
    return rows, files


def reference(train: int = 14, val: int = 5) -> dict[str, Any]:
    """Files of the artifact ``reference``."""
    first, second = rows_of("train", train, 1), rows_of("val", val, 2)
    return {
        "reference.parquet": pd.DataFrame(first[0] + second[0]),
        "images.zip": archive(first[1] | second[1]),
    }
