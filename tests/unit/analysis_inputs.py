"""A small simulated run: consistent tables of every stage that the analysis and the report read.

Each image has a true probability of being selected; votes, sets and predictions follow from it, so that tests
know what must come out.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from imagenetv2 import archive
from imagenetv2.config import Config
from imagenetv2.graph import stages
from imagenetv2.images import encode_jpeg, encode_png
from imagenetv2.intervals import clopper_pearson
from imagenetv2.job import run
from imagenetv2.sampling.stages import RULES
from tests.conftest import FAKE_VERSION, write_artifact

VOTES = 10
Inputs = dict[str, dict[str, Any]]


def simulate(
    *,
    classes: int = 4,
    validation: int = 30,
    candidates: int = 60,
    taken: int = 12,
    models: int = 5,
    metrics: tuple[str, ...] = ("l2", "fc7", "ssim"),
    world: bool = True,
    seed: int = 7,
) -> tuple[dict[str, Any], Inputs]:
    """Configuration and inputs of a run, as ``make_job`` takes them."""
    rng = np.random.default_rng(seed)
    names = [f"n{i:08d}" for i in range(1, classes + 1)]
    old, new = _images(rng, names, validation, "a"), _images(rng, names, candidates, "b")
    old["probability"] = np.clip(rng.beta(7, 2.2, len(old)), 0.02, 0.98)
    new["probability"] = np.clip(rng.beta(2.2, 1.8, len(new)), 0.02, 0.98)
    frequencies = _frequencies(rng, old, new, names)
    sets = {rule: _draw(rng, rule, new, frequencies, taken) for rule in RULES}
    inputs: Inputs = {
        "classes": {"classes.parquet": _classes(names)},
        "reference": {"reference.parquet": _reference(old), "images.zip": _zip(old, encode_png, ".png")},
        "search": _search(new),
        "candidates": _candidates(new),
        "hits": _hits(old, new, names),
        "assignments": {"assignments.parquet": _assignments()},
        "frequencies": {"frequencies.parquet": frequencies, "workers.parquet": _workers(rng)},
        "duplicates": _duplicates(old, new, metrics),
        "reviews/pairs": {"verdicts.parquet": _empty("reviews/pairs")},
    }
    for rule, images in sets.items():
        inputs[f"reviews/{rule}"] = {"verdicts.parquet": _empty(f"reviews/{rule}")}
        inputs[f"datasets/{rule}"] = {
            "images.parquet": images,
            "classes.parquet": _counts(new, images, names),
        }
    for metric in metrics:
        inputs[f"neighbours/{metric}"] = _neighbours(rng, old, new)
    if world:
        inputs["world"] = _world(old, new)
    chosen = [f"model_{i}" for i in range(models)]
    for i, model in enumerate(chosen):
        inputs[f"models/{model}"] = {"model.json": {}}
        known = pd.concat([old, new]).set_index("image_id")["probability"]
        for name, images in {"original": old, **sets}.items():
            table = _predictions(rng, images, known, 1.2 * i - 1.0, classes)
            inputs[f"predictions/{name}/{model}"] = {"predictions.parquet": table}
    return _config(chosen, metrics, world, taken), inputs


def _config(models: list[str], metrics: tuple[str, ...], world: bool, taken: int) -> dict[str, Any]:
    config: dict[str, Any] = {
        "models": [{"name": m, "kind": "hog", "family": f"family {i % 2}"} for i, m in enumerate(models)],
        "neighbours": {m: {"enabled": m in metrics} for m in ("l2", "fc7", "ssim")},
        "sampling": {"eligibility": {"per_class": taken}},
        "analysis": {"bootstrap": 400},
    }
    if not world:
        config |= {
            "world": {"source": "real"},
            "review": {"reviewer": "people"},
            "reference": {"path": str(Path(__file__).parent)},
        }
    return config


def _neighbours(rng: np.random.Generator, old: pd.DataFrame, new: pd.DataFrame) -> dict[str, Any]:
    images, others = new["image_id"].to_numpy(), old["image_id"].to_numpy()
    frame = pd.DataFrame(
        {
            "image_id": images, "rank": 0, "neighbour_id": others[np.arange(len(images)) % len(others)], "origin": "val",
            "distance": 10.0 ** rng.uniform(-3, 7, len(images)),
        }
    )  # fmt: skip
    counts = {"images": len(new) + len(old), "candidates": len(new), "pairs": 1000, "computed": 120}
    return {"neighbours.parquet": frame, "searched.json": counts}


def _empty(stage: str) -> pd.DataFrame:
    table = stages(Config())[stage].files[0]
    return table.empty()


def _images(rng: np.random.Generator, names: list[str], each: int, letter: str) -> pd.DataFrame:
    rows = [
        {
            "image_id": f"{letter}{c:05d}{i:010d}",
            "wnid": wnid,
            "class_index": c,
            "hue": rng.integers(40, 220, 3),
        }
        for c, wnid in enumerate(names)
        for i in range(each)
    ]
    return pd.DataFrame(rows)


def _zip(images: pd.DataFrame, encode: Any, ending: str, *, folders: bool = True) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "images.zip"
        with archive.write(path) as out:
            for row in images.sort_values(["wnid", "image_id"]).itertuples():
                pixels = np.full((24, 30, 3), row.hue, np.uint8)
                pixels[6:18, 8:22] = 255 - pixels[6:18, 8:22]
                name = f"{row.wnid}/{row.image_id}{ending}" if folders else f"{row.image_id}{ending}"
                out.add(name, encode(pixels))
        return path.read_bytes()


def _classes(names: list[str]) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "class_index": range(len(names)),
            "wnid": names,
            "lemmas": [[f"thing_{i}", "other"] for i in range(len(names))],
            "definition": "something that can be seen",
            "wikipedia": [[] for _ in names],
            "hypernyms": [[] for _ in names],
            "neighbours": [[n for n in names if n != name][:5] for name in names],
        }
    )


def _reference(old: pd.DataFrame) -> pd.DataFrame:
    return old[["image_id", "wnid", "class_index"]].assign(
        split="val",
        file=old["wnid"] + "/" + old["image_id"] + ".png",
        source_file="val/" + old["image_id"] + ".jpg",
        source_sha256="0" * 64,
        source_format="JPEG",
        width=30,
        height=24,
        spread=30.0,
    )


def _search(new: pd.DataFrame) -> dict[str, pd.DataFrame]:
    common = {
        "query": "thing", "rung": 0, "owner_id": "1@N00", "license": "4", "taken": "2013-01-01 00:00:00",
        "taken_granularity": 0, "taken_unknown": False, "uploaded": 1_357_000_000, "width": 30, "height": 24,
    }  # fmt: skip
    photos = pd.DataFrame({"wnid": new["wnid"], "photo_id": "9" + new["image_id"].str[1:], **common})
    gone = photos.groupby("wnid").head(2).assign(photo_id=lambda f: "8" + f["photo_id"].str[1:])
    copies = photos.groupby("wnid").head(1).assign(photo_id=lambda f: "7" + f["photo_id"].str[1:])
    photos = pd.concat([photos, gone, copies], ignore_index=True)
    photos["rank"] = photos.groupby("wnid").cumcount()
    photos["url"] = "http://127.0.0.1/" + photos["photo_id"]
    kept = photos["wnid"].value_counts()
    queries = pd.DataFrame(
        {
            "wnid": kept.index, "query": "thing", "uploaded_from": 0, "uploaded_to": 1, "total": kept + 12,
            "pages": 1, "returned": kept + 12, "malformed": 1, "unique": kept + 9, "outside_window": 4, "kept": kept,
        }
    )  # fmt: skip
    return {"photos.parquet": photos, "queries.parquet": queries.reset_index(drop=True)}


def _candidates(new: pd.DataFrame) -> dict[str, Any]:
    photo = "9" + new["image_id"].str[1:]
    table = new[["image_id", "wnid", "class_index"]].assign(
        photo_id=photo, query="thing", rung=0, owner_id="1@N00", license="4", uploaded=1_357_000_000,
        file=new["wnid"] + "/" + new["image_id"] + ".png", source_sha256="0" * 64, source_format="JPEG",
        exif_orientation=1, width=30, height=24, spread=30.0,
    )  # fmt: skip
    first = new.groupby("wnid").head(1)
    copies = pd.concat(
        [
            pd.DataFrame({"image_id": new["image_id"], "photo_id": photo}),
            pd.DataFrame({"image_id": first["image_id"], "photo_id": "7" + first["image_id"].str[1:]}),
        ]
    )
    two = new.groupby("wnid").head(2)
    rejected = pd.DataFrame({"photo_id": "8" + two["image_id"].str[1:], "url": "http://127.0.0.1/x"})
    rejected["reason"] = ["unavailable", "undecodable"] * (len(rejected) // 2)
    return {
        "candidates.parquet": table,
        "copies.parquet": copies,
        "rejected.parquet": rejected.assign(detail="-"),
        "images.zip": _zip(new, encode_png, ".png"),
    }


def _hits(old: pd.DataFrame, new: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    shown = pd.concat(
        [
            new[new["wnid"] == names[0]].head(6).assign(origin="candidates", role="candidate"),
            old[old["wnid"] == names[0]].head(2).assign(origin="reference", role="positive"),
        ],
        ignore_index=True,
    )
    tasks = shown[["wnid", "image_id", "origin", "role"]].assign(task_id=f"{names[0]}-000")
    tasks["position"] = range(len(tasks))
    tasks["token"] = [f"{i:032x}" for i in range(100, 100 + len(tasks))]
    cells = "".join(f'<img src="{token}.jpg">' for token in tasks["token"])
    html = f"<!doctype html><h1>Select</h1>{cells}<script>alert('no')</script><noscript>JS!</noscript>"
    pages = pd.DataFrame(
        {"task_id": [f"{names[0]}-000"], "wnid": names[0], "page": "p.html", "images": len(tasks), "bytes": 9}
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pages.zip"
        with archive.write(path) as out:
            out.add("p.html", html.encode())
        zipped = path.read_bytes()
    return {
        "tasks.parquet": tasks,
        "pages.parquet": pages,
        "pages.zip": zipped,
        "shown.zip": _zip(shown, encode_jpeg, ".jpg", folders=False),
    }


def _assignments() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "task_id": "n00000001-000", "worker": [f"{i:016x}" for i in range(VOTES)], "hit_id": "h",
            "assignment_id": [f"a{i}" for i in range(VOTES)], "status": "Approved", "seconds": 60,
            "selected": [[0, 1] for _ in range(VOTES)],
        }
    )  # fmt: skip


def _frequencies(
    rng: np.random.Generator, old: pd.DataFrame, new: pd.DataFrame, names: list[str]
) -> pd.DataFrame:
    asked = pd.concat(
        [
            old.groupby("wnid").head(20).assign(origin="reference", negative=False),
            new.assign(origin="candidates", negative=False),
        ],
        ignore_index=True,
    )
    controls = old.groupby("wnid").head(1).assign(origin="reference", negative=True, probability=0.02)
    controls["wnid"] = [names[(names.index(w) + 1) % len(names)] for w in controls["wnid"]]
    asked = pd.concat([asked, controls], ignore_index=True)
    asked["shown"] = VOTES
    asked.loc[asked.groupby("wnid").tail(1).index.intersection(asked.index[~asked["negative"]]), "shown"] = 3
    asked["selected"] = rng.binomial(asked["shown"], asked["probability"])
    asked["frequency"] = asked["selected"] / asked["shown"]
    asked["low"], asked["high"] = clopper_pearson(asked["selected"], asked["shown"])
    return asked.drop(columns=["class_index", "hue", "probability"])


def _workers(rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "worker": [f"{i:016x}" for i in range(VOTES)], "tasks": 5,
            "positive_rate": rng.uniform(0.7, 1, VOTES), "negative_rate": rng.uniform(0, 0.2, VOTES),
            "agreement": rng.uniform(0.7, 1, VOTES), "seconds_median": rng.uniform(40, 90, VOTES),
        }
    )  # fmt: skip


def _draw(
    rng: np.random.Generator, rule: str, new: pd.DataFrame, frequencies: pd.DataFrame, taken: int
) -> pd.DataFrame:
    votes = frequencies[frequencies["origin"] == "candidates"]
    pool = new[["image_id", "wnid", "class_index"]].merge(votes, on=["image_id", "wnid"])
    pool = pool[pool["shown"] >= VOTES]
    if rule == "threshold":
        pool = pool[pool["frequency"] >= 0.7]
    if rule == "matched_frequency":
        pool = pool[pool["frequency"] >= 0.4]
    order = pool["frequency"] if rule == "top_images" else pd.Series(rng.random(len(pool)), pool.index)
    pool = pool.assign(order=order).sort_values(["order", "image_id"], ascending=False)
    images = pool.groupby("wnid").head(taken)
    columns = ["image_id", "wnid", "class_index", "shown", "selected", "frequency"]
    how = "ranked" if rule == "top_images" else "drawn"
    return images[columns].assign(bin=-1, own_bin=-1, entered=0, how=how)


def _counts(new: pd.DataFrame, images: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    found = images["wnid"].value_counts().reindex(names)
    pool = new["wnid"].value_counts().reindex(names)
    return pd.DataFrame(
        {
            "wnid": names, "wanted": found.to_numpy(), "found": found.to_numpy(), "reviewed": True,
            "eligible": pool.to_numpy() - 3, "blacklisted": 1, "few_votes": 1, "below_threshold": 0,
            "duplicate": 1, "unreviewed": 0, "taken_upward": 0, "missing": "",
        }
    )  # fmt: skip


def _duplicates(old: pd.DataFrame, new: pd.DataFrame, metrics: tuple[str, ...]) -> dict[str, pd.DataFrame]:
    left, right = new.groupby("wnid").head(2), old.groupby("wnid").head(2)
    distances = {
        m: [float(i) * scale if m in metrics else None for i in range(len(left))]
        for m, scale in (("l2", 5e5), ("fc7", 3.0), ("ssim", 0.01))
    }
    pairs = pd.DataFrame(
        {
            "image_id": left["image_id"].to_numpy(), "neighbour_id": right["image_id"].to_numpy(),
            "origin": "val", **distances, "found_by": [[metrics[0]] for _ in range(len(left))],
            "verdict": ["duplicate", "different"] * (len(left) // 2), "reviewer": "simulated", "time": "", "note": "same scene",
            "flags": [["flat", "disagree"] if i % 3 == 0 else [] for i in range(len(left))],
        }
    )  # fmt: skip
    same = set(pairs.loc[pairs["verdict"] == "duplicate", "image_id"])
    fates = new[["image_id", "wnid"]].assign(
        component=[i if i in same else "" for i in new["image_id"]],
        fate=["dropped" if i in same else "free" for i in new["image_id"]],
        reason="-",
        place=[-1 if i in same else 0 for i in new["image_id"]],
        flags=[["flat", "large_component"] if i in same else [] for i in new["image_id"]],
    )
    return {"pairs.parquet": pairs, "fates.parquet": fates}


def _world(old: pd.DataFrame, new: pd.DataFrame) -> dict[str, pd.DataFrame]:
    photos = pd.DataFrame(
        {
            "photo_id": "9" + new["image_id"].str[1:], "owner_id": "1@N00", "secret": "0a", "title": "thing",
            "tags": [[] for _ in range(len(new))], "license": "4", "taken": "2013-01-01 00:00:00",
            "taken_granularity": 0, "taken_unknown": False, "uploaded": 1_357_000_000, "width": 30,
            "height": 24, "file": "photos/" + new["image_id"] + ".jpg", "status": "ok",
        }
    )  # fmt: skip
    files = pd.concat(["val/" + old["image_id"] + ".jpg", "photos/" + new["image_id"] + ".jpg"])
    both = pd.concat([old, new])
    truth = pd.DataFrame(
        {
            "file": files.to_numpy(), "wnid": both["wnid"].to_numpy(),
            "probability": both["probability"].to_numpy(), "judgements": [[] for _ in range(len(both))],
            "scene": "", "fault": "",
        }
    )  # fmt: skip
    return {"photos.parquet": photos, "truth.parquet": truth}


def _predictions(
    rng: np.random.Generator, images: pd.DataFrame, known: Mapping[str, float], skill: float, classes: int
) -> pd.DataFrame:
    ease = images["image_id"].map(known).to_numpy()
    chance = 1 / (1 + np.exp(-(skill + 3.5 * (ease - 0.6))))
    wrong = rng.integers(1, classes, len(images))
    rank = np.where(rng.random(len(images)) < chance, 0, wrong)
    confidence = np.round(0.3 + 0.7 * chance, 6)
    return images[["image_id", "wnid", "class_index"]].assign(
        rank=rank,
        top5=[[0, 1, 2, 3] for _ in range(len(images))],
        probability=np.where(rank == 0, confidence, (1 - confidence) / 2),
        top_probability=confidence,
    )


def perform(data: Path, names: Sequence[str] = ("analysis", "report"), **simulated: Any) -> Path:
    """Write a simulated run below ``data`` and make these stages as their commands would; returns ``data``."""
    config, inputs = simulate(**simulated)
    known = stages(Config.model_validate(config))
    for name, files in inputs.items():
        write_artifact(data, known[name], files)
    versions = dict.fromkeys(known, FAKE_VERSION)
    for name in names:
        run(known[name], versions, data, 2019)
    return data
