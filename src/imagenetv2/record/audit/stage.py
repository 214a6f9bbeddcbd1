"""Stage ``record/audit``: all findings, as tables and as a page."""

from __future__ import annotations

import pandas as pd

from imagenetv2.job import Job
from imagenetv2.record.audit import (
    arrangements,
    blinding,
    final_sets,
    missing,
    near_duplicates,
    photographs,
    predictions,
    queries,
    reviews,
    revisions,
    searches,
    tasks,
    validation,
)
from imagenetv2.record.audit.finding import KINDS, Finding
from imagenetv2.record.audit.page import render
from imagenetv2.record.audit.pictures import pictures
from imagenetv2.record.audit.released import Released, read

TOPICS = {
    "searches": ("Search results", (searches, queries)),
    "photographs": ("Photographs and ids", (photographs,)),
    "tasks": ("Tasks", (tasks, arrangements)),
    "tokens": ("Blinding", (blinding,)),
    "revisions": ("Revisions", (revisions,)),
    "reviews": ("Reviews", (reviews,)),
    "sets": ("Published sets", (final_sets, near_duplicates, validation)),
    "predictions": ("Files of predictions and faults", (predictions,)),
    "missing": ("What is missing", (missing,)),
}
"""Title and modules of each topic, in the order of the page."""
TEXTS = ("kind", "title", "measured", "how", "implies", "does_not_imply")


def run(job: Job) -> None:
    """Write the findings, their evidence and the page."""
    parts = job.reads("record")
    record = read(lambda part, name: parts[part].table(name), list(parts))
    found = audit(record)
    numbers = {kind: sum(f.kind == kind for topic in found.values() for f in topic) for kind in KINDS}
    job.log.info("record/audit: %s", ", ".join(f"{n} {kind}" for kind, n in numbers.items() if n))
    table, proof = tables(found)
    job.out.table("findings", table)
    job.out.table("evidence", proof)
    table.to_csv(job.out.path("findings.csv"), index=False, lineterminator="\n")
    titles = {slug: title for slug, (title, _) in TOPICS.items()}
    job.out.text("audit.html", render(found, titles, pictures(record), record, job.version))


def audit(record: Released) -> dict[str, list[Finding]]:
    """Findings by topic, in the order of the page."""
    return {
        topic: [f for module in modules for f in module.findings(record)]
        for topic, (_, modules) in TOPICS.items()
    }


def tables(found: dict[str, list[Finding]]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The declared tables: findings, and all their evidence."""
    rows: list[dict[str, object]] = []
    proof = []
    for topic, f in ((topic, f) for topic, findings in found.items() for f in findings):
        numbers: dict[str, object] = {
            "number": len(rows),
            "finding": f.slug,
            "topic": topic,
            "count": f.count,
            "evidence": len(f.evidence),
        }
        rows.append(numbers | {name: getattr(f, name) for name in TEXTS})
        proof.append(f.evidence.assign(finding=f.slug, row=range(len(f.evidence))))
    columns = ["number", "finding", "topic", "kind", "title", "count", "evidence", *TEXTS[2:]]
    evidence = pd.concat(proof, ignore_index=True)[["finding", "row", "file", "id", "detail"]]
    return pd.DataFrame(rows)[columns], evidence
