"""Search and download through the local Flickr: the whole way from a query to the pool."""

from __future__ import annotations

import gzip
import io
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from PIL import Image

from imagenetv2 import archive
from imagenetv2.candidates import download, search
from imagenetv2.errors import InputError
from imagenetv2.images import content_id
from imagenetv2.job import Endpoints, Job
from imagenetv2.world.servers.dispatch import Server
from imagenetv2.world.servers.flickr import Flickr
from imagenetv2.world.servers.photographs import photographs
from imagenetv2.world.servers.photos import Photos

START = int(datetime(2012, 8, 1, tzinfo=UTC).timestamp())
CLASSES = pd.DataFrame(
    {
        "class_index": [0, 1],
        "wnid": ["n00000020", "n00000010"],
        "lemmas": [["mug", "cup"], ["tea pot"]],
        "definition": "",
        "wikipedia": [[], []],
        "hypernyms": [[], []],
        "neighbours": [[], []],
    }
)


def pixels(number: int) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(number).integers(0, 256, (40, 50, 3)).astype(np.uint8)


def png(number: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels(number)).save(buffer, "PNG")
    return buffer.getvalue()


class Holdings:
    """What the local Flickr of a test holds."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.files: dict[str, bytes] = {}

    def add(self, title: str, data: bytes | None = None, status: str = "ok", **fields: Any) -> str:
        number = len(self.rows)
        photo_id = f"{7000000 + number}"
        file = f"{photo_id}.png" if data is not None or status != "gone" else ""
        if file:
            self.files[file] = png(number) if data is None else data
        row = {
            "photo_id": photo_id, "owner_id": "1234@N00", "secret": "6e12345678", "title": title, "tags": [],
            "license": "4", "taken": "2012-08-01 10:00:00", "taken_granularity": 0, "taken_unknown": False,
            "uploaded": START + 60 * number, "width": 50, "height": 40, "file": file, "status": status,
        }  # fmt: skip
        self.rows.append({**row, **fields})
        return photo_id

    @contextmanager
    def serve(self, folder: Path, **options: Any) -> Iterator[Endpoints]:
        with archive.write(folder / "photos.zip") as writer:
            for name, data in sorted(self.files.items()):
                writer.add(name, data)
        held = photographs(pd.DataFrame(self.rows))
        server = Server(0)
        server.routes[:] = [
            ("/services/rest/", Flickr(held, **options)),
            ("/", Photos(held, archive.Reader(folder / "photos.zip"))),
        ]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield Endpoints(flickr=server.url, photos=server.url)
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def searched(make_job: Callable[..., Job], endpoints: Endpoints | None, **settings: Any) -> Job:
    inputs = {"classes": {"classes.parquet": CLASSES}}
    job = make_job("search", config={"search": settings}, inputs=inputs, endpoints=endpoints)
    search.run(job)
    return job


def downloaded(make_job: Callable[..., Job], found: Job, endpoints: Endpoints, **options: Any) -> Job:
    inputs = {
        "classes": {"classes.parquet": CLASSES},
        "search": {"photos.parquet": pd.read_parquet(found.out.folder / "photos.parquet")},
    }
    config = {"candidates": options.pop("settings", {})}
    job = make_job("candidates", config=config, inputs=inputs, endpoints=endpoints, **options)
    download.run(job)
    return job


def table(job: Job, name: str) -> pd.DataFrame:
    return pd.read_parquet(job.out.folder / f"{name}.parquet")


def contents(job: Job) -> dict[str, bytes]:
    return {f.name: f.read_bytes() for f in sorted(job.out.folder.iterdir())}


def test_from_queries_to_the_pool(make_job: Callable[..., Job], tmp_path: Path) -> None:
    held = Holdings()
    mugs = [held.add("a mug") for _ in range(5)]
    pots = [held.add("tea pot") for _ in range(3)]
    late = held.add("mug", uploaded=int(datetime(2013, 7, 12, tzinfo=UTC).timestamp()))
    old = held.add("mug", taken="2011-01-01 00:00:00")
    gone = held.add("mug", status="gone")
    broken = held.add("mug", data=png(0)[:300], status="broken")
    text = held.add("mug", data=b"this is a text file")
    small = held.add("mug", data=_small(), width=20, height=20)
    again = held.add("cup and mug", data=png(0))
    other_size = held.add("mug", width=500, height=400)
    both = held.add("mug beside a tea pot")
    with held.serve(tmp_path) as endpoints:
        found = searched(make_job, endpoints)
        job = downloaded(make_job, found, endpoints)
        other_cores = downloaded(make_job, found, endpoints, cores=2, settings={"connections": 1})
    assert contents(job) == contents(other_cores)

    photos = table(found, "photos")
    assert not {late, old} & set(photos["photo_id"])
    assert photos.loc[photos["photo_id"] == both, "wnid"].tolist() == ["n00000010", "n00000020"]
    rejected = table(job, "rejected").set_index("photo_id")["reason"].to_dict()
    assert rejected == {
        gone: "unavailable", other_size: "unavailable", broken: "undecodable", text: "undecodable", small: "too_small",
    }  # fmt: skip
    candidates = table(job, "candidates").set_index("image_id")
    same = candidates.loc[content_id(pixels(0))]
    assert (same["photo_id"], same["class_index"], same["wnid"]) == (mugs[0], 0, "n00000020")
    copies = table(job, "copies")
    assert sorted(copies.loc[copies["image_id"] == content_id(pixels(0)), "photo_id"]) == [mugs[0], again]
    assert set(candidates["photo_id"]) == {*mugs, *pots, both}
    downloads = table(job, "downloads").set_index("photo_id")
    assert downloads.loc[gone, ["state", "http_status"]].tolist() == ["unavailable", 302]
    assert downloads.loc[other_size, ["state", "stored_width"]].tolist() == ["fetched", 50]
    with archive.Reader(job.out.folder / "images.zip") as images:
        assert images.names() == sorted(candidates["file"])
        for image_id, file in candidates["file"].items():
            assert content_id(images.pixels(str(file))) == image_id


def _small() -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(pixels(99)[:20, :20]).save(buffer, "PNG")
    return buffer.getvalue()


def test_rungs_and_ranks(make_job: Callable[..., Job], tmp_path: Path) -> None:
    held = Holdings()
    for number in range(30):
        held.add("cup" if number % 3 else "mug")
    held.add("tea pot")
    with held.serve(tmp_path) as endpoints:
        job = searched(make_job, endpoints, ladder=[8, 25], per_page=4)
    photos = table(job, "photos")
    mugs = photos[photos["wnid"] == "n00000020"].sort_values("rank")
    assert mugs["rung"].tolist() == [0] * 8 + [1] * 17
    for _, rung in mugs.groupby("rung"):
        assert rung["uploaded"].is_monotonic_increasing
    # There are only ten mugs: what they leave of the budget goes to the cups.
    assert mugs.groupby(["query", "rung"]).size().to_dict() == {
        ("cup", 0): 4, ("cup", 1): 11, ("mug", 0): 4, ("mug", 1): 6,
    }  # fmt: skip


@pytest.mark.parametrize("faults", [{0: "429"}, {0: "500", 1: "105"}])
def test_windows_are_split_where_flickr_would_repeat_itself(
    make_job: Callable[..., Job], tmp_path: Path, faults: dict[int, str]
) -> None:
    held = Holdings()
    for number in range(40):
        held.add("mug", uploaded=START + 3600 * number)
    held.add("tea pot")
    with held.serve(tmp_path, result_cap=10, faults=faults) as endpoints:
        job = searched(make_job, endpoints, result_cap=10, per_page=3)
    photos, queries = table(job, "photos"), table(job, "queries")
    assert (photos["query"] == "mug").sum() == 40
    mug = queries[queries["query"] == "mug"]
    assert mug["total"].max() <= 10
    assert mug["unique"].sum() == mug["kept"].sum() == mug["returned"].sum() == 40
    lines = gzip.decompress((job.out.folder / "responses.jsonl.gz").read_bytes()).splitlines()
    assert all(json.loads(line)["response"]["stat"] == "ok" for line in lines)


def test_a_replay_needs_no_flickr(make_job: Callable[..., Job], tmp_path: Path) -> None:
    held = Holdings()
    for title in ("mug", "cup", "tea pot"):
        held.add(title)
    with held.serve(tmp_path) as endpoints:
        first = contents(searched(make_job, endpoints))
    assert contents(searched(make_job, None)) == first
    with pytest.raises(InputError, match="not running"):
        searched(make_job, None, snapshot="another")


def test_a_class_without_photographs_is_named_after_all_were_asked(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    held = Holdings()
    held.add("tea pot")
    with held.serve(tmp_path) as endpoints, pytest.raises(InputError, match=r"n00000020 \(mug, cup\)"):
        searched(make_job, endpoints)
    (store,) = sorted((tmp_path / "data/stores/flickr").glob("*/responses.jsonl"))
    assert [json.loads(line)["arguments"]["text"] for line in store.read_text().splitlines()] == [
        "mug", "cup", "tea pot",
    ]  # fmt: skip


def test_a_class_without_images_is_named(make_job: Callable[..., Job], tmp_path: Path) -> None:
    held = Holdings()
    held.add("mug")
    held.add("tea pot", status="gone")
    with (
        held.serve(tmp_path) as endpoints,
        pytest.raises(InputError, match=r"n00000010 \(of 1 photographs\)"),
    ):
        downloaded(make_job, searched(make_job, endpoints), endpoints)


def test_deleted_and_damaged_files_are_fetched_again_and_only_those(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    held = Holdings()
    for _ in range(6):
        held.add("mug")
    held.add("tea pot")
    with held.serve(tmp_path) as endpoints:
        found = searched(make_job, endpoints)
        first = contents(downloaded(make_job, found, endpoints))
        (store,) = sorted((tmp_path / "data/stores/photos").iterdir())
        files = sorted(p for p in (store / "files").rglob("*") if p.is_file())
        assert len(files) == 7
        files[0].unlink()
        files[1].write_bytes(files[1].read_bytes()[:-1] + b"x")
        states = store / "states.jsonl"
        before = len(states.read_text().splitlines())
        assert contents(downloaded(make_job, found, endpoints)) == first
        assert len(states.read_text().splitlines()) == before + 2
    # With everything there, no host is needed.
    nowhere = Endpoints(flickr="http://127.0.0.1:9", photos="http://127.0.0.1:9")
    assert contents(downloaded(make_job, found, nowhere)) == first
