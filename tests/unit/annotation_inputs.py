"""Small inputs for tests of the annotation stages: classes, images, tasks, and a local Mechanical Turk to use."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from urllib.request import Request, urlopen

import numpy as np
import pandas as pd

from imagenetv2 import archive
from imagenetv2.images import encode_png
from imagenetv2.job import Endpoints
from imagenetv2.world.servers.serve import running

WNIDS = ("n00000001", "n00000002")
CONFIG: dict[str, Any] = {
    "hits": {
        "images_per_task": 8,
        "positive_controls": 1,
        "negative_controls": 1,
        "validation_per_class": 4,
        "workers_per_task": 3,
        "shown_side": 64,
    },
    "assignments": {"poll_seconds": 0.05, "patience_seconds": 20.0},
}


def classes(wnids: Sequence[str] = WNIDS) -> pd.DataFrame:
    """The table of classes; each class's neighbours are all others in order."""
    return pd.DataFrame(
        {
            "class_index": range(len(wnids)),
            "wnid": list(wnids),
            "lemmas": [[f"thing {w[-1]}", "object"] for w in wnids],
            "definition": [f"a thing of kind {w[-1]}" for w in wnids],
            "wikipedia": [["https://en.wikipedia.org/wiki/Thing_%26_object"] for _ in wnids],
            "hypernyms": [["n09999999"] for _ in wnids],
            "neighbours": [[n for n in wnids if n != w] for w in wnids],
        }
    )


def picture(number: int) -> np.ndarray[Any, Any]:
    """Blocks of colours, different for each number."""
    rng = np.random.default_rng(number)
    blocks = rng.integers(0, 256, (4, 5, 3), dtype=np.uint8)
    return np.asarray(blocks.repeat(16, 0).repeat(16, 1))


def reference(per_class: int = 12, wnids: Sequence[str] = WNIDS) -> pd.DataFrame:
    """The table of reference images: the validation split, and one training image a class."""
    rows = []
    for c, wnid in enumerate(wnids):
        for n in range(per_class + 1):
            split = "train" if n == per_class else "val"
            image = f"ee{c:02x}{n:012x}"
            rows.append(
                {
                    "image_id": image, "split": split, "wnid": wnid, "class_index": c,
                    "file": f"{wnid}/{image}.png", "source_file": f"{split}/{wnid}/{n}.png",
                    "source_sha256": "0" * 64, "source_format": "PNG", "width": 80, "height": 64, "spread": 9.0,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def candidates(per_class: int = 7, wnids: Sequence[str] = WNIDS) -> pd.DataFrame:
    """The table of candidates."""
    rows = []
    for c, wnid in enumerate(wnids):
        for n in range(per_class):
            image = f"cc{c:02x}{n:012x}"
            rows.append(
                {
                    "image_id": image, "wnid": wnid, "class_index": c, "photo_id": f"{c}{n:05d}",
                    "query": "thing", "rung": 0, "owner_id": "1@N00", "license": "4", "uploaded": 1350000000,
                    "file": f"{wnid}/{image}.png", "source_sha256": "0" * 64, "source_format": "PNG",
                    "exif_orientation": 1, "width": 80, "height": 64, "spread": 9.0,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def images(path: Path, table: pd.DataFrame) -> Path:
    """An archive with a picture for every row."""
    with archive.write(path) as out:
        for image, file in sorted(zip(table["image_id"], table["file"], strict=True), key=lambda r: r[1]):
            out.add(file, encode_png(picture(int(image, 16) % 2**32)))
    return path


def inputs(folder: Path) -> dict[str, dict[str, Any]]:
    """What the stage ``hits`` reads."""
    folder.mkdir(exist_ok=True)
    old, new = reference(), candidates()
    return {
        "classes": {"classes.parquet": classes()},
        "reference": {"reference.parquet": old, "images.zip": images(folder / "old.zip", old)},
        "candidates": {"candidates.parquet": new, "images.zip": images(folder / "new.zip", new)},
    }


@contextmanager
def local_services(folder: Path) -> Iterator[Endpoints]:
    """A local Mechanical Turk and image host, without people."""
    with running(None, seed=1, data=folder, version="v", parts={"host", "mturk"}) as endpoints:  # type: ignore[arg-type]
        yield endpoints


def post(address: str, fields: Sequence[tuple[str, str]]) -> bytes:
    """Send a form."""
    with urlopen(Request(address, urlencode(fields).encode(), method="POST"), timeout=20) as answer:
        data: bytes = answer.read()
    return data


def answer(endpoints: Endpoints, hit_id: str, worker: str, fields: Mapping[str, Sequence[str]]) -> str:
    """Accept a task as ``worker`` and submit ``fields``; returns the assignment's id."""
    import json

    taken = post(f"{endpoints.mturk}/mturk/accept", [("hitId", hit_id), ("workerId", worker)])
    assignment = str(json.loads(taken)["assignmentId"])
    sent = [("assignmentId", assignment)] + [(name, v) for name, values in fields.items() for v in values]
    post(f"{endpoints.mturk}/mturk/externalSubmit", sent)
    return assignment
