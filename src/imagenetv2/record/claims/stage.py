"""The stage: every printed number of a kind of record, judged."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pandas as pd

from imagenetv2.analysis.accuracies import Predictions
from imagenetv2.job import Job
from imagenetv2.record import ranks, source
from imagenetv2.record.claims import accuracies, cifar10, lines, search, sets
from imagenetv2.record.claims.claim import VERDICTS, Claim, Missing, judge, table
from imagenetv2.record.claims.facts import Facts
from imagenetv2.record.claims.page import page
from imagenetv2.record.claims.released import uncorrected
from imagenetv2.record.settings import Record
from imagenetv2.record.stages import SETS

CLAIMS = {
    "imagenetv2": (accuracies.claims, lines.claims, sets.claims, search.claims),
    "cifar10.1": (cifar10.claims,),
}


def run(job: Job) -> None:
    """Write the table of claims, as Parquet and CSV, and their page."""
    settings = job.settings(Record)
    facts = read(job)
    before = replace(facts, sets=_released(job, facts))
    judged = table(judge(claim, facts, before) for claim in listed(settings.kind))
    job.out.table("claims", judged)
    judged.to_csv(job.out.path("claims.csv"), index=False, lineterminator="\n")
    job.out.text("published.md", page({settings.kind: judged}))
    counts = Counter(judged["verdict"])
    job.log.info("%s claims: %s", len(judged), ", ".join(f"{v} {counts[v]}" for v in VERDICTS))


def listed(kind: str) -> list[Claim]:
    """All claims of a kind of record, in the order of the page."""
    return [claim for part in CLAIMS[kind] for claim in part()]


def read(job: Job) -> Facts:
    """What claims are computed from."""
    settings, record = job.settings(Record), job.read("record/predictions")
    models = record.table("models").drop_duplicates("model").set_index("model")["family"]
    absent = ranks.missing(record, SETS[settings.kind])
    sets = {name: ranks.predictions(record, name) for name in SETS[settings.kind] if name not in absent}
    families = {str(m): str(f) for m, f in models.items()}

    def known(stage: str, name: str) -> pd.DataFrame:
        if stage not in job.stage.reads:
            raise Missing(f"A record of the kind {settings.kind} has no {stage}.")
        return job.read(stage).table(name)

    return Facts(sets, families, frozenset(settings.families), known, absent)


def _released(job: Job, facts: Facts) -> dict[str, Predictions]:
    settings, record = job.settings(Record), job.read("record/predictions")
    models = record.table("models")
    if not (models["usable"] & (models["action"] != "")).any() or settings.path is None:
        return dict(facts.sets)
    read = source.read(settings.path, settings.kind).read
    return uncorrected(facts.sets, models, record.table("images"), read)
