"""A tiny embedded world for tests of its servers: photographs of noise, tables, and a task page."""

from __future__ import annotations

import io
import json
import shutil
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from imagenetv2.artifacts import Artifact
from imagenetv2.versions import digest_file

VERSION = "0123456789"
QUESTION = (
    '<ExternalQuestion xmlns="http://mechanicalturk.amazonaws.com/AWSMechanicalTurkDataSchemas/2006-07-14/'
    'ExternalQuestion.xsd"><ExternalURL>{}</ExternalURL><FrameHeight>600</FrameHeight></ExternalQuestion>'
)


def jpeg(number: int, side: int = 48, quality: int = 92) -> bytes:
    """A photograph that looks like no other: coarse coloured noise."""
    rng = np.random.default_rng(number)
    coarse = Image.fromarray(rng.integers(0, 256, (6, 6, 3), dtype=np.uint8))
    buffer = io.BytesIO()
    coarse.resize((side, side), Image.Resampling.BICUBIC).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()


def photo(number: int, **changes: Any) -> dict[str, Any]:
    """A row of photos.parquet."""
    return {
        "photo_id": str(9_000_000_000 + number),
        "owner_id": f"{number}@N00",
        "secret": f"00{number:08x}",
        "title": f"photograph {number}",
        "tags": ["thing"],
        "license": "4",
        "taken": "2013-01-01 12:00:00",
        "taken_granularity": 0,
        "taken_unknown": False,
        "uploaded": 1_357_000_000 + number,
        "width": 48,
        "height": 48,
        "file": f"p{number}.jpg",
        "status": "ok",
        **changes,
    }


def make_world(
    folder: Path,
    photos: Sequence[dict[str, Any]],
    originals: Sequence[dict[str, Any]] = (),
    truth: Sequence[tuple[str, str, float, list[int]]] = (),
    files: dict[str, bytes] | None = None,
) -> Artifact:
    """Write a world; each photograph's file is noise by its number unless ``files`` holds another."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    given = files or {}
    pool = [str(row["file"]) for row in photos if row["file"]]
    _archive(folder / "photos.zip", {n: given.get(n) or jpeg(int(n[1:].split(".")[0])) for n in pool})
    own = [str(row["file"]) for row in originals]
    _archive(folder / "originals.zip", {n: given.get(n) or jpeg(10**6 + i) for i, n in enumerate(own)})
    pd.DataFrame(photos).to_parquet(folder / "photos.parquet")
    pd.DataFrame(originals, columns=["file", "split", "wnid"]).to_parquet(folder / "originals.parquet")
    rows = [
        {"file": f, "wnid": w, "probability": p, "judgements": j, "scene": "", "fault": ""}
        for f, w, p, j in truth
    ]
    columns = ["file", "wnid", "probability", "judgements", "scene", "fault"]
    pd.DataFrame(rows, columns=columns).to_parquet(folder / "truth.parquet")
    names = ("photos.parquet", "originals.parquet", "truth.parquet", "photos.zip", "originals.zip")
    facts = {n: {"sha256": digest_file(folder / n), "bytes": (folder / n).stat().st_size} for n in names}
    manifest = {"stage": "world", "version": VERSION, "files": facts}
    (folder / "manifest.json").write_text(json.dumps(manifest))
    return Artifact(folder)


def _archive(path: Path, files: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name in sorted(files):
            archive.writestr(name, files[name])


def task_page(wnid: str, sources: Sequence[str]) -> str:
    """A page that works; the value of each box is the picture's file name without its suffix."""
    cells = "".join(
        f'<label><input type="checkbox" name="selected" value="{s.rpartition(".")[0]}"><img src="{s}"></label>'
        for s in sources
    )
    return (
        f'<!doctype html><form method="post" data-wnid="{wnid}"><input type="hidden" name="assignmentId">'
        f'<input type="hidden" name="page" value="p&amp;q">{cells}<button disabled>Submit</button></form>'
    )


def boto(service: str, endpoint: str | None) -> Any:
    """A boto3 client that never leaves loopback and doesn't try again."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        service,
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"max_attempts": 1}, max_pool_connections=4),
    )
