"""Reviews: of the sets, and of nearest neighbours."""

from __future__ import annotations

from typing import Any

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit.finding import (
    INCONSISTENT,
    LIMIT,
    MISSING,
    NOTED,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
    proved,
)
from imagenetv2.record.audit.released import LABELS, LOOKED_AT_FILE, NEW, Released


def findings(record: Released) -> list[Finding]:
    """All findings about reviews."""
    return [_final(record), _first(record), _neighbours(record)]


def _file(record: Released, name: str, revision: int) -> str:
    listed = record.list_file(name, revision=revision).removeprefix("data/datasets/").removesuffix(".json")
    return f"data/dataset_reviews/{listed}_review.json"


def _final(record: Released) -> Finding:
    last = record.lists.loc[record.lists["final"], ["set", "revision"]]
    reviews = record.reviewed.merge(last, on=["set", "revision"])
    open_ = reviews.loc[~reviews["reviewed"].astype(bool) | reviews["problematic"].astype(bool)]
    wanted = {(s, w) for s in last["set"] for w in record.final(s)["wnid"]}
    lacking = sorted(wanted - set(zip(reviews["set"], reviews["wnid"], strict=True)))
    number = len(open_) + len(lacking)
    revision = dict(zip(last["set"], last["revision"], strict=True))
    rows = [
        (
            _file(record, r.set, r.revision),
            r.wnid,
            f"reviewed: {bool(r.reviewed)}, objection: {bool(r.problematic)}",
        )
        for r in each(open_)
    ]
    rows += [(_file(record, s, revision[s]), w, "no review in the record") for s, w in lacking]
    return Finding(
        slug="final-review",
        kind=(INCONSISTENT if len(open_) else MISSING) if number else SOUND,
        title="Published classes with an open review"
        if number
        else "Every class of every published set was reviewed without objection",
        count=number,
        measured=f"{count(len(reviews) - len(open_))} of {count(len(wanted))} classes of the published sets are marked as reviewed without objection; {count(len(open_))} are open, {count(len(lacking))} have no review.",
        how="Reviews of the published revisions, by class.",
        implies="The final review was completed as the paper says."
        if not number
        else "The review was not completed for these classes, or its end is not in the record.",
        does_not_imply="That every image is right: a class is marked as a whole, and marks were carried over while its images did not change.",
        evidence=proved(rows),
    )


def _first(record: Released) -> Finding:
    last = set(
        record.lists.loc[record.lists["final"], ["set", "revision"]].itertuples(index=False, name=None)
    )
    rows, proof = [], []
    groups: Any = record.reviewed.groupby(["set", "revision"])
    for (name, revision), group in groups:
        objected = group.loc[group["problematic"].astype(bool)]
        rows.append(
            (
                f"{LABELS[name]} {revision}",
                count(len(group)),
                count(int(group["reviewed"].sum())),
                count(len(objected)),
            )
        )
        if (name, revision) not in last:
            proof += [
                (_file(record, str(name), int(revision)), w, f"objection in revision {revision}")
                for w in objected["wnid"]
            ]
    number = len(proof)
    early = sorted({f.rsplit("/", 1)[-1].removesuffix("_review.json") for f, *_ in proof})
    return Finding(
        slug="first-review",
        kind=NOTED if number else SOUND,
        title="Objections in earlier revisions" if number else "No objections in earlier revisions",
        count=number,
        measured=f"Reviews of earlier revisions object to {plural(number, 'class', 'classes')}"
        + (f" ({', '.join(early)})." if early else "."),
        how="Marks in the reviews that the record holds.",
        implies="The review changed the sets a lot at first: votes alone did not make a clean set, and people’s judgement is part of what the sets are.",
        does_not_imply="That reviewers chose images by difficulty: the marks give no reasons, and exclusions, where they give one, name what is wrong with the image.",
        evidence=proved(proof),
        summaries=(
            Summary(
                "Reviews in the record", ("Revision", "Classes", "Reviewed", "With an objection"), tuple(rows)
            ),
        ),
    )


def _neighbours(record: Released) -> Finding:
    looked = record.looked_at
    days = sorted(looked["date"].str.slice(0, 10)) or ["–"]
    finals = record.finals()
    metrics = looked.groupby("image_id")["metric"].nunique() if len(looked) else pd.Series(dtype="int64")
    rows = []
    for name in NEW:
        known = metrics[metrics.index.isin(finals[name])]
        rows.append(
            (LABELS[name], count(len(finals[name])), count(len(known)), count(int((known == 3).sum())))
        )
    final = set().union(*finals.values())
    some = len(final & set(looked["image_id"]))
    return Finding(
        slug="neighbour-reviews",
        kind=LIMIT if len(final) > some else SOUND,
        title="Most final images have no review of their neighbours"
        if len(final) > some
        else "Neighbours of every final image were reviewed",
        count=len(final) - some,
        measured=f"{count(some)} of {plural(len(final), 'final image')} have a review of nearest neighbours in the record ({plural(looked['image_id'].nunique(), 'candidate')} in all, {days[0]} to {days[-1]}).",
        how="Ids of final images among the reviews of neighbours, by metric.",
        implies="The rule was that neighbours nearer than a cut-off are looked at. Distances are not in the record, so for the others it cannot be checked that no neighbour is nearer.",
        does_not_imply="That neighbours were overlooked: an image without a neighbour below the cut-offs needs no review.",
        evidence=evidence(
            [LOOKED_AT_FILE],
            ["all ids"],
            [f"{looked['image_id'].nunique()} candidates; no entry for {len(final) - some} final images"],
        ),
        summaries=(
            Summary(
                "Final images with a review of neighbours",
                ("Set", "Images", "In some metric", "In all three"),
                tuple(rows),
            ),
        ),
    )
