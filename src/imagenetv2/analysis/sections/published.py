"""What a paper prints beside what its record gives, in short; and where the audit of the record is."""

from __future__ import annotations

from typing import Any

from imagenetv2.analysis.sections.provenance import link
from imagenetv2.job import Job
from imagenetv2.record.claims.claim import CORRECTED, DIFFERS, SAME, UNKNOWN

TITLES = {DIFFERS: "Numbers that differ", CORRECTED: "The same after a correction"}


def published(job: Job) -> dict[str, Any]:
    """Counts of verdicts, the claims that differ or needed a correction, and links to the whole pages."""
    artifact = job.read("record/claims")
    claims = artifact.table("claims").sort_values("number")
    verdicts = {"same": SAME, "corrected": CORRECTED, "differs": DIFFERS, "unknown": UNKNOWN}
    audit = None
    if "record/audit" in job.stage.reads:
        audit = link("record/audit", job.read("record/audit").version, "audit.html")
    return {
        "all": len(claims),
        "counts": {name: int((claims["verdict"] == verdict).sum()) for name, verdict in verdicts.items()},
        "groups": [
            {"title": title, "rows": claims[claims["verdict"] == verdict].to_dict("records")}
            for verdict, title in TITLES.items()
        ],
        "page": link("record/claims", artifact.version, "published.md"),
        "audit": audit,
    }
