"""The stage ``report``: a study on one page that needs nothing else, and its figures and tables for a paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from imagenetv2.analysis import exports, findings, scripts, wording
from imagenetv2.analysis.figures import examples
from imagenetv2.analysis.figures.files import files
from imagenetv2.analysis.figures.renderer import LIBRARY
from imagenetv2.analysis.figures.style import PALETTE
from imagenetv2.analysis.findings import Findings
from imagenetv2.analysis.plates import plates
from imagenetv2.analysis.sections import (
    accuracy,
    inference,
    metrics,
    provenance,
    published,
    quality,
    released,
)
from imagenetv2.analysis.sections.conducted import conducted
from imagenetv2.analysis.settings import Analysis, Report
from imagenetv2.job import Job
from imagenetv2.randomness import generator
from imagenetv2.templates import environment

SECTIONS = {
    "accuracy": "Accuracy",
    "models": "Models",
    "metrics": "Metrics",
    "frequencies": "Frequencies",
    "truth": "Truth",
    "chance": "Chance",
    "influence": "Influence",
    "robustness": "Robustness",
    "difficulty": "Difficulty",
    "published": "Printed numbers",
    "record": "The record",
    "funnel": "Funnel",
    "task": "A task",
    "pairs": "Duplicates",
    "albums": "The sets",
    "quality": "Classes",
    "run": "What was run",
}
"""Sections in their order, each with its template and its entry in the navigation; one without content is left out."""


def run(job: Job) -> None:
    """Write the page, the figures and the tables."""
    found = findings.read(job)
    if "reference" in job.stage.reads:
        study, votes = conducted(job, found)
    else:
        study, votes = _released(job, found), None
    drawn = plates(found, votes, generator(job.seed, "report", "points"))
    drawings = {"examples": examples.examples(study["albums"])} if "albums" in study else {}
    made = files(drawn.values(), drawings, job.cores)
    library = made.pop(LIBRARY).decode()
    page = render({**_facts(job, found), **study, "figures": drawn}, library)
    job.out.text("report.html", page)
    for name, text in exports.exports(found).items():
        job.out.text(name, text)
    for name, content in made.items():
        job.out.path(name).write_bytes(content)
    job.log.info("report of %.1f MB", len(page.encode()) / 1e6)


def render(context: Mapping[str, Any], library: str) -> str:
    """The page as HTML; ``library`` is the script that draws its charts."""
    pages = environment("imagenetv2.analysis")
    pages.filters.update(wording.FILTERS)
    pages.filters["specification"] = scripts.specification
    sections = {name: title for name, title in SECTIONS.items() if context.get(name)}
    values = {"total": None, **dict.fromkeys(SECTIONS), **context, "sections": sections, "palette": PALETTE}
    return pages.get_template("report.html.j2").render(values, library=scripts.inert(library)) + "\n"


def _facts(job: Job, found: Findings) -> dict[str, Any]:
    results = job.read("analysis")
    artifacts = {name: job.read(name) for name in job.stage.reads}
    return {
        "title": job.settings(Report).title,
        "level": found.level,
        "bootstrap": job.settings(Analysis).bootstrap,
        "version": job.version,
        "labels": found.labels,
        "new": found.new,
        "shown": found.sets,
        "groups_drawn": found.groups_drawn,
        "count_models": found.accuracies["model"].nunique(),
        "accuracy": {"sets": accuracy.sets(found), "lines": accuracy.lines(found)},
        "models": {"rows": accuracy.models(found)},
        "metrics": metrics.metrics(job, found) if found.metrics is not None else None,
        "chance": {"sets": inference.chance(found), "pairs": inference.pairs(found)},
        "influence": inference.influence(found),
        "robustness": inference.robustness(found) if found.main_line else None,
        "difficulty": {"rows": inference.difficulty(found), "simulation": inference.simulation(found)},
        "run": provenance.provenance(artifacts),
        "tables": {
            name.removesuffix(".parquet"): provenance.link("analysis", results.version, name)
            for name in results.manifest["files"]
        },
    }


def _released(job: Job, found: Findings) -> dict[str, Any]:
    parts = {
        part: artifact
        for part, artifact in job.reads("record").items()
        if "faults.parquet" in artifact.manifest["files"]
    }
    classes = job.read("record/classes").table("classes")
    names = wording.names(classes)
    return {
        "published": published.published(job),
        "record": released.record(parts, found.labels),
        "quality": {
            "rows": quality.classes(found.by_class, names, quality.extremes(found.by_class)),
            "workers": None,
            "all": found.by_class["wnid"].nunique(),
            "sample": "The classes that lose most and those that gain most on the new sets",
        },
    }
