"""Small tables and pictures for tests of sampling and review."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from imagenetv2.images import encode_png


def rows(declared: Any, *given: dict[str, Any]) -> pd.DataFrame:
    """Rows of a declared table whose other columns do not matter."""
    blank = {"string": "", "int64": 0, "float64": 0.0, "bool": False, "list<string>": [], "list<int64>": []}
    return pd.DataFrame(
        [{c.name: row.get(c.name, blank[c.dtype]) for c in declared.columns} for row in given],
        columns=[c.name for c in declared.columns],
    )


def archive(pictures: dict[str, Any]) -> bytes:
    """A ZIP file of PNGs."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as file:
        for name, pixels in sorted(pictures.items()):
            file.writestr(name, encode_png(pixels))
    return buffer.getvalue()


def photograph(seed: int) -> Any:
    """Blotches of several sizes in colour, 48 × 48."""
    rng = np.random.default_rng(seed)
    layers = [
        np.asarray(Image.fromarray(rng.integers(0, 256, (n, n, 3), dtype=np.uint8)).resize((48, 48), Image.Resampling.BICUBIC), dtype=float)
        for n in (3, 6, 12)
    ]  # fmt: skip
    return np.clip(np.mean(layers, axis=0), 0, 255).astype(np.uint8)
