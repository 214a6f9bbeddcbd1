"""What people said, from their append-only store."""

from __future__ import annotations

import pandas as pd

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.review.store import ClassVerdict, PairVerdict, read
from imagenetv2.sampling.revisions import last_revision
from imagenetv2.sampling.verdicts import Verdict, to_table

PAIR_COLUMNS = ("number", "image_id", "neighbour_id", "verdict", "reviewer", "time", "note")


def run_pairs(job: Job) -> None:
    """The recorded verdicts on pairs."""
    found = read(job.stage.outside.get("review.store"), PairVerdict)
    rows = [{"number": number, **v.model_dump()} for number, v in enumerate(found)]
    job.out.table("verdicts", pd.DataFrame(rows, columns=list(PAIR_COLUMNS)))
    job.log.info("%d verdicts on pairs", len(found))


def run_rule(job: Job) -> None:
    """The recorded verdicts on the classes of one rule's set."""
    path = job.stage.outside.get("review.store")
    verdicts = [verdict_of(v) for v in read(path, ClassVerdict)]
    try:
        last_revision(verdicts)
    except ValueError as error:
        raise InputError(f"{path}: {error}; remove that line.") from error
    job.out.table("verdicts", to_table(verdicts))
    job.log.info("%d verdicts on classes", len(verdicts))


def verdict_of(line: ClassVerdict) -> Verdict:
    """A line of the store as the chain of revisions uses it."""
    return Verdict(
        line.round,
        line.wnid,
        tuple(sorted(line.images)),
        tuple(line.blacklisted),
        tuple(line.reasons),
        line.reviewer,
    )
