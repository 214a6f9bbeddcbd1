"""The world of a folder: recorded votes, wrong results, and what is wrong with a folder."""

from __future__ import annotations

import bz2
import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from imagenetv2.errors import InputError
from imagenetv2.world.folder import run
from tests.unit.test_world_stage import classes

WORDS = {"n02121620": ["cat", "true cat"], "n02084071": ["dog"], "n04194289": ["ship"]}
HEAD = "index,image,label,cat,dog,ship"


def picture(number: int) -> bytes:
    buffer = io.BytesIO()
    noise = np.random.default_rng(number).integers(0, 256, (16, 16, 3), dtype=np.uint8)
    Image.fromarray(noise).save(buffer, "JPEG")
    return buffer.getvalue()


def write(place: Path, files: Mapping[str, bytes], form: str) -> None:
    """Files as a folder, a tar archive, a compressed one or a zip archive."""
    if form == "folder":
        for name, data in files.items():
            (place / name).parent.mkdir(parents=True, exist_ok=True)
            (place / name).write_bytes(data)
        return
    if form == "zip":
        with zipfile.ZipFile(place, "w") as packed:
            for name, data in files.items():
                packed.writestr(name, data)
        return
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, data in files.items():
            entry = tarfile.TarInfo(f"./{name}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    place.write_bytes(bz2.compress(buffer.getvalue()) if form == "tar.bz2" else buffer.getvalue())


def source(folder: Path, form: str = "tar", rows: list[str] | None = None, **more: bytes) -> Path:
    """A whole source: 4 training and 20 voted photographs a class; dogs are now and then taken for cats."""
    folder.mkdir(exist_ok=True)
    train, test, lines = {}, {}, [HEAD]
    for c, name in enumerate(("cat", "dog", "ship")):
        train |= {f"{name}/{n}.jpg": picture(1000 * c + n) for n in range(4)}
        for n in range(20):
            test[f"{name}/{n}.jpg"] = picture(5000 + 1000 * c + n)
            counts = [0, 0, 0]
            counts[c] = 50 - 3 * (n % 5)
            counts[0] += 3 * (n % 5) if name == "dog" else 0
            lines.append(f"{len(lines) - 1},{name}/{n}.jpg,{name},{','.join(map(str, counts))}")
    write(folder / "train.tar", train | {".DS_Store": b"x"}, form)
    write(folder / "test.tar", test | more, form)
    (folder / "test_votes.csv").write_text("\n".join(lines + (rows or [])) + "\n")
    return folder


def made(make_job: Callable[..., Any], folder: Path, workers: int = 38, **options: Any) -> Path:
    config = {
        "world": {
            "source": "folder",
            "folder": {"path": str(folder), "off_topic": 0.2},
            "people": {"workers": workers},
        }
    }
    job = make_job("world", config=config, inputs={"classes": {"classes.parquet": classes(WORDS)}}, **options)
    run(job)
    return Path(job.out.folder)


def test_half_plays_the_validation_set_and_half_is_on_flickr(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    world = made(make_job, source(tmp_path / "in"))
    photos, originals, truth = (
        pd.read_parquet(world / f"{t}.parquet") for t in ("photos", "originals", "truth")
    )
    assert originals.groupby(["split", "wnid"]).size().to_dict() == {
        (s, w): n for s, n in (("train", 4), ("val", 10)) for w in WORDS
    }
    assert len(photos) == 30 and (photos["status"] == "ok").all()
    assert (photos["width"] == 16).all()
    val = set(originals.loc[originals["split"] == "val", "file"])
    assert set(truth["file"]) == val | set(photos["file"]) and len(truth) == 3 * 60
    with zipfile.ZipFile(world / "photos.zip") as archive:
        held = {archive.read(n) for n in archive.namelist()}
    with zipfile.ZipFile(world / "originals.zip") as archive:
        old = {archive.read(n) for n in archive.namelist()}
    assert not held & old
    assert held | old == {picture(k + c) for c in (0, 1000, 2000) for k in (*range(4), *range(5000, 5020))}


def test_votes_are_the_recorded_ones_in_one_order_for_all_classes(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    truth = pd.read_parquet(made(make_job, source(tmp_path / "in")) / "truth.parquet")
    for _, rows in truth.groupby("file"):
        votes = np.stack(rows["judgements"].tolist())
        assert votes.shape[0] == 3
        assert (votes.sum(axis=0) == 1).all()
        assert votes.mean(axis=1) == pytest.approx(rows["probability"].to_numpy(), abs=1e-6)
    own = truth[truth["fault"] != "off_topic"]
    assert len(own) == 60 and (own["probability"] >= 0.7).all() and (own["fault"] == "").all()


def test_a_fifth_of_the_results_is_of_other_classes_and_first_what_people_took_for_it(
    make_job: Callable[..., Any], tmp_path: Path
) -> None:
    world = made(make_job, source(tmp_path / "in"))
    photos, truth = pd.read_parquet(world / "photos.parquet"), pd.read_parquet(world / "truth.parquet")
    own = truth[truth["fault"] != "off_topic"].set_index("file")["wnid"]
    asked = truth.set_index(["file", "wnid"])["probability"]
    found = {
        w: [
            (row.file, own[row.file] == w)
            for row in photos.itertuples()
            if set(words) & {*row.tags, *row.title.replace("“", "").replace("”", "").split(" ")}
            or any(x in row.title for x in words)
        ]
        for w, words in WORDS.items()
    }
    for wnid, results in found.items():
        wrong = [f for f, right in results if not right]
        assert (len(results), len(wrong)) == (12, 2) or (len(results), len(wrong)) == (13, 3), wnid
    for_cats = [f for f, right in found["n02121620"] if not right]
    assert any(asked[f, "n02121620"] > 0 for f in for_cats)


@pytest.mark.parametrize("form", ["folder", "tar.bz2", "zip"])
def test_the_form_of_the_source_does_not_matter(
    make_job: Callable[..., Any], tmp_path: Path, form: str
) -> None:
    files = ("photos.zip", "originals.zip", "truth.parquet")
    plain, other = made(make_job, source(tmp_path / "a")), made(make_job, source(tmp_path / "b", form))
    assert [(plain / f).read_bytes() for f in files] == [(other / f).read_bytes() for f in files]


def test_a_photograph_that_is_no_image_is_served_broken(make_job: Callable[..., Any], tmp_path: Path) -> None:
    folder = source(tmp_path / "in", rows=[f"{60 + n},cat/x{n}.jpg,cat,39,0,0" for n in range(8)],
                    **{f"cat/x{n}.jpg": b"no image" for n in range(8)})  # fmt: skip
    photos = pd.read_parquet(made(make_job, folder) / "photos.parquet")
    assert 0 < (photos["status"] == "broken").sum() <= 8


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("60,cat/0.jpg,zebra,1,0,0", "line 62: 'zebra' is no class"),
        ("60,cat/77.jpg,cat,1,0,0", "cat/77.jpg is not in"),
        ("60,cat/77.jpg,cat,1,0.5,0", "line 62: dog is '0.5'; votes are whole numbers"),
        ("60,cat/77.jpg,cat,1,-1,0", "dog is '-1'"),
        ("60,cat/77.jpg,cat,1,,0", "dog is ''"),
        ("60,cat/77.jpg,cat,0,0,0", "cat/77.jpg has no votes"),
        ("60,cat/0.jpg,cat,1,0,0", "cat/0.jpg stands there twice"),
        ("60,cat/77.jpg,cat,1,0", "line 62 has 5 values, not 6"),
    ],
)
def test_a_wrong_row_is_named(make_job: Callable[..., Any], tmp_path: Path, row: str, message: str) -> None:
    with pytest.raises(InputError) as error:
        made(make_job, source(tmp_path / "in", rows=[row]))
    assert message in str(error.value) and "test_votes.csv" in str(error.value)


def test_missing_and_damaged_files_are_named(make_job: Callable[..., Any], tmp_path: Path) -> None:
    folder = source(tmp_path / "in")
    (folder / "test.tar").write_bytes(b"no archive")
    with pytest.raises(InputError, match=r"world\.folder\.photographs: .*test\.tar is no whole"):
        made(make_job, folder)
    header = (folder / "test_votes.csv").read_text().replace(",ship", ",boat", 1)
    (folder / "test_votes.csv").write_text(header)
    with pytest.raises(InputError, match="'boat' is no class"):
        made(make_job, folder)
    (folder / "test_votes.csv").write_text("image,label,cat,dog\n")
    with pytest.raises(InputError, match="no column for n04194289"):
        made(make_job, folder)


def test_no_vote_is_given_twice(make_job: Callable[..., Any], tmp_path: Path) -> None:
    folder = source(tmp_path / "in", rows=["60,cat/x.jpg,cat,0,37,0"], **{"cat/x.jpg": picture(1)})
    wanted = (
        r"world\.people\.workers: 38 .* 37 judgements of cat/x\.jpg .*test_votes\.csv; set it to at most 37"
    )
    with pytest.raises(InputError, match=wanted):
        made(make_job, folder)
    assert made(make_job, folder, workers=37)


@pytest.mark.parametrize("stray", ["zebra/1.jpg", "1.jpg"])
def test_training_photographs_lie_in_the_folder_of_a_class(
    make_job: Callable[..., Any], tmp_path: Path, stray: str
) -> None:
    folder = source(tmp_path / "in")
    write(folder / "train.tar", {stray: picture(1)}, "tar")
    with pytest.raises(InputError, match=stray):
        made(make_job, folder)


@pytest.mark.packs
def test_cifar10h_votes_are_read_whole(packs: Path) -> None:
    from imagenetv2.world.folder import halves
    from imagenetv2.world.recorded import read_votes

    table = pd.read_csv(Path(__file__).parents[2] / "config/classes/cifar10.csv")
    lemmas = {w: text.split("; ") for w, text in zip(table["wnid"], table["lemmas"], strict=True)}
    votes = read_votes(packs / "cifar10h/test_votes.csv", lemmas)
    assert len(votes) == 10_000
    assert sum(int(r.counts.sum()) for r in votes) == 511_000
    held, pooled = halves(votes, list(lemmas), 1)
    assert {len(held), len(pooled)} == {5000} and not {r.image for r in held} & {r.image for r in pooled}
