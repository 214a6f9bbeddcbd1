"""From near-duplicate pairs and verdicts to what becomes of each candidate."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from imagenetv2.artifacts import Artifact
from imagenetv2.duplicates.fates import Candidates, entries, fates
from imagenetv2.duplicates.flags import flat, pair_flags, reach, truncated
from imagenetv2.duplicates.queue import ORIGINS, queue
from imagenetv2.duplicates.settings import Duplicates, Metric
from imagenetv2.job import Job

ITSELF = ("duplicate", "", "", "the same pixels")
"""Verdict, reviewer, time and note of a pair of an image and itself."""


def run(job: Job) -> None:
    """Write the pairs at or below a cut-off with their verdicts, and the fate of each candidate."""
    settings, searches = job.settings(Duplicates), _searches(job)
    artifacts = job.reads("neighbours")
    neighbours = {metric: artifact.table("neighbours") for metric, artifact in artifacts.items()}
    pool, reference = job.read("candidates"), job.read("reference").table("reference")
    candidates = pool.table("candidates")
    pairs = judged(queue(neighbours, settings.cutoffs), job.read("reviews/pairs").table("verdicts"))
    images = set(pairs["image_id"]) | set(pairs["neighbour_id"])
    weak = flat((candidates, reference[reference["image_id"].isin(images)]), settings.flags.flat)
    reached = reach(neighbours, searches, images)
    pairs["flags"] = pair_flags(pairs, weak, settings.cutoffs, settings.flags.disagree, reached)
    flags = {image: {"flat"} for image in weak}
    for image in _truncated(job, neighbours, searches, settings):
        flags.setdefault(image, set()).add("truncated")
    decided = fates(
        Candidates(
            entries(candidates, job.read("frequencies").table("frequencies")),
            pool.table("copies"),
            both(candidates, reference),
            unreadable(artifacts),
            flags,
        ),
        pairs,
        settings,
    )
    job.out.table("pairs", pairs)
    job.out.table("fates", decided)
    job.log.info(
        "duplicates: %d pairs (%s); candidates: %s",
        len(pairs),
        _counts(pairs["verdict"]),
        _counts(decided["fate"]),
    )


def judged(pairs: pd.DataFrame, verdicts: pd.DataFrame) -> pd.DataFrame:
    """``pairs`` with columns verdict, reviewer, time and note: of several verdicts on a pair, in either order, the last.

    An image that is paired with itself, a candidate with the pixels of an original image, is a duplicate without anybody's
    verdict.
    """
    columns = ["verdict", "reviewer", "time", "note"]
    ordered = verdicts.sort_values("number")
    ids = zip(ordered["image_id"].tolist(), ordered["neighbour_id"].tolist(), strict=True)
    rows = zip(*(ordered[c].tolist() for c in columns), strict=True)
    last = {frozenset(pair): row for pair, row in zip(ids, rows, strict=True)}
    given = zip(pairs["image_id"].tolist(), pairs["neighbour_id"].tolist(), strict=True)
    found = [
        ITSELF if one == other else last.get(frozenset((one, other)), ("unreviewed", "", "", ""))
        for one, other in given
    ]
    return pairs.assign(**{c: [row[i] for row in found] for i, c in enumerate(columns)})


def both(candidates: pd.DataFrame, reference: pd.DataFrame) -> dict[str, str]:
    """Candidates whose pixels are those of an original image, by image_id, and the split of that."""
    rows = reference[reference["image_id"].isin(candidates["image_id"])]
    found = set(zip(rows["image_id"].tolist(), rows["split"].tolist(), strict=True))
    return dict(sorted(found, key=lambda row: (row[0], -ORIGINS.index(row[1]))))


def unreadable(artifacts: Mapping[str, Artifact]) -> dict[str, str]:
    """Candidates that a metric could not compare, by image_id, and why."""
    found: dict[str, str] = {}
    for metric, artifact in artifacts.items():
        table = artifact.table("unreadable")
        rows = table[table["origin"] == "candidates"]
        for image, why in zip(rows["image_id"].tolist(), rows["reason"].tolist(), strict=True):
            found.setdefault(image, f"image {image} could not be compared under {metric} ({why})")
    return found


def _searches(job: Job) -> dict[str, Metric]:
    """What the search under each metric kept."""
    sections = {name.rpartition(".")[2]: section for name, section in job.stage.settings.items()}
    return {name: section for name, section in sections.items() if isinstance(section, Metric)}


def _truncated(
    job: Job, neighbours: Mapping[str, pd.DataFrame], searches: Mapping[str, Metric], settings: Duplicates
) -> set[str]:
    found: set[str] = set()
    for metric, table in neighbours.items():
        cutoff = getattr(settings.cutoffs, metric)
        short = truncated(table, searches[metric], cutoff)
        if short:
            job.log.warning(
                "%s: of %d candidates all neighbours kept are at or below the cut-off of %g, so there may be more; "
                "set neighbours.%s.within to the cut-off, or raise neighbours.%s.k",
                metric, len(short), cutoff, metric, metric,
            )  # fmt: skip
        found |= short
    return found


def _counts(column: pd.Series) -> str:
    counts = column.value_counts().sort_index()
    return ", ".join(f"{count} {name}" for name, count in counts.items()) or "none"
