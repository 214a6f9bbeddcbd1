"""Stage ``datasets/<rule>``: the set that the verdicts lead to, and whether it is frozen."""

from __future__ import annotations

from typing import Any

import pandas as pd

from imagenetv2.errors import InputError
from imagenetv2.job import Job
from imagenetv2.sampling.eligibility import REASONS
from imagenetv2.sampling.frozen import digest
from imagenetv2.sampling.plan import Plan, plan_of
from imagenetv2.sampling.revisions import Revision, replay, reviewed, waiting
from imagenetv2.sampling.stages import RULES
from imagenetv2.sampling.verdicts import Verdict, from_table, objections

REMEDY_MISSING = "widen the search, have more images annotated, or lower sampling.eligibility.per_class"
REMEDY_WAITING = "have the remaining classes reviewed (imagenetv2 review), or raise review.simulated.rounds"


def run(job: Job) -> None:
    """Replay the verdicts and write the last revision, the way there, and what stands against it."""
    plan = plan_of(job)
    verdicts = from_table(job.read(f"reviews/{plan.rule}").table("verdicts"))
    try:
        chain = replay(plan, verdicts)
    except ValueError as error:
        raise InputError(f"reviews/{plan.rule}: {error}; delete what is wrong from the store.") from error
    indices = dict(job.read("classes").table("classes")[["wnid", "class_index"]].to_numpy().tolist())
    freeze = freeze_of(plan, chain[-1], verdicts)
    job.out.table("images", images_table(plan, chain[-1], indices))
    job.out.table("revisions", revisions_table(chain, verdicts))
    job.out.table("classes", classes_table(plan, chain[-1], verdicts))
    job.out.json("freeze.json", freeze)
    state = "frozen" if freeze["frozen"] else f"not frozen: {'; '.join(freeze['blocked'][:3])}"
    job.log.info("%s: revision %d, %d images, %s", plan.rule, chain[-1].number, freeze["images"], state)


def images_table(plan: Plan, revision: Revision, indices: dict[str, int]) -> pd.DataFrame:
    """``images.parquet`` of a revision."""
    rows = []
    for wnid, filled in revision.classes.items():
        candidates = {c.image_id: c for c in plan.pools[wnid].candidates}
        for image in filled.images:
            votes = candidates[image.image_id]
            rows.append(
                (
                    image.image_id, wnid, indices[wnid], votes.shown, votes.selected,
                    votes.selected / votes.shown, image.bin, image.own_bin, image.entered, image.how,
                )
            )  # fmt: skip
    columns = (
        "image_id", "wnid", "class_index", "shown", "selected", "frequency", "bin", "own_bin", "entered", "how",
    )  # fmt: skip
    return pd.DataFrame(rows, columns=list(columns))


def revisions_table(chain: list[Revision], verdicts: list[Verdict]) -> pd.DataFrame:
    """``revisions.parquet``."""
    rows = []
    for revision in chain:
        refused = objections(verdicts, revision.number)
        rows += [
            (revision.number, wnid, image, image in refused)
            for wnid, filled in revision.classes.items()
            for image in filled.ids
        ]
    return pd.DataFrame(rows, columns=["revision", "wnid", "image_id", "blacklisted"])


def classes_table(plan: Plan, revision: Revision, verdicts: list[Verdict]) -> pd.DataFrame:
    """``classes.parquet`` of the last revision."""
    done = reviewed(revision, verdicts)
    rows = [
        {
            "wnid": wnid,
            "wanted": plan.eligibility.per_class,
            "found": len(filled.images),
            "reviewed": wnid in done,
            "eligible": filled.eligible,
            **{why: filled.dropped.get(why, 0) for why in REASONS},
            "taken_upward": sum(c.how == "taken_upward" for c in filled.images),
            "missing": filled.missing,
        }
        for wnid, filled in revision.classes.items()
    ]
    return pd.DataFrame(rows)


def freeze_of(plan: Plan, last: Revision, verdicts: list[Verdict]) -> dict[str, Any]:
    """``freeze.json``: a set is frozen when every class is full and was reviewed without objection."""
    short = [f"{w} lacks {filled.missing}" for w, filled in last.classes.items() if filled.missing]
    open_classes = waiting(last, verdicts)
    blocked = [f"{w} has not been reviewed without objection" for w in open_classes] + short
    pairs = [(w, c.image_id) for w, filled in last.classes.items() for c in filled.images]
    remedies = [
        *([REMEDY_WAITING] if open_classes else []),
        *([REMEDY_MISSING] if short else []),
    ]
    return {
        "rule": RULES[plan.rule],
        "frozen": not blocked,
        "revision": last.number,
        "classes": len(last.classes),
        "images": len(pairs),
        "taken_upward": sum(c.how == "taken_upward" for f in last.classes.values() for c in f.images),
        "digest": digest(pairs),
        "blocked": blocked,
        "remedy": "; ".join(remedies) + "." if remedies else "",
    }
