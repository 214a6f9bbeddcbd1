"""What a paper prints beside what its record gives, in short; and where the audit of the record is."""

from __future__ import annotations

from typing import Any

from imagenetv2.analysis.sections.provenance import link
from imagenetv2.job import Job
from imagenetv2.record.claims.claim import CORRECTED, DIFFERS, VERDICTS


def published(job: Job) -> dict[str, Any]:
    """Counts of verdicts, the claims that differ or needed a correction, and links to the whole pages."""
    artifact = job.read("record/claims")
    claims = artifact.table("claims").sort_values("number")
    counts = claims["verdict"].value_counts()
    remarkable = claims[claims["verdict"].isin([CORRECTED, DIFFERS])]
    audit = None
    if "record/audit" in job.stage.reads:
        audit = link("record/audit", job.read("record/audit").version, "audit.html")
    return {
        "all": len(claims),
        "verdicts": {verdict: int(counts.get(verdict, 0)) for verdict in VERDICTS},
        "rows": remarkable.to_dict("records"),
        "page": link("record/claims", artifact.version, "published.md"),
        "audit": audit,
    }
