"""Input artifacts of the near-duplicate stages, made from arrays."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.archive import EPOCH
from imagenetv2.benchmark.stages import CLASSES, REFERENCE
from imagenetv2.candidates.stages import CANDIDATES, COPIES
from imagenetv2.images import encode_png

Image = npt.NDArray[np.uint8]


def filled(table: Any, rows: Sequence[Mapping[str, Any]]) -> pd.DataFrame:
    """A frame with the declared columns; what a row leaves out is blank."""
    blank = {"string": "", "int64": 0, "float64": 0.0, "bool": False, "list<string>": [], "list<int64>": []}
    return pd.DataFrame(
        [{c.name: row.get(c.name, blank[c.dtype]) for c in table.columns} for row in rows],
        columns=[c.name for c in table.columns],
    )


def archive(images: Mapping[str, Image]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as out:
        for name, pixels in sorted(images.items()):
            out.writestr(zipfile.ZipInfo(name, EPOCH), encode_png(pixels))
    return buffer.getvalue()


def inputs(
    reference: Iterable[tuple[str, str, str, Image]],
    candidates: Iterable[tuple[str, str, Image]],
    near: Mapping[str, Sequence[str]],
) -> dict[str, dict[str, Any]]:
    """Artifacts from (image_id, split, wnid, pixels), (image_id, wnid, pixels) and each class's nearest."""
    originals, pool = list(reference), list(candidates)
    return {
        "classes": {
            "classes.parquet": filled(
                CLASSES,
                [
                    {"class_index": i, "wnid": wnid, "neighbours": list(others)}
                    for i, (wnid, others) in enumerate(near.items())
                ],
            )
        },
        "reference": {
            "reference.parquet": filled(
                REFERENCE,
                [
                    {"image_id": name, "split": split, "wnid": wnid, "file": f"{wnid}/{name}.png"}
                    for name, split, wnid, _ in originals
                ],
            ),
            "images.zip": archive({f"{wnid}/{name}.png": pixels for name, _, wnid, pixels in originals}),
        },
        "candidates": {
            "candidates.parquet": filled(
                CANDIDATES,
                [{"image_id": name, "wnid": wnid, "file": f"{wnid}/{name}.png"} for name, wnid, _ in pool],
            ),
            "copies.parquet": filled(
                COPIES,
                [{"image_id": name, "photo_id": f"p{name}"} for name in sorted({n for n, _, _ in pool})],
            ),
            "images.zip": archive({f"{wnid}/{name}.png": pixels for name, wnid, pixels in pool}),
        },
    }
