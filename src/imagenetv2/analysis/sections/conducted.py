"""What only a study that was run can show: votes, what was kept and dropped, a task, near-duplicates, pictures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import sources, wording
from imagenetv2.analysis.findings import Findings
from imagenetv2.analysis.pictures import Album
from imagenetv2.analysis.plates import Known, Votes
from imagenetv2.analysis.sections import albums, example, flagged, kept, pairs, quality, searches
from imagenetv2.analysis.sections.resolved import resolved
from imagenetv2.analysis.sections.truth import truth
from imagenetv2.analysis.settings import Report
from imagenetv2.analysis.truth import probabilities
from imagenetv2.duplicates.settings import Cutoffs
from imagenetv2.job import Job
from imagenetv2.sampling.settings import Eligibility

Floats = npt.NDArray[np.float64]


def conducted(job: Job, found: Findings) -> tuple[dict[str, Any], Votes]:
    """Values for the templates, and votes for the figures."""
    tables = sources.read(job)
    minimum = job.settings(Eligibility).minimum_votes
    images = {"original": sources.annotated(tables.frequencies, minimum), **tables.images}
    observed = {name: frame["frequency"].to_numpy(np.float64) for name, frame in images.items()}
    cutoffs = job.settings(Cutoffs).model_dump()
    near = searches.nearest(job.reads("neighbours"), tables.pairs, cutoffs)
    votes = Votes(observed, _known(tables, images["original"], minimum), near)
    names = wording.names(tables.classes)
    listed = albums.some_classes(tables.classes, quality.MOST, job.seed)["wnid"].tolist()
    context = {
        "total": _totals(tables),
        "frequencies": {"annotated": len(images["original"])},
        "truth": truth(found) if votes.known is not None else None,
        "funnel": kept.steps(job.read("analysis").table("funnel"), job.versions),
        "quality": {
            "rows": quality.classes(found.by_class, names, listed, tables.candidates),
            "workers": quality.workers(tables.workers),
            "all": len(tables.classes),
            "sample": "A random sample of the classes",
        },
        **_pictures(job, tables, images, found),
    }
    return context, votes


def _known(tables: sources.Sources, original: pd.DataFrame, votes: int) -> Known | None:
    asked = tables.frequencies
    pool = asked[(asked["origin"] == "candidates") & (asked["shown"] >= votes)].reset_index(drop=True)
    groups = {
        "original": ("validation images", original, "reference"),
        "candidates": ("candidates", pool, "candidates"),
    }
    found = {}
    for name, (label, frame, origin) in groups.items():
        true = probabilities(frame, origin, tables)
        if true is None:
            return None
        found[name] = (label, frame["frequency"].to_numpy(np.float64), true)
    return found


def _totals(tables: sources.Sources) -> dict[str, int]:
    return {
        "classes": len(tables.classes),
        "returned": int(tables.queries["returned"].sum()),
        "candidates": tables.candidates["image_id"].nunique(),
        "workers": len(tables.workers),
        "votes": int(tables.frequencies["shown"].sum()),
        "pairs": int((tables.pairs["verdict"] == "duplicate").sum()),
    }


def _pictures(
    job: Job, tables: sources.Sources, images: Mapping[str, pd.DataFrame], found: Findings
) -> dict[str, Any]:
    settings, cutoffs = job.settings(Report), job.settings(Cutoffs).model_dump()
    names = wording.names(tables.classes)
    shown = albums.some_classes(tables.classes, settings.classes, job.seed)
    album = Album(
        job.read("reference"),
        job.read("candidates"),
        {"reference": tables.reference, "candidates": tables.candidates},
    )
    try:
        return {
            "task": {"example": example.example(job.read("hits"), names)},
            "pairs": {
                **pairs.pairs(tables.pairs, cutoffs, settings.pairs, album),
                "searches": searches.searches(job.reads("neighbours"), tables.pairs, cutoffs),
                "resolved": resolved(tables.fates),
                "flagged": flagged.flagged(tables.fates, tables.pairs, album),
            },
            "albums": albums.albums(shown, images, names, found.sets, settings.examples, album, job.seed),
            "sampled_classes": len(shown) < len(tables.classes),
        }
    finally:
        album.close()
