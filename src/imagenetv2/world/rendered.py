"""The rendered world: photographs drawn with known difficulty, so that the truth about every vote is known."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import pandas as pd

from imagenetv2 import archive
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.progress import progress
from imagenetv2.randomness import generator
from imagenetv2.world import records
from imagenetv2.world.rendering.difficulty import UNCLEAR, clarity, selection
from imagenetv2.world.rendering.files import Made, Picture, make
from imagenetv2.world.rendering.objects import KINDS
from imagenetv2.world.rendering.originals import originals
from imagenetv2.world.rendering.pool import Upload, pool
from imagenetv2.world.settings import People, Rendered
from imagenetv2.world.truth import of_population

CHUNK = 32


def run(job: Job) -> None:
    """Write the originals, what Flickr holds, and the truth."""
    settings, people = job.settings(Rendered), job.settings(People)
    classes = job.read("classes").table("classes")
    lemmas = {w: list(words) for w, words in zip(classes["wnid"], classes["lemmas"], strict=True)}
    check(lemmas)
    kept = [o for w in lemmas for o in originals(w, settings, people, job.seed)]
    uploads = [
        u
        for w in lemmas
        for u in pool(w, list(lemmas), settings.pool_per_class, [o for o in kept if o.wnid == w], job.seed)
    ]
    photos = describe(uploads, lemmas, job.seed)
    pictures = {f: u.picture for f, u in zip(photos["file"], uploads, strict=True) if u.picture is not None}
    sizes = _fill(job, "photos.zip", pictures, settings.side)
    _fill(job, "originals.zip", {o.file: o.picture for o in kept}, settings.side)
    fallback = (settings.side, settings.side)
    photos["width"] = [sizes.get(f, fallback)[0] for f in photos["file"]]
    photos["height"] = [sizes.get(f, fallback)[1] for f in photos["file"]]
    job.out.table("photos", photos)
    job.out.table(
        "originals",
        pd.DataFrame([(o.file, o.split, o.wnid) for o in kept], columns=["file", "split", "wnid"]),
    )
    whole = {f: p for f, p in pictures.items() if p.encoding not in ("truncated", "text")}
    job.out.table("truth", truth({**whole, **{o.file: o.picture for o in kept}}, list(lemmas), people))
    job.log.info("%d photographs on Flickr, %d originals", len(photos), len(kept))


def check(wnids: Iterable[str]) -> None:
    """Raise InputError for the first class that the renderer cannot draw."""
    for wnid in wnids:
        if wnid not in KINDS:
            raise InputError(
                f"classes.table: the rendered world cannot draw {wnid}; it draws {', '.join(sorted(KINDS))}, so take "
                "it out with classes.only or set world.source to folder."
            )


def describe(uploads: Sequence[Upload], lemmas: Mapping[str, Sequence[str]], seed: int) -> pd.DataFrame:
    """Flickr's record of each upload, in the order given, without width and height."""
    rng = generator(seed, "world", "records")
    ids = records.photo_ids(rng, [u.dates.uploaded for u in uploads])
    rows = []
    for number, (upload, photo_id) in enumerate(zip(uploads, ids, strict=True)):
        title, tags = records.words(rng, [lemmas[w] for w in upload.tagged])
        suffix = "png" if upload.picture and upload.picture.encoding in ("png", "lossless_copy") else "jpg"
        rows.append(
            {
                "photo_id": photo_id,
                "owner_id": upload.owner,
                "secret": records.secret(rng, number),
                "title": title,
                "tags": tags,
                "license": records.LICENCES[int(rng.integers(len(records.LICENCES)))],
                "taken": upload.dates.taken,
                "taken_granularity": upload.dates.granularity,
                "taken_unknown": upload.dates.unknown,
                "uploaded": upload.dates.uploaded,
                "file": "" if upload.status == "gone" else f"{photo_id}.{suffix}",
                "status": upload.status,
            }
        )
    return pd.DataFrame(rows)


def truth(pictures: Mapping[str, Picture], wnids: Sequence[str], people: People) -> pd.DataFrame:
    """The truth table: each file for each class."""
    columns: dict[str, list[object]] = {
        c: [] for c in ("file", "wnid", "probability", "judgements", "scene", "fault")
    }
    for file, picture in pictures.items():
        scene = picture.scene
        clear = clarity(scene.factors)
        for wnid in wnids:
            careful = selection(scene.shown, wnid, clear, scene.drawing)
            row: tuple[object, ...] = (
                file,
                wnid,
                of_population(careful, people),
                [],
                scene.key,
                fault(picture, wnid),
            )
            for column, value in zip(columns.values(), row, strict=True):
                column.append(value)
    return pd.DataFrame(columns)


def fault(picture: Picture, wnid: str) -> str:
    """What a reviewer of the class would object to: off_topic, drawing, unclear, edited, or nothing ("")."""
    scene = picture.scene
    if scene.shown != wnid:
        return "off_topic"
    if scene.drawing:
        return "drawing"
    if clarity(scene.factors) < UNCLEAR:
        return "unclear"
    return "edited" if picture.edit == "framed" else ""


def _fill(job: Job, name: str, pictures: Mapping[str, Picture], side: int) -> dict[str, tuple[int, int]]:
    """Make all files into an archive of the artifact; returns their sizes."""
    files = sorted(pictures)
    sizes = {}
    with archive.write(job.out.path(name)) as out:
        made = _made([pictures[f] for f in files], side, job.seed, job.cores)
        for file, one in zip(files, progress(made, f"rendering {name}", len(files)), strict=True):
            out.add(file, one.data)
            sizes[file] = (one.width, one.height)
    return sizes


def _made(pictures: Sequence[Picture], side: int, seed: int, cores: int) -> Iterator[Made]:
    """The files in order, by as many processes as there are cores; the result does not depend on how many."""
    work = partial(make, side=side, seed=seed)
    if cores == 1 or len(pictures) < 4 * CHUNK:
        yield from map(work, pictures)
        return
    with ProcessPoolExecutor(cores, mp_context=multiprocessing.get_context("spawn")) as workers:
        yield from workers.map(work, pictures, chunksize=CHUNK)
