"""Stage ``world`` of the rendered world, whole, on few photographs."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from imagenetv2.candidates.settings import Search
from imagenetv2.errors import InputError
from imagenetv2.world import records
from imagenetv2.world.rendered import run
from imagenetv2.world.settings import People
from imagenetv2.world.truth import DEFAULT, of_careful, of_population, probability

WORDS = {"n03063599": ["coffee mug", "mug"], "n03950228": ["pitcher", "ewer"], "n07747607": ["orange"]}
CONFIG = {
    "world": {
        "rendered": {"side": 64, "train_per_class": 12, "validation_per_class": 20, "pool_per_class": 44}
    }
}


def classes(words: dict[str, list[str]]) -> pd.DataFrame:
    """A table of classes with what the world reads of it."""
    return pd.DataFrame(
        {
            "class_index": range(len(words)),
            "wnid": list(words),
            "lemmas": list(words.values()),
            "definition": "something",
            "wikipedia": [[] for _ in words],
            "hypernyms": [[] for _ in words],
            "neighbours": [[w for w in words if w != wnid] for wnid in words],
        }
    )


def made(make_job: Callable[..., Any], **options: Any) -> Path:
    job = make_job("world", config=CONFIG, inputs={"classes": {"classes.parquet": classes(WORDS)}}, **options)
    run(job)
    return Path(job.out.folder)


@pytest.fixture
def world(make_job: Callable[..., Any]) -> Path:
    return made(make_job)


def test_tables_and_archives_agree(world: Path) -> None:
    photos, originals, truth = (
        pd.read_parquet(world / f"{t}.parquet") for t in ("photos", "originals", "truth")
    )
    held = set(zipfile.ZipFile(world / "photos.zip").namelist())
    assert held == set(photos["file"]) - {""}
    assert (photos["file"] == "").eq(photos["status"] == "gone").all()
    assert set(zipfile.ZipFile(world / "originals.zip").namelist()) == set(originals["file"])
    assert originals.groupby(["wnid", "split"]).size().tolist() == [12, 20] * 3
    whole = set(photos.loc[photos["status"] == "ok", "file"]) | set(originals["file"])
    assert set(truth["file"]) == whole and len(truth) == 3 * len(whole)
    assert (
        truth["probability"].between(0, 1).all()
        and (truth["probability"].round(6) == truth["probability"]).all()
    )
    assert set(truth["fault"]) >= {"", "off_topic", "drawing"}


def test_records_are_like_flickrs(world: Path) -> None:
    photos = pd.read_parquet(world / "photos.parquet")
    assert photos["photo_id"].str.fullmatch(r"\d{10}").all()
    assert photos["secret"].str.fullmatch(r"[0-9a-f]{10}").all()
    assert set(records.NASTY_SECRETS) <= set(photos["secret"])
    assert photos["owner_id"].str.fullmatch(r"\d+@N0\d").all()
    by_upload = photos.sort_values(["uploaded", "photo_id"])["photo_id"].astype(int)
    assert by_upload.is_monotonic_increasing
    for wnid, words in WORDS.items():
        found = photos.apply(
            lambda row, words=words: any(w in row["title"] or w in list(row["tags"]) for w in words), axis=1
        )
        assert found.sum() >= 44, wnid
    assert pd.to_datetime(photos["taken"]).notna().all()


def test_most_photographs_lie_in_the_default_window_and_some_outside(world: Path) -> None:
    photos, search = pd.read_parquet(world / "photos.parquet"), Search()
    day = pd.to_datetime(photos["uploaded"], unit="s").dt.date
    taken = pd.to_datetime(photos["taken"]).dt.date
    assert (search.uploaded_from, search.uploaded_to) == (records.WINDOW[0].date(), date(2013, 7, 11))
    inside = (day >= search.uploaded_from) & (day <= search.uploaded_to)
    assert search.taken_from is not None and search.taken_to is not None
    inside &= (taken >= search.taken_from) & (taken <= search.taken_to)
    assert 3 * 44 == inside.sum() < len(photos)
    assert photos["taken_unknown"].any()


def test_scenes_of_originals_come_back_in_the_pool(world: Path) -> None:
    photos, truth = (pd.read_parquet(world / f"{t}.parquet") for t in ("photos", "truth"))
    scenes = truth.drop_duplicates("file").set_index("file")["scene"]
    pool = scenes[[f for f in photos["file"] if f in scenes.index]]
    assert pool.str.startswith("original/").sum() >= 3
    assert pool.duplicated().sum() >= 5


def test_the_bytes_depend_on_nothing_but_the_seed(make_job: Callable[..., Any], world: Path) -> None:
    files = ("photos.parquet", "originals.parquet", "truth.parquet", "photos.zip", "originals.zip")
    first = {f: (world / f).read_bytes() for f in files}
    assert {f: (made(make_job, cores=2) / f).read_bytes() for f in files} == first
    other = made(make_job, seed=1)
    assert all((other / f).read_bytes() != first[f] for f in files)


def test_a_class_that_cannot_be_drawn_is_named(make_job: Callable[..., Any]) -> None:
    table = classes({**WORDS, "n01503061": ["bird"]})
    job = make_job("world", config=CONFIG, inputs={"classes": {"classes.parquet": table}})
    with pytest.raises(InputError, match="cannot draw n01503061"):
        run(job)


def test_truth_is_looked_up_and_inverted(world: Path) -> None:
    truth, people = pd.read_parquet(world / "truth.parquet"), People()
    ask = probability(truth)
    row = truth.iloc[17]
    assert ask(row["file"], row["wnid"]) == row["probability"]
    assert ask("nowhere.jpg", row["wnid"]) == DEFAULT
    for p in (0.0, 0.015, 0.5, 0.99):
        assert of_careful(of_population(p, people), people) == pytest.approx(p, abs=1e-5)
    own = truth[truth["fault"] == ""]
    assert own["probability"].mean() > truth.loc[truth["fault"] == "off_topic", "probability"].mean() + 0.4
