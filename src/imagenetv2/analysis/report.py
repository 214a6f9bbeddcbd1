"""The stage ``report``: a run on one page that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from imagenetv2.analysis import sources, wording
from imagenetv2.analysis.pictures import Album
from imagenetv2.analysis.plates import plates
from imagenetv2.analysis.sections import albums, bias, example, kept, models, pairs, provenance, quality
from imagenetv2.analysis.settings import Analysis, Report
from imagenetv2.analysis.truth import probabilities
from imagenetv2.duplicates.settings import Cutoffs
from imagenetv2.job import Job
from imagenetv2.randomness import generator
from imagenetv2.sampling.settings import Eligibility
from imagenetv2.sampling.stages import RULES
from imagenetv2.templates import environment

Floats = npt.NDArray[np.float64]
LABELS = {"original": "Original", **RULES}
SHORT = {
    "original": "Original",
    "matched_frequency": "Matched",
    "threshold": "Threshold",
    "top_images": "Top",
}


def run(job: Job) -> None:
    """Write the page and the figures for a paper."""
    tables = sources.read(job)
    votes = job.settings(Eligibility).minimum_votes
    images = {"original": sources.annotated(tables.frequencies, votes), **tables.images}
    results = job.read("analysis")
    accuracies, rules, fits = results.table("accuracies"), results.table("rules"), results.json("fits.json")
    drawn = plates(
        accuracies,
        rules,
        fits,
        {name: frame["frequency"].to_numpy(np.float64) for name, frame in images.items()},
        _known(tables, images["original"], votes),
        LABELS,
        generator(job.seed, "report", "points"),
    )
    context = {
        **_facts(job, tables, accuracies, rules, fits),
        **_pictures(job, tables, images),
        "figures": drawn.pages,
    }
    page = render(context)
    job.out.text("report.html", page)
    for name, content in drawn.files.items():
        if isinstance(content, bytes):
            job.out.path(name).write_bytes(content)
        else:
            job.out.text(name, content)
    job.log.info("report of %.1f MB", len(page.encode()) / 1e6)


def render(context: Mapping[str, Any]) -> str:
    """The page as HTML."""
    pages = environment("imagenetv2.analysis")
    pages.filters.update(wording.FILTERS)
    return pages.get_template("report.html.j2").render(context) + "\n"


def _known(
    tables: sources.Sources, original: pd.DataFrame, votes: int
) -> dict[str, tuple[str, Floats, Floats]] | None:
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


def _facts(
    job: Job,
    tables: sources.Sources,
    accuracies: pd.DataFrame,
    rules: pd.DataFrame,
    fits: Mapping[str, Any],
) -> dict[str, Any]:
    results = job.read("analysis")
    funnel, names = results.table("funnel"), wording.names(tables.classes)
    listed = albums.some_classes(tables.classes, quality.MOST, job.seed)["wnid"].tolist()
    artifacts = {name: job.read(name) for name in job.stage.reads}
    return {
        "title": job.settings(Report).title,
        "level": job.settings(Analysis).level,
        "bootstrap": job.settings(Analysis).bootstrap,
        "minimum_votes": job.settings(Eligibility).minimum_votes,
        "version": job.version,
        "labels": LABELS,
        "short": SHORT,
        "rules": RULES,
        "total": _totals(tables, accuracies),
        "by_rule": rules.set_index("set").to_dict("index"),
        "funnel": kept.steps(funnel, job.versions),
        "run": provenance.provenance(artifacts),
        "links": {name: provenance.link("analysis", results.version, name) for name in _TABLES},
        "models": models.models(accuracies, LABELS),
        "lines": models.lines(fits, LABELS),
        "order": fits["order"],
        "workers": quality.workers(tables.workers),
        "class_rows": quality.classes(results.table("by_class"), tables.candidates, names, listed),
        "bias": None if tables.world is None else bias.bias(rules, LABELS),
    }


_TABLES = ("accuracies.csv", "rules.csv", "fits.json", "by_class.parquet", "funnel.parquet")


def _totals(tables: sources.Sources, accuracies: pd.DataFrame) -> dict[str, int]:
    return {
        "classes": len(tables.classes),
        "returned": int(tables.queries["returned"].sum()),
        "candidates": len(tables.candidates),
        "workers": len(tables.workers),
        "votes": int(tables.frequencies["shown"].sum()),
        "models": accuracies["model"].nunique(),
        "pairs": int((tables.pairs["verdict"] == "duplicate").sum()),
    }


def _pictures(job: Job, tables: sources.Sources, images: Mapping[str, pd.DataFrame]) -> dict[str, Any]:
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
            "example": example.example(job.read("hits"), names),
            "pairs": pairs.pairs(tables.pairs, cutoffs, settings.pairs, album),
            "albums": albums.albums(shown, images, names, LABELS, settings.examples, album, job.seed),
            "sampled_classes": len(shown) < len(tables.classes),
        }
    finally:
        album.close()
