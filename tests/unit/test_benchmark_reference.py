"""Stage ``reference``: folders by name and never by order, one image path, copies, and broken files."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from PIL import Image

from imagenetv2 import archive
from imagenetv2.benchmark import reference
from imagenetv2.errors import InputError
from imagenetv2.images import content_id, encode_png
from imagenetv2.job import Job

# The class index is not the order of WordNet IDs, nor that of index folders as strings.
WNIDS = [f"n{99999999 - i:08d}" for i in range(12)]


def classes(wnids: list[str]) -> pd.DataFrame:
    blank: list[list[str]] = [[] for _ in wnids]
    return pd.DataFrame(
        {
            "class_index": range(len(wnids)),
            "wnid": wnids,
            "lemmas": [[w] for w in wnids],
            "definition": "",
            "wikipedia": blank,
            "hypernyms": blank,
            "neighbours": blank,
        }
    )


def picture(number: int, side: int = 6) -> npt.NDArray[np.uint8]:
    return np.random.default_rng(number).integers(0, 256, (side, side + 1, 3)).astype(np.uint8)


def put(root: Path, name: str, data: bytes) -> None:
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(data)


def real(make_job: Callable[..., Job], root: Path, *, wnids: list[str] = WNIDS, **options: Any) -> Job:
    config = {
        "world": {"source": "real"},
        "review": {"reviewer": "people"},
        "reference": {"path": str(root)},
        "classes": options.pop("classes", {}),
    }
    return make_job(
        "reference", config=config, inputs={"classes": {"classes.parquet": classes(wnids)}}, **options
    )


def run(job: Job) -> pd.DataFrame:
    reference.run(job)
    return pd.read_parquet(job.out.folder / "reference.parquet")


def fill(root: Path, folder_of: Callable[[int], str]) -> None:
    """One training and one validation image a class; the picture's number says the class."""
    for index in range(len(WNIDS)):
        for split, number in (("train", index), ("val", 100 + index)):
            put(root, f"{split}/{folder_of(index)}/x.png", encode_png(picture(number)))


@pytest.mark.parametrize("layout", ["wnid", "index", "padded", "mixed"])
def test_labels_come_from_folder_names(make_job: Callable[..., Job], tmp_path: Path, layout: str) -> None:
    names = {
        "wnid": lambda i: WNIDS[i],
        "index": str,
        "padded": lambda i: f"{i:04d}",
        "mixed": lambda i: str(i) if i % 2 else WNIDS[i],
    }
    fill(tmp_path / "original", names[layout])
    found = run(real(make_job, tmp_path / "original")).set_index("image_id")
    for index, wnid in enumerate(WNIDS):
        for split, number in (("train", index), ("val", 100 + index)):
            row = found.loc[content_id(picture(number))]
            assert (row["class_index"], row["wnid"], row["split"]) == (index, wnid, split)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("val/tench/x.png", "val/tench is named neither"),
        ("val/n0144076/x.png", "n0144076 is named neither"),
        ("train/12/x.png", "only 12 classes"),
        ("val/x.png", r"val/x\.png is no folder"),
        ("val/-1/x.png", "-1 is named neither"),
        ("val/²/x.png", "² is named neither"),
    ],
)
def test_other_names_are_refused(
    make_job: Callable[..., Job], tmp_path: Path, name: str, message: str
) -> None:
    fill(tmp_path, str)
    put(tmp_path, name, encode_png(picture(1)))
    with pytest.raises(InputError, match=message):
        run(real(make_job, tmp_path))


def test_index_folders_are_refused_where_classes_are_numbered_anew(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    fill(tmp_path, str)
    with pytest.raises(InputError, match=r"classes\.only numbers the classes anew"):
        run(real(make_job, tmp_path, wnids=WNIDS[3:5], classes={"only": WNIDS[3:5]}))


def test_wordnet_folders_of_other_classes_are_left_out(make_job: Callable[..., Job], tmp_path: Path) -> None:
    fill(tmp_path, lambda i: WNIDS[i])
    found = run(real(make_job, tmp_path, wnids=WNIDS[3:5], classes={"only": WNIDS[3:5]}))
    assert sorted(set(found["wnid"])) == sorted(WNIDS[3:5])


def test_missing_splits_and_empty_classes_are_named(make_job: Callable[..., Job], tmp_path: Path) -> None:
    put(tmp_path, f"train/{WNIDS[0]}/x.png", encode_png(picture(0)))
    with pytest.raises(InputError, match="has no folder val"):
        run(real(make_job, tmp_path))
    put(tmp_path, f"val/{WNIDS[0]}/x.png", encode_png(picture(0)))
    put(tmp_path, f"val/{WNIDS[1]}/x.png", b"no image")
    with pytest.raises(InputError, match=f"no validation image of {WNIDS[1]}"):
        run(real(make_job, tmp_path, wnids=WNIDS[:2]))


def test_copies_become_one_row_and_bad_files_stop_nothing(
    make_job: Callable[..., Job], tmp_path: Path
) -> None:
    fill(tmp_path, lambda i: WNIDS[i])
    folder = f"val/{WNIDS[0]}"
    buffer = io.BytesIO()
    Image.fromarray(picture(100)).save(buffer, "BMP")
    put(tmp_path, f"{folder}/a/copy.JPEG", buffer.getvalue())
    put(tmp_path, f"{folder}/text.JPEG", b"I am not an image")
    put(tmp_path, f"{folder}/cut.png", encode_png(picture(7))[:60])
    put(tmp_path, f"{folder}/.DS_Store", b"hidden")
    put(tmp_path, f"test/{WNIDS[0]}/again.png", encode_png(picture(100)))
    job = real(make_job, tmp_path)
    found = run(job)
    same = found[found["image_id"] == content_id(picture(100))].set_index("split")
    assert same["source_file"].to_dict() == {
        "val": f"{folder}/a/copy.JPEG",
        "test": f"test/{WNIDS[0]}/again.png",
    }
    assert same.loc["val", "source_format"] == "BMP"
    assert set(same["file"]) == {f"{WNIDS[0]}/{content_id(picture(100))}.png"}
    rejected = pd.read_parquet(job.out.folder / "rejected.parquet")
    assert rejected["source_file"].tolist() == [f"{folder}/cut.png", f"{folder}/text.JPEG"]
    assert set(rejected["reason"]) == {"undecodable"}
    with archive.Reader(job.out.folder / "images.zip") as pictures:
        assert pictures.names() == sorted(set(found["file"]))
        for row in found.itertuples():
            assert content_id(pictures.pixels(str(row.file))) == row.image_id


def test_the_same_bytes_for_any_number_of_cores(make_job: Callable[..., Job], tmp_path: Path) -> None:
    fill(tmp_path / "o", lambda i: WNIDS[i])
    for number in range(200, 240):
        put(tmp_path / "o", f"train/{WNIDS[number % 3]}/{number}.png", encode_png(picture(number)))
    results = []
    for cores in (1, 2):
        job = real(make_job, tmp_path / "o", cores=cores)
        run(job)
        results.append({f.name: f.read_bytes() for f in sorted(job.out.folder.iterdir())})
    assert results[0] == results[1]


def test_an_embedded_world_brings_its_originals(make_job: Callable[..., Job], tmp_path: Path) -> None:
    rows = [(f"{split}-{i}.png", split, WNIDS[i]) for split in ("val", "train") for i in range(3)]
    with archive.write(tmp_path / "o.zip") as writer:
        for number, (file, _, _) in enumerate(rows):
            writer.add(file, encode_png(picture(number)))
    job = make_job(
        "reference",
        inputs={
            "classes": {"classes.parquet": classes(WNIDS[:3])},
            "world": {
                "originals.parquet": pd.DataFrame(rows, columns=["file", "split", "wnid"]),
                "originals.zip": tmp_path / "o.zip",
            },
        },
    )
    found = run(job).set_index("source_file")
    assert len(found) == 6
    for number, (file, split, wnid) in enumerate(rows):
        row = found.loc[file]
        assert (row["image_id"], row["split"], row["wnid"]) == (content_id(picture(number)), split, wnid)
        assert row["class_index"] == WNIDS.index(wnid)
        assert (row["width"], row["height"]) == (7, 6)
