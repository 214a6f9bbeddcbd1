"""What people still have to look at, under the present plan."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from imagenetv2.artifacts import Artifact
from imagenetv2.duplicates.flags import flat, pair_flags, reach
from imagenetv2.duplicates.queue import asked, queue
from imagenetv2.errors import InputError
from imagenetv2.plan import Plan as Run
from imagenetv2.review.people import verdict_of
from imagenetv2.review.store import ClassVerdict, PairVerdict, read
from imagenetv2.sampling.plan import TABLES, plan_from
from imagenetv2.sampling.revisions import FilledClass, Revision, replay, waiting
from imagenetv2.sampling.stages import RULES
from imagenetv2.sampling.verdicts import Verdict

PAIRS = "pairs"
KINDS = (PAIRS, *RULES)
"""Near-duplicate pairs, or the set of a rule."""


@dataclass(frozen=True)
class ClassQueue:
    """The revision of a rule's set that is to be looked at, and the classes that were not accepted yet."""

    revision: Revision
    waiting: Sequence[str]
    verdicts: Sequence[Verdict]

    @property
    def classes(self) -> dict[str, FilledClass]:
        """The classes of the revision that hold images, by WordNet ID."""
        return {wnid: filled for wnid, filled in self.revision.classes.items() if filled.images}


def artifact(run: Run, stage: str) -> Artifact:
    """The artifact of a stage under the plan; InputError where it is not made yet."""
    return Artifact(run.folder(stage))


def require_kind(kind: str) -> None:
    """Raise InputError where there is nothing of that name to look at."""
    if kind not in KINDS:
        raise InputError(f"{kind} is none of {', '.join(KINDS)}; name one of these.")


def require_people(run: Run) -> None:
    """Raise InputError where the configuration has the simulated reviewer review."""
    if run.config.review.reviewer != "people":
        raise InputError(
            "review.reviewer is simulated, so nothing waits for people; set it to people in the configuration."
        )


def pairs(run: Run) -> pd.DataFrame:
    """All pairs that people are asked about, judged or not (see ``duplicates.queue``)."""
    return asked(queue(_neighbours(run), run.config.duplicates.cutoffs))


def pairs_waiting(run: Run) -> pd.DataFrame:
    """The pairs that nobody has judged, with their flags (see ``duplicates.flags``)."""
    near, settings = _neighbours(run), run.config.duplicates
    found = asked(queue(near, settings.cutoffs))
    judged = {v.pair for v in read(run.config.review.store / "pairs.jsonl", PairVerdict)}
    ids = zip(found["image_id"].tolist(), found["neighbour_id"].tolist(), strict=True)
    found = found[[frozenset(pair) not in judged for pair in ids]].reset_index(drop=True)
    images = set(found["image_id"]) | set(found["neighbour_id"])
    tables = (artifact(run, stage).table(stage) for stage in ("candidates", "reference"))
    weak = flat((t[t["image_id"].isin(images)] for t in tables), settings.flags.flat)
    reached = reach(near, {metric: getattr(run.config.neighbours, metric) for metric in near}, images)
    found["flags"] = pair_flags(found, weak, settings.cutoffs, settings.flags.disagree, reached)
    return found


def _neighbours(run: Run) -> dict[str, pd.DataFrame]:
    stages = {name.partition("/")[2]: name for name in run.family("neighbours")}
    return {metric: artifact(run, stage).table("neighbours") for metric, stage in stages.items()}


def classes(run: Run, rule: str) -> ClassQueue:
    """Where the review of a rule's set stands, from the verdicts in the store.

    Raises InputError for a kind that is no rule, and where a verdict is on a revision that can't be reached.
    """
    require_kind(rule)
    tables = {stage: artifact(run, stage).table(table) for stage, table in TABLES.items()}
    sampling = run.config.sampling
    plan = plan_from(rule, tables, sampling.eligibility, getattr(sampling, rule), run.config.seed)
    path = run.config.review.store / f"{rule}.jsonl"
    verdicts = [verdict_of(v) for v in read(path, ClassVerdict)]
    try:
        last = replay(plan, verdicts)[-1]
    except ValueError as error:
        raise InputError(f"{path}: {error}; remove that line.") from error
    return ClassQueue(last, waiting(last, verdicts), verdicts)
