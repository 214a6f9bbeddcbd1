"""The embedded world's reviewer, whose verdicts are recorded like a person's."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import pandas as pd

from imagenetv2.archive import Reader
from imagenetv2.duplicates.queue import asked, queue
from imagenetv2.duplicates.settings import Cutoffs
from imagenetv2.job import Job
from imagenetv2.progress import progress
from imagenetv2.randomness import uniform
from imagenetv2.review.looking import SAME, Contrast, agreement, contrast
from imagenetv2.review.settings import Simulated
from imagenetv2.sampling.plan import Plan, plan_of
from imagenetv2.sampling.revisions import first, following, waiting
from imagenetv2.sampling.verdicts import Verdict, objections, to_table

if TYPE_CHECKING:
    from imagenetv2.images import Pixels

NAME = "simulated"


def run_pairs(job: Job) -> None:
    """Judge every pair at or below a cut-off: by its scenes where they are known, otherwise by looking."""
    neighbours = {
        metric: artifact.table("neighbours") for metric, artifact in job.reads("neighbours").items()
    }
    pairs = asked(queue(neighbours, job.settings(Cutoffs)))
    candidates, reference = job.read("candidates"), job.read("reference")
    images = pd.concat(
        [
            candidates.table("candidates")[["image_id", "file"]],
            reference.table("reference")[["image_id", "file"]],
        ],
        keys=["candidates", "reference"],
        names=["origin"],
    ).reset_index("origin")
    readers = {
        "candidates": Reader(candidates.path("images.zip")),
        "reference": Reader(reference.path("images.zip")),
    }
    places = {i: (o, f) for i, o, f in zip(images["image_id"], images["origin"], images["file"], strict=True)}
    scenes = scenes_of(job)
    verdicts = judge_pairs(pairs, scenes, lambda i: readers[places[i][0]].pixels(places[i][1]))
    for reader in readers.values():
        reader.close()
    job.out.table("verdicts", verdicts)
    job.log.info("%d pairs, %d duplicates", len(verdicts), int((verdicts["verdict"] == "duplicate").sum()))


def scenes_of(job: Job) -> dict[str, set[str]]:
    """Known scenes of each image_id of the candidates and the reference; none where the world can't tell."""
    truth = job.read("world").table("truth")
    scene = dict(zip(truth["file"].tolist(), truth["scene"].tolist(), strict=True))
    file = _files_of_photos(job)
    candidates = job.read("candidates").table("candidates")
    reference = job.read("reference").table("reference")
    found: dict[str, set[str]] = defaultdict(set)
    for image, photo in zip(candidates["image_id"].tolist(), candidates["photo_id"].tolist(), strict=True):
        found[image].add(scene.get(file.get(photo, ""), ""))
    for image, source in zip(reference["image_id"].tolist(), reference["source_file"].tolist(), strict=True):
        found[image].add(scene.get(source, ""))
    return {image: known for image, names in found.items() if (known := names - {""})}


def judge_pairs(
    pairs: pd.DataFrame, scenes: Mapping[str, set[str]], pixels: Callable[[str], Pixels]
) -> pd.DataFrame:
    """Rows of ``reviews/pairs/verdicts.parquet`` for pairs of the queue.

    ``scenes`` holds the known scenes by image_id. ``pixels`` gives the picture of an image_id; it is asked only
    where the scene of either is unknown.
    """
    seen: dict[str, Contrast] = {}

    def look(image: str) -> Contrast:
        if image not in seen:
            seen[image] = contrast(pixels(image))
        return seen[image]

    rows: list[tuple[int, str, str, str, str, str, str]] = []
    ids = zip(pairs["image_id"].tolist(), pairs["neighbour_id"].tolist(), strict=True)
    for one, other in progress(sorted(ids), "reviewing pairs", total=len(pairs)):
        if one in scenes and other in scenes:
            same = not scenes[one].isdisjoint(scenes[other])
            note = "same scene" if same else "different scenes"
        else:
            score = agreement(look(one), look(other))
            same = score >= SAME
            note = f"the pictures agree to {score:.2f}"
        rows.append((len(rows), one, other, "duplicate" if same else "different", NAME, "", note))
    columns = ["number", "image_id", "neighbour_id", "verdict", "reviewer", "time", "note"]
    return pd.DataFrame(rows, columns=columns)


def run_rule(job: Job) -> None:
    """Sample, look, sample again, until nobody objects or the rounds are used up."""
    plan, reviewer = plan_of(job), job.settings(Simulated)
    faults = faults_of(job)

    def overlooked(number: int, image: str, wnid: str) -> bool:
        return uniform(job.seed, "overlooked", plan.rule, number, image, wnid) < reviewer.oversight

    verdicts = review_rule(plan, faults, overlooked, reviewer.rounds)
    job.out.table("verdicts", to_table(verdicts))
    rounds = max((v.round for v in verdicts), default=-1) + 1
    count = len({i for v in verdicts for i in v.blacklisted})
    job.log.info("%s: %d rounds of review, %d images blacklisted", plan.rule, rounds, count)


def faults_of(job: Job) -> dict[tuple[str, str], str]:
    """Why a reviewer would blacklist a candidate for a class, by image_id and wnid; faultless ones are absent."""
    truth = job.read("world").table("truth")
    keys = zip(truth["file"].tolist(), truth["wnid"].tolist(), strict=True)
    fault = {key: why for key, why in zip(keys, truth["fault"].tolist(), strict=True) if why}
    file = _files_of_photos(job)
    candidates = job.read("candidates").table("candidates")
    rows = zip(*(candidates[c].tolist() for c in ("image_id", "wnid", "photo_id")), strict=True)
    return {(i, w): why for i, w, photo in rows if (why := fault.get((file.get(photo, ""), w)))}


def review_rule(
    plan: Plan,
    faults: Mapping[tuple[str, str], str],
    overlooked: Callable[[int, str, str], bool],
    rounds: int,
) -> list[Verdict]:
    """Verdicts of at most ``rounds`` rounds on the chain that they lead to.

    A round looks at each class whose images were not yet accepted and objects to images with a fault, except
    where ``overlooked(round, image_id, wnid)``.
    """
    verdicts: list[Verdict] = []
    revision = first(plan)
    for number in range(rounds):
        for wnid in waiting(revision, verdicts):
            images = revision.classes[wnid].ids
            bad = [i for i in images if (i, wnid) in faults and not overlooked(number, i, wnid)]
            reasons = tuple(faults[i, wnid] for i in bad)
            verdicts.append(Verdict(number, wnid, images, tuple(bad), reasons, NAME))
        refused = objections(verdicts, number)
        if not refused:
            break
        revision = following(plan, revision, refused)
    return verdicts


def _files_of_photos(job: Job) -> dict[str, str]:
    photos = job.read("world").table("photos")
    return dict(zip(photos["photo_id"].tolist(), photos["file"].fillna("").tolist(), strict=True))
