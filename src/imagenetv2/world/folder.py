"""A world made from a folder of photographs and the votes that people once gave on them.

Half of the photographs that were voted on play the original validation set, the other half what Flickr returns.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

import pandas as pd
from PIL import Image

from imagenetv2 import archive
from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.progress import progress
from imagenetv2.randomness import generator
from imagenetv2.world import records
from imagenetv2.world.recorded import Recorded, by_name, in_order, read_votes, wnid_of
from imagenetv2.world.settings import Folder, People
from imagenetv2.world.source_files import Files, opened

UNCLEAR = 0.3
"""A reviewer objects where a smaller share of people chose the label."""
OUTSIDE = 0.06
"""Share of photographs whose dates lie outside the default search window."""
UNKNOWN = ("broken", 1, 1)


@dataclass(frozen=True)
class Listed:
    """A photograph on Flickr and the classes whose queries find it, its own first."""

    recorded: Recorded
    tagged: tuple[str, ...]


def run(job: Job) -> None:
    """Write the originals, what Flickr holds, and the truth."""
    settings = job.settings(Folder)
    classes = job.read("classes").table("classes")
    lemmas = {w: list(words) for w, words in zip(classes["wnid"], classes["lemmas"], strict=True)}
    votes = read_votes(settings.path / settings.votes, lemmas)
    held, pooled = halves(votes, list(lemmas), job.seed)
    listed = tagged(pooled, list(lemmas), settings.off_topic, job.seed)
    with (
        opened(settings.path / settings.train, "world.folder.train") as train,
        opened(settings.path / settings.photographs, "world.folder.photographs") as photographs,
    ):
        there = set(photographs.names())
        for row in votes:
            if row.image not in there:
                raise InputError(
                    f"{settings.path / settings.votes}: {row.image} is not in {settings.path / settings.photographs}; "
                    "add the photograph or take the line out."
                )
        _enough(votes, job.settings(People).workers, str(settings.path / settings.votes))
        labels = training_labels(train.names(), lemmas, str(settings.path / settings.train))
        photos = describe(listed, lemmas, job.seed)
        sizes = _write_photos(job, photographs, photos, listed)
        originals = [(f"train/{w}/{name}", "train", w, train, name) for name, w in labels.items()]
        originals += [(f"val/{r.wnid}/{r.image}", "val", r.wnid, photographs, r.image) for r in held]
        with archive.write(job.out.path("originals.zip")) as out:
            for file, _, _, source, name in progress(
                sorted(originals, key=lambda o: o[0]), "originals", len(originals)
            ):
                out.add(file, source.data(name))
    photos[["status", "width", "height"]] = [sizes[f] for f in photos["file"]]
    job.out.table("photos", photos)
    job.out.table("originals", pd.DataFrame([o[:3] for o in originals], columns=["file", "split", "wnid"]))
    asked = [*zip(photos["file"], (u.recorded for u in listed), strict=True)]
    asked += [(f"val/{r.wnid}/{r.image}", r) for r in held]
    job.out.table("truth", truth(asked, list(lemmas), job.seed))
    job.log.info(
        "%d photographs on Flickr, %d originals, %d files without votes left out",
        len(photos), len(originals), len(there) - len(votes),
    )  # fmt: skip


def _enough(votes: Sequence[Recorded], workers: int, where: str) -> None:
    """Raises InputError where a photograph has fewer judgements than there are workers to give one each."""
    totals = [(int(row.counts.sum()), row.image) for row in votes]
    fewest, image = min(totals, default=(workers, ""))
    if fewest < workers:
        raise InputError(
            f"world.people.workers: {workers} workers cannot each give another of the {fewest} judgements of {image} in "
            f"{where}; set it to at most {fewest}, or take the line out."
        )


def halves(
    votes: Sequence[Recorded], wnids: Sequence[str], seed: int
) -> tuple[list[Recorded], list[Recorded]]:
    """Class by class, a random half for the validation set and the rest for Flickr."""
    held, pooled = [], []
    for wnid in wnids:
        own = [r for r in votes if r.wnid == wnid]
        order = generator(seed, "world", "halves", wnid).permutation(len(own))
        held += [own[i] for i in order[: len(own) // 2]]
        pooled += [own[i] for i in order[len(own) // 2 :]]
    return held, pooled


def tagged(pooled: Sequence[Recorded], wnids: Sequence[str], share: float, seed: int) -> list[Listed]:
    """Every photograph with its own class, and some with a wrong one as well.

    ``share`` of what the queries of a class find are photographs of other classes: half of these are such as
    people took for the class, most votes first, as far as there are any; the others are random.
    """
    wrong: dict[str, list[str]] = {r.image: [] for r in pooled}
    for position, wnid in enumerate(wnids):
        others = [r for r in pooled if r.wnid != wnid]
        own = len(pooled) - len(others)
        many = min(len(others), int(own * share / (1 - share) + 0.5))
        order = [others[i] for i in generator(seed, "world", "off_topic", wnid).permutation(len(others))]
        taken_for = [r for r in order if r.counts[position] > 0]
        taken_for.sort(key=lambda r: -r.counts[position] / r.counts.sum())
        confused = taken_for[: many // 2]
        names = {r.image for r in confused}
        rest = [r for r in order if r.image not in names][: many - len(confused)]
        for row in (*confused, *rest):
            wrong[row.image].append(wnid)
    return [Listed(r, (r.wnid, *wrong[r.image])) for r in pooled]


def training_labels(names: Iterable[str], lemmas: Mapping[str, Sequence[str]], where: str) -> dict[str, str]:
    """WordNet ID of each training photograph, from the folder it lies in."""
    known = by_name(lemmas)
    labels = {}
    for name in names:
        folder = PurePosixPath(name).parent.name
        if not folder:
            raise InputError(
                f"{where}: {name} lies in no folder; put each photograph into the folder of its class."
            )
        labels[name] = wnid_of(folder, known, f"{where}, {name}")
    if not labels:
        raise InputError(f"{where} holds no photographs; give it one folder a class.")
    return labels


def describe(listed: Sequence[Listed], lemmas: Mapping[str, Sequence[str]], seed: int) -> pd.DataFrame:
    """Flickr's record of each photograph, in the order given; status, width and height come with the files."""
    rng = generator(seed, "world", "records")
    dates = [
        records.dates_outside(rng) if rng.random() < OUTSIDE else records.dates_inside(rng) for _ in listed
    ]
    ids = records.photo_ids(rng, [d.uploaded for d in dates])
    rows = []
    for number, (one, photo_id, date) in enumerate(zip(listed, ids, dates, strict=True)):
        title, tags = records.words(rng, [lemmas[w] for w in one.tagged])
        rows.append(
            {
                "photo_id": photo_id,
                "owner_id": records.owner(rng),
                "secret": records.secret(rng, number),
                "title": title,
                "tags": tags,
                "license": records.LICENCES[int(rng.integers(len(records.LICENCES)))],
                "taken": date.taken,
                "taken_granularity": date.granularity,
                "taken_unknown": date.unknown,
                "uploaded": date.uploaded,
                "file": photo_id + PurePosixPath(one.recorded.image).suffix.lower(),
            }
        )
    return pd.DataFrame(rows)


def truth(asked: Sequence[tuple[str, Recorded]], wnids: Sequence[str], seed: int) -> pd.DataFrame:
    """The truth table: each file for each class, with the recorded votes in a random order."""
    files, judgements, probability, faults = [], [], [], []
    for file, row in asked:
        total = int(row.counts.sum())
        ordered = in_order(row.counts, generator(seed, "world", "judgements", row.image))
        for position, wnid in enumerate(wnids):
            files.append((file, wnid))
            judgements.append(ordered[position])
            probability.append(round(int(row.counts[position]) / total, 6))
            hard = probability[-1] < UNCLEAR
            faults.append("off_topic" if wnid != row.wnid else "unclear" if hard else "")
    frame = pd.DataFrame(files, columns=["file", "wnid"])
    frame["probability"], frame["judgements"] = probability, judgements
    frame["scene"], frame["fault"] = "", faults
    return frame


def _write_photos(
    job: Job, photographs: Files, photos: pd.DataFrame, listed: Sequence[Listed]
) -> dict[str, tuple[str, int, int]]:
    """Copy the files, byte for byte; returns status, width and height of each."""
    sources = dict(zip(photos["file"], (u.recorded.image for u in listed), strict=True))
    facts = {}
    with archive.write(job.out.path("photos.zip")) as out:
        for file in progress(sorted(sources), "photographs", len(sources)):
            data = photographs.data(sources[file])
            out.add(file, data)
            facts[file] = measured(data)
    return facts


def measured(data: bytes) -> tuple[str, int, int]:
    """Status, width and height, from the head of a file alone; ("broken", 1, 1) for what is no image."""
    try:
        with Image.open(io.BytesIO(data)) as image:
            return "ok", image.width, image.height
    except (OSError, ValueError, SyntaxError):
        return UNKNOWN
