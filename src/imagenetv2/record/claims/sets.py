"""What the paper says of the new sets: their sizes, the rules that drew them, revisions and reviews."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd

from imagenetv2.record.claims.claim import Claim, Missing, Value
from imagenetv2.record.claims.facts import MATCHED, NEW, THRESHOLD, Facts
from imagenetv2.record.claims.lines import DISPLAYED
from imagenetv2.record.lists import class_thresholds
from imagenetv2.record.reader import number

REVIEWED = "resnet152"


def claims() -> list[Claim]:
    """All of them, in the order of the page."""
    return [*_sizes(), *_rules(), *_review()]


def _sizes() -> list[Claim]:
    where = "dataset creation"
    sizes = [
        Claim(f"sets-{name}", where, f"Images of {DISPLAYED[name]}", "10,000", _size(name)) for name in NEW
    ]  # fmt: skip
    return [
        *sizes,
        Claim("sets/classes", where, "Classes of a new set", "1,000", lambda f: final(f, MATCHED)["wnid"].nunique()),
        Claim("sets/per-class", where, "Images a class, in every class of every new set", "10", _per_class),
        Claim("sets/distinct", "dataset creation in detail", "Distinct images in the three sets", "20,683", lambda f: _union(f, NEW), _shared),
    ]  # fmt: skip


def _rules() -> list[Claim]:
    where = "sampling rules"
    return [
        Claim("rules/threshold", where, "Selection frequency asked for by Threshold0.7", "0.7", _setting(THRESHOLD, "selection_frequency_threshold"), _lower),
        Claim("rules/bins", where, "Bins of selection frequency for MatchedFrequency", "5", lambda f: len(_edges(f)) + 1, lambda f: f"Inner edges {', '.join(map(str, _edges(f)))}."),
        Claim("rules/workers", where, "Workers that must have seen an image", "10", _setting(MATCHED, "min_num_annotations_candidates")),
        Claim("rules/validation", where, "Validation images a class that were shown to workers", "20", _annotated),
    ]  # fmt: skip


def _review() -> list[Claim]:
    where = "final reviews"
    return [
        Claim("review/revisions", where, "Rounds of review", "33", lambda f: int(_last(f, MATCHED)["revision"]), _held),
        Claim("review/objections", where, "Classes that somebody objected to in the revisions published", "0", _objections, _first_review),
        Claim("review/effect", "effect of the reviews", "What the reviews added to the accuracy of ResNet-50 on MatchedFrequency", "about 4%", None, _effect),
    ]  # fmt: skip


def _lists(facts: Facts, name: str) -> pd.DataFrame:
    lists = facts.table("record/datasets", "lists")
    found = lists[lists["set"] == name].sort_values("revision")
    if found.empty:
        raise Missing(f"The record holds no list of {name}.")
    return found


def _last(facts: Facts, name: str) -> pd.Series[Any]:
    lists = _lists(facts, name)
    published = lists[lists["final"]]
    if published.empty:
        raise Missing(f"The record holds no list of {name} as published.")
    return published.iloc[-1]


def _settings(facts: Facts, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(str(_last(facts, name)["settings"]))
    return found


def _setting(name: str, key: str) -> Callable[[Facts], Value]:
    def read(facts: Facts) -> Value:
        found = number(_settings(facts, name).get(key))
        if found is None:
            raise Missing(f"The list of {name} does not state {key}.")
        return found

    return read


def _edges(facts: Facts) -> list[Any]:
    edges = _settings(facts, MATCHED).get("histogram_bins")
    if not isinstance(edges, list):
        raise Missing(f"The list of {MATCHED} does not state histogram_bins.")
    return edges


def final(facts: Facts, name: str) -> pd.DataFrame:
    """Images of a set as published. Raises Missing."""
    revisions = facts.table("record/datasets", "revisions")
    found = revisions[(revisions["set"] == name) & revisions["final"]]
    if found.empty:
        raise Missing(f"The record holds no list of {name} as published.")
    return found


def _size(name: str) -> Callable[[Facts], Value]:
    return lambda f: len(final(f, name))


def _per_class(facts: Facts) -> Value:
    counts = {int(n) for name in NEW for n in final(facts, name).groupby("wnid").size()}
    return counts.pop() if len(counts) == 1 else f"{min(counts)} to {max(counts)}"


def _union(facts: Facts, names: tuple[str, ...]) -> int:
    return len(set().union(*(set(final(facts, name)["image_id"]) for name in names)))


def _shared(facts: Facts) -> str:
    ids = {name: set(final(facts, name)["image_id"]) for name in NEW}
    pairs = [(a, b) for i, a in enumerate(NEW) for b in NEW[i + 1 :]]
    listed = [f"{DISPLAYED[a]} and {DISPLAYED[b]} share {len(ids[a] & ids[b]):,}" for a, b in pairs]
    return f"{'; '.join(listed)}; {len(set.intersection(*ids.values())):,} are in all three."


def _lower(facts: Facts) -> str:
    lower = class_thresholds(_settings(facts, THRESHOLD))
    if not lower:
        return ""
    listed = ", ".join(f"{wnid} {value:g}" for wnid, value in lower.items())
    return f"The list states lower ones for {len(lower)} classes: {listed}."


def _annotated(facts: Facts) -> int:
    lists = facts.table("record/datasets", "lists")
    found = lists[lists["name"].str.contains("annotatedval")]
    if found.empty:
        raise Missing("The record does not list the validation images that workers saw.")
    classes = len(facts.table("record/classes", "classes"))
    return int(found["images"].iloc[0]) // max(classes, 1)


def _held(facts: Facts) -> str:
    held = {name: [int(r) for r in _lists(facts, name)["revision"]] for name in NEW}
    listed = "; ".join(f"{DISPLAYED[name]} {', '.join(map(str, found))}" for name, found in held.items())
    return f"The number of MatchedFrequency's published revision, counted from 0. Revisions in this record: {listed}."


def _objections(facts: Facts) -> int:
    reviewed = _reviews(facts)
    published = pd.concat(
        [
            reviewed[(reviewed["set"] == n) & (reviewed["revision"] == _last(facts, n)["revision"])]
            for n in NEW
        ]
    )
    if published.empty or not published["reviewed"].all():
        raise Missing("Not all classes of the revisions published are marked as reviewed.")
    return int(published["problematic"].sum())


def _first_review(facts: Facts) -> str:
    reviewed = _reviews(facts)
    first = reviewed[(reviewed["set"] == MATCHED) & (reviewed["revision"] == 0)]
    if first.empty:
        return ""
    return f"In revision 0 of MatchedFrequency, {int(first['problematic'].sum())} of {len(first):,} classes had objections."


def _reviews(facts: Facts) -> pd.DataFrame:
    return facts.table("record/reviews", "classes")


def _earlier(facts: Facts) -> pd.DataFrame:
    earlier = facts.table("record/predictions", "earlier")
    found = earlier[earlier["set"] == MATCHED].copy()
    if found[found["model"] == REVIEWED].empty:
        raise Missing(f"There are no predictions of {REVIEWED} on an earlier revision of MatchedFrequency.")
    found["top1"] = 100 * found["right"] / found["images"]
    return found.sort_values("revision")


def _effect(facts: Facts) -> str:
    earlier = _earlier(facts)
    own = earlier[earlier["model"] == REVIEWED]
    first = earlier[earlier["revision"] == own["revision"].iloc[0]]
    steps = [f"revision {r} {t:.2f}%" for r, t in zip(own["revision"], own["top1"], strict=True)]
    gains = [
        facts.one(m, MATCHED) - t
        for m, t in zip(first["model"], first["top1"], strict=True)
        if m in facts.models
    ]
    best = (own["top1"] - own["top1"].iloc[0]).iloc[-1]
    return (
        "No predictions of ResNet-50 on a revision before 23 were released. "
        f"{REVIEWED}: {', '.join(steps)}, as published {facts.one(REVIEWED, MATCHED):.2f}%: +{best:.1f} up to revision "
        f"{own['revision'].iloc[-1]}, the rest after it. The first of these has {int(own['images'].iloc[0]):,} images. Over the "
        f"{len(gains)} models with predictions on it the gain is {min(gains):.1f} to {max(gains):.1f}, on average "
        f"{sum(gains) / len(gains):.1f}."
    )  # fmt: skip
