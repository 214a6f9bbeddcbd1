"""Revisions of the sets: which are there, what changed between them, and how they were drawn."""

from __future__ import annotations

import json

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import (
    DEPARTS,
    INCONSISTENT,
    MISSING,
    NOTED,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
    listed,
)
from imagenetv2.record.audit.released import LABELS, NEW, Released
from imagenetv2.record.lists import class_thresholds


def findings(record: Released) -> list[Finding]:
    """All findings about revisions."""
    return [_chain(record), _changes(record), _thresholds(record), _invalid(record), _evaluated(record)]


def steps(record: Released) -> pd.DataFrame:
    """Consecutive revisions of a set in the record: how many images stayed, went and came, and why they went."""
    excluded = set(record.blacklist["image_id"])
    near = set(record.pairs["image_id"]) | set(record.pairs["neighbour_id"])
    rows = []
    for name in NEW:
        lists = record.lists.loc[record.lists["set"] == name].sort_values("revision")
        images = {
            r: dict(zip(g["image_id"], g["wnid"], strict=True))
            for r, g in record.revisions.loc[record.revisions["set"] == name].groupby("revision")
        }
        for old, new in zip(each(lists), list(each(lists))[1:], strict=False):
            before, after = images.get(old.revision, {}), images.get(new.revision, {})
            gone, came = set(before) - set(after), set(after) - set(before)
            rest = gone - excluded
            rows.append(
                {
                    "set": name, "old": old.name, "new": new.name, "next": new.starting_from == old.name,
                    "kept": len(set(before) & set(after)), "gone": len(gone), "excluded": len(gone & excluded),
                    "near": len(rest & near), "other": len(rest - near), "came": len(came),
                    "classes": len({before[i] for i in gone} | {after[i] for i in came}), "unexplained": sorted(rest - near),
                }
            )  # fmt: skip
    columns = [
        "set",
        "old",
        "new",
        "next",
        "kept",
        "gone",
        "excluded",
        "near",
        "other",
        "came",
        "classes",
        "unexplained",
    ]
    return pd.DataFrame(rows, columns=columns)


def _chain(record: Released) -> Finding:
    new = record.lists.loc[record.lists["set"] != "original"]
    present = set(record.lists["name"])
    lost = new.loc[(new["starting_from"] != "") & ~new["starting_from"].isin(present)]
    spans = {name: g["revision"].max() + 1 for name, g in new.groupby("set")}
    total = int(sum(spans.values()))
    text = ", ".join(
        f"{LABELS[s]} {count(spans[s])} (0 to {spans[s] - 1}), of which {count(int((new['set'] == s).sum()))} are here"
        for s in NEW
        if s in spans
    )
    order = [r for r in each(new) if r.starting_from in present and _time(record, r.starting_from) >= r.time]
    return Finding(
        slug="chain",
        kind=INCONSISTENT if order else MISSING if total > len(new) else SOUND,
        title="Revisions that the record does not hold"
        if total > len(new)
        else "Every revision is in the record",
        count=total - len(new),
        measured=f"By their numbers there were {count(total)} revisions: {text}. {plural(len(lost), 'list')} here "
        f"{'was' if len(lost) == 1 else 'were'} drawn from one that is not in the record; {count(len(order))} from one that is younger than itself.",
        how="Names and numbers of the lists, the list that each says it was drawn from, and the times in both.",
        implies="What changed in the revisions between cannot be followed.",
        does_not_imply="That all numbers were used, or that revisions were withheld.",
        evidence=evidence(
            (f"data/datasets/{n}.json" for n in lost["name"]),
            lost["starting_from"],
            ("drawn from this list" for _ in range(len(lost))),
        ),
    )


def _time(record: Released, name: str) -> str:
    return str(record.lists.loc[record.lists["name"] == name, "time"].iloc[0])


def _changes(record: Released) -> Finding:
    table = steps(record)
    next_ = table.loc[table["next"].astype(bool)]
    other = int(next_["other"].sum())
    last = [f"{LABELS[r.set]} {r.gone}" for r in each(next_.groupby("set").last().reset_index())]
    return Finding(
        slug="changes",
        kind=NOTED if other else SOUND,
        title="What changed between revisions",
        count=int(next_["gone"].sum()),
        measured=f"Between {plural(len(next_), 'pair')} of consecutive revisions that the record holds, {plural(int(next_['gone'].sum()), 'image')} left: {count(int(next_['excluded'].sum()))} are on the list of "
        f"excluded candidates, {count(int(next_['near'].sum()))} more have a near-duplicate, {count(other)} have neither. In the last step before publication left: {', '.join(last)}.",
        how="Images of the lists, against the exclusions and near-duplicates as released, which are the state at the end. Pairs of revisions with others between them are in the "
        "table, but not in the counts: a draw may also drop images for other reasons there.",
        implies="Sets were changed until review had nothing left to object to; nearly all images left for the reasons that the paper gives.",
        does_not_imply="That the few without either reason were dropped without one: in MatchedFrequency a bin may get fewer places when votes come in, and an image may be drawn again or not.",
        evidence=evidence(
            [f"data/datasets/{r.old}.json" for r in each(next_) for _ in r.unexplained],
            [i for r in each(next_) for i in r.unexplained],
            [
                f"not in {r.new}; neither excluded nor a near-duplicate"
                for r in each(next_)
                for _ in r.unexplained
            ],
        ),
        summaries=(_between(table),),
    )


def _between(table: pd.DataFrame) -> Summary:
    columns = (
        "From → to",
        "Kept",
        "Gone",
        "Excluded by people",
        "Near-duplicates",
        "Neither",
        "New",
        "Classes changed",
    )
    rows = [
        (
            f"{r.old.removeprefix('imagenetv2-')} → {r.new.removeprefix('imagenetv2-')}",
            *(count(v) for v in (r.kept, r.gone, r.excluded, r.near, r.other, r.came, r.classes)),
        )
        for r in each(table)
    ]
    return Summary("Consecutive revisions in the record", columns, tuple(rows))


def _thresholds(record: Released) -> Finding:
    lists = record.lists.loc[record.lists["final"] & (record.lists["set"] == "threshold")]
    rows = [
        (r.name, w, t)
        for r in each(lists)
        for w, t in class_thresholds(json.loads(str(r.settings))).items()
        if t < paper.THRESHOLD
    ]
    names = {
        w: next(iter(n), w) for w, n in zip(record.classes["wnid"], record.classes["lemmas"], strict=True)
    }
    return Finding(
        slug="thresholds",
        kind=DEPARTS if rows else SOUND,
        title="Classes with a lower threshold" if rows else "One threshold for all classes",
        count=len(rows),
        measured=f"{plural(len(rows), 'class', 'classes')} of Threshold0.7 were drawn with a threshold below 0.7"
        + (
            f": {listed([f'{names.get(w, w)} {t:g}' for _, w, t in rows])}; at most {plural(10 * len(rows), 'image')} of 10,000 can lie below 0.7."
            if rows
            else "."
        ),
        how="Thresholds by class as the published list states them.",
        implies="These classes had too few photographs at 0.7, and the rule was eased for them rather than leaving the class short."
        if rows
        else "The rule is the one described.",
        does_not_imply="A noticeable change of the set’s accuracy: so few images can move it by 0.3 points at most, if all of them were right or wrong for it.",
        evidence=evidence(
            (f"data/datasets/{n}.json" for n, *_ in rows),
            (w for _, w, _ in rows),
            (f"threshold {t:g}" for *_, t in rows),
        ),
    )


def _invalid(record: Released) -> Finding:
    new = record.lists.loc[record.lists["set"] != "original"]
    bad = new.loc[~new["valid"].astype(bool) | (new["target"].notna() & (new["images"] != new["target"]))]
    published = int(bad["final"].sum())
    return Finding(
        slug="invalid",
        kind=INCONSISTENT if published else NOTED if len(bad) else SOUND,
        title="Lists that could not be filled" if len(bad) else "Every list is full",
        count=len(bad),
        measured=f"{plural(len(bad), 'list')} of {count(len(new))} are marked as not valid or have fewer images than wanted"
        + (
            f": {listed([f'{r.name} with {count(r.images)} images' for r in each(bad)])}; {count(published)} of them were published."
            if len(bad)
            else "."
        ),
        how="The mark and the target size in each list, against its images.",
        implies="These draws could not be filled from the pool as it was then."
        if len(bad)
        else "All revisions here are whole.",
        does_not_imply="Anything about the published sets, which are full."
        if not published
        else "That more than these classes are concerned.",
        evidence=evidence(
            (f"data/datasets/{n}.json" for n in bad["name"]),
            bad["name"],
            (f"valid: {bool(r.valid)}, {r.images} images of {r.target}" for r in each(bad)),
        ),
    )


def _evaluated(record: Released) -> Finding:
    numbers = record.earlier.groupby(["set", "revision"])["model"].nunique()
    files = {
        k: record.list_file(str(k[0]), revision=int(k[1]))
        .removeprefix("data/datasets/")
        .removesuffix(".json")
        for k in numbers.index
    }
    named = [f"{files[k]} ({plural(n, 'model')})" for k, n in numbers.items()]
    return Finding(
        slug="evaluated-early",
        kind=NOTED if len(numbers) else SOUND,
        title="Revisions that were evaluated and later changed"
        if len(numbers)
        else "No revision but the published ones was evaluated",
        count=len(numbers),
        measured=f"The record has predictions on {plural(len(numbers), 'revision')} that were not published"
        + (f": {listed(named)}." if named else "."),
        how="Folders of predictions for lists that are not the published ones. Prediction files carry no dates.",
        implies="The effect of review on accuracy can be measured, as the paper does. Later revisions were not drawn blind to every accuracy, if the predictions are older than they.",
        does_not_imply="That accuracies guided the review: no file of the record speaks of them, and predictions may have been made afterwards.",
        evidence=evidence(
            (f"data/predictions/{files[k]}" for k in numbers.index),
            (files[k] for k in numbers.index),
            (plural(n, "model") for n in numbers),
        ),
    )
