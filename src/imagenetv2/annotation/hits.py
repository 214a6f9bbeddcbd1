"""Stage ``hits``: tasks, their pages and pictures, and what they will cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pandas as pd

from imagenetv2 import archive
from imagenetv2.annotation import cost, pages, tasks
from imagenetv2.annotation.keys import blinding_key
from imagenetv2.annotation.settings import Hits
from imagenetv2.images import encode_jpeg, within
from imagenetv2.job import Job
from imagenetv2.progress import progress
from imagenetv2.randomness import generator


def run(job: Job) -> None:
    """Write tasks.parquet, pages.parquet, pages.zip, shown.zip and estimate.json."""
    settings = job.settings(Hits)
    key = blinding_key(settings, job.seed)
    classes = job.read("classes").table("classes")
    reference, candidates = job.read("reference"), job.read("candidates")
    held, found = reference.table("reference"), candidates.table("candidates")
    drawn = draw(classes, found, held, settings, job.seed)
    table = tasks.table(drawn, key)
    rendered, index = render(classes, table, key)
    job.out.table("tasks", table)
    job.out.table("pages", index)
    with archive.write(job.out.path("pages.zip")) as out:
        for name in sorted(rendered):
            out.add(name, rendered[name])
    sources = [(candidates.path("images.zip"), found), (reference.path("images.zip"), held)]
    write_pictures(job.out.path("shown.zip"), set(table["image_id"]), sources, settings.shown_side, job.cores)
    bill: dict[str, Any] = cost.estimate(len(index), settings.workers_per_task, settings.reward)
    job.out.json("estimate.json", {**bill, "largest_page_bytes": int(index["bytes"].max())})
    job.log.info(
        "%d tasks with %d images, %d answers, %s US dollars were they paid",
        len(index), len(table), bill["assignments"], bill["total"],
    )  # fmt: skip


def draw(
    classes: pd.DataFrame, candidates: pd.DataFrame, reference: pd.DataFrame, settings: Hits, seed: int
) -> dict[str, list[list[tasks.Shown]]]:
    """The tasks of every class, by WordNet ID in the order of the class index.

    Raises InputError where a class lacks candidates or validation images, or its neighbours the latter.
    """
    held = reference[reference["split"] == "val"]
    validation = {str(wnid): set(ids) for wnid, ids in held.groupby("wnid")["image_id"]}
    pools = {str(wnid): set(ids) for wnid, ids in candidates.groupby("wnid")["image_id"]}
    drawn = {}
    ordered = classes.sort_values("class_index")
    for wnid, neighbours in zip(ordered["wnid"], ordered["neighbours"], strict=True):
        own, pool = validation.get(wnid, set()), pools.get(wnid, set())
        near = tasks.near_class(wnid, list(neighbours), validation, own | pool, settings.negative_controls)
        drawn[wnid] = tasks.draw_tasks(wnid, pool, own, near, settings, generator(seed, "hits", wnid))
    return drawn


def render(classes: pd.DataFrame, table: pd.DataFrame, key: bytes) -> tuple[dict[str, bytes], pd.DataFrame]:
    """Pages by file name, and the table of pages, for a table of tasks."""
    known = {
        wnid: pages.Target(wnid, tuple(lemmas), definition, tuple(wikipedia))
        for wnid, lemmas, definition, wikipedia in zip(
            *(classes[name] for name in ("wnid", "lemmas", "definition", "wikipedia")), strict=True
        )
    }
    rendered, rows = {}, []
    ordered = table.sort_values(["task_id", "position"])
    for (task_id, wnid), images in ordered.groupby(["task_id", "wnid"]):
        name = tasks.page_name(key, str(task_id))
        rendered[name] = pages.render(known[str(wnid)], name, list(images["token"])).encode()
        rows.append((task_id, wnid, name, len(images), len(rendered[name])))
    return rendered, pd.DataFrame(rows, columns=["task_id", "wnid", "page", "images", "bytes"])


def write_pictures(
    path: Path,
    wanted: set[str],
    sources: Iterable[tuple[Path, pd.DataFrame]],
    side: int,
    cores: int,
) -> None:
    """Write ``<image_id>.jpg`` of every wanted image, original or new, by the same encoder and bound of size.

    ``sources`` are archives of canonical images with tables that have image_id and file.
    """
    places: dict[str, tuple[archive.Reader, str]] = {}
    for source, table in sources:
        reader = archive.Reader(source)
        rows: Mapping[str, str] = dict(zip(table["image_id"], table["file"], strict=True))
        places |= {image: (reader, rows[image]) for image in rows.keys() & wanted}

    def encode(image_id: str) -> bytes:
        reader, file = places[image_id]
        return encode_jpeg(within(reader.pixels(file), side))

    names = sorted(wanted)
    with ThreadPoolExecutor(cores) as pool, archive.write(path) as out:
        encoded = pool.map(encode, names)
        for name, data in zip(names, progress(encoded, "pictures", len(names)), strict=True):
            out.add(f"{name}.jpg", data)
