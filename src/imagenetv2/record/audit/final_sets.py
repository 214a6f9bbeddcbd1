"""The published sets against themselves, the exclusions, and the near-duplicates."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import INCONSISTENT, NOTED, SOUND, Finding, Summary, evidence, proved
from imagenetv2.record.audit.released import BLACKLIST_FILE, LABELS, NEW, PAIRS_FILE, Released

ORIGINS = ("train", "val", "test")


def findings(record: Released) -> list[Finding]:
    """All findings about the published sets."""
    return [_shape(record), _overlap(record), _excluded(record), _copies(record), _originals(record)]


def components(pairs: Iterable[tuple[Hashable, Hashable]]) -> dict[Hashable, Hashable]:
    """The least member of each one’s connected component, by member."""
    parent: dict[Hashable, Hashable] = {}

    def root(x: Hashable) -> Hashable:
        parent.setdefault(x, x)
        while parent[x] != x:
            parent[x] = parent[parent[x]]
            x = parent[x]
        return x

    for a, b in pairs:
        low, high = sorted((root(a), root(b)), key=str)
        parent[high] = low
    return {x: root(x) for x in sorted(parent, key=str)}


def _shape(record: Released) -> Finding:
    rows, proof = [], []
    published = [n for n in NEW if record.finals()[n]]
    for name in published:
        listed = record.revisions.loc[record.revisions["final"] & (record.revisions["set"] == name)]
        per = listed["wnid"].value_counts()
        repeated = listed.loc[listed["image_id"].duplicated(), "image_id"]
        size = record.lists.loc[record.lists["final"] & (record.lists["set"] == name), "images"].sum()
        rows.append(
            (
                LABELS[name],
                count(size),
                count(len(per)),
                f"{per.min()} to {per.max()}",
                count(size - listed["image_id"].nunique()),
            )
        )
        file = record.list_file(name)
        proof += [
            (file, w, f"{n} images")
            for w, n in sorted(Counter(listed["wnid"]).items())
            if n != paper.PER_CLASS
        ]
        proof += [(file, i, "listed again") for i in repeated]
        if len(per) != paper.CLASSES or size != listed["image_id"].nunique():
            proof.append(
                (
                    file,
                    name,
                    f"{len(per)} classes, {size} images listed, {listed['image_id'].nunique()} distinct",
                )
            )
    return Finding(
        slug="shape",
        kind=INCONSISTENT if proof else SOUND,
        title="Published sets that are not ten images a class"
        if proof
        else "Each published set has ten images for each of 1,000 classes",
        count=len(proof),
        measured=f"{plural(len(published), 'published set')}; {plural(len(proof), 'departure')} from ten different images for each of 1,000 classes.",
        how="Images and classes of the published lists.",
        implies="The sets are what the paper says."
        if not proof
        else "Accuracies on this set give classes different weights.",
        does_not_imply="Anything about the image files, which are not in the record.",
        evidence=proved(proof),
        summaries=(
            Summary(
                "Published sets", ("Set", "Images", "Classes", "Images a class", "Repeated"), tuple(rows)
            ),
        ),
    )


def _overlap(record: Released) -> Finding:
    finals = record.finals()
    union = set().union(*finals.values())
    rows = [(LABELS[a], *(count(len(finals[a] & finals[b])) for b in NEW)) for a in NEW]
    shared = sum(1 for i in union if sum(i in s for s in finals.values()) > 1)
    classes = pd.concat([record.final(n) for n in NEW]).groupby("image_id")["wnid"].nunique()
    double = sorted(classes[classes > 1].index)
    same = len(union) == paper.DISTINCT
    return Finding(
        slug="overlap",
        kind=INCONSISTENT if double or not same else NOTED,
        title="Images that several sets share",
        count=shared,
        measured=f"The three sets have {count(len(union))} different images ({'as' if same else 'not the 20,683 as'} the paper says); {count(shared)} are in two or three of them, {count(len(double))} of these under different classes.",
        how="Ids over the three published lists.",
        implies="Accuracies on the three sets are not independent measurements.",
        does_not_imply="A fault: the three rules draw from one pool, and the paper says so.",
        evidence=evidence((record.list_file(n) for n in NEW), NEW, (f"{len(finals[n])} images" for n in NEW))
        if not double
        else evidence(["data/datasets"] * len(double), double, ["under different classes"] * len(double)),
        summaries=(Summary("Images in both sets", ("", *(LABELS[n] for n in NEW)), tuple(rows)),),
    )


def _excluded(record: Released) -> Finding:
    reasons = dict(zip(record.blacklist["image_id"], record.blacklist["reason"], strict=True))
    found = [
        (record.list_file(n), i, f"{w}; reason in {BLACKLIST_FILE}: {reasons[i]}")
        for n in NEW
        for i, w in record.final(n).itertuples(index=False)
        if i in reasons
    ]
    number = len({i for _, i, _ in found})
    return Finding(
        slug="excluded-images",
        kind=INCONSISTENT if found else SOUND,
        title="Published images on the record’s own list of exclusions"
        if found
        else "No published image is on the list of exclusions",
        count=number,
        measured=f"{plural(number, 'image')} of the published sets {'is' if number == 1 else 'are'} among the {count(len(reasons))} candidates that people excluded.",
        how="Ids of the published lists against the list of exclusions as released.",
        implies="The image was excluded after the set was drawn, or escaped."
        if found
        else "Exclusions were kept.",
        does_not_imply="A measurable effect: one image of 10,000 moves an accuracy by 0.01 points. The list of exclusions has no dates, so which came first is open."
        if found
        else "That every unsuitable image was excluded.",
        evidence=proved(found),
    )


def _copies(record: Released) -> Finding:
    """Groups of near-duplicates with several members in one set."""
    pairs = record.pairs.loc[record.pairs["origin"] == "candidates"]
    edges = list(zip(pairs["image_id"], pairs["neighbour_id"], strict=True))
    direct = {frozenset(e) for e in edges}
    group = components(edges)
    proof, rows, groups = [], [], 0
    for name in NEW:
        members = defaultdict(list)
        for i, w in record.final(name).itertuples(index=False):
            if i in group:
                members[group[i]].append((i, w))
        several = {k: m for k, m in members.items() if len(m) > 1}
        judged = 0
        for m in several.values():
            ids = [i for i, _ in m]
            linked = any(frozenset((a, b)) in direct for a in ids for b in ids if a < b)
            judged += linked
            how = "judged near-duplicates of each other" if linked else "near-duplicates by way of others"
            proof += [
                (
                    record.list_file(name),
                    i,
                    f"{w}, with {', '.join(x for x in ids if x != i)}: {how} in {PAIRS_FILE}",
                )
                for i, w in m
            ]
        groups += len(several)
        rows.append(
            (LABELS[name], count(len(several)), count(sum(map(len, several.values()))), count(judged))
        )
    return Finding(
        slug="copies-in-a-set",
        kind=INCONSISTENT if groups else SOUND,
        title="Near-duplicates within a published set"
        if groups
        else "No near-duplicates within a published set",
        count=groups,
        measured=f"{plural(groups, 'group')} of near-duplicates have two or more members in one published set, {plural(len({i for _, i, _ in proof}), 'image')} in all.",
        how="Connected components of the pairs of candidates judged near-duplicates, as the released code forms them; the code keeps one candidate of each.",
        implies="By the record’s own rule at most one of each group may be in a set. Pairs were probably added after the last draw."
        if groups
        else "The rule of one candidate a group was kept.",
        does_not_imply="That the code draws near-duplicates: the list of pairs has no dates and may be younger than the sets. A handful of images of 10,000 has no measurable effect.",
        evidence=proved(proof),
        summaries=(
            Summary(
                "Groups with several members in a set",
                ("Set", "Groups", "Images", "Judged directly"),
                tuple(rows),
            ),
        ),
    )


def _originals(record: Released) -> Finding:
    pairs = record.pairs
    group = components(zip(pairs["image_id"], pairs["neighbour_id"], strict=True))
    originals = defaultdict(list)
    for i, o in (
        pairs.loc[pairs["origin"].isin(ORIGINS), ["neighbour_id", "origin"]]
        .drop_duplicates()
        .itertuples(index=False)
    ):
        originals[group[i]].append(f"{i} ({o})")
    found = [
        (
            record.list_file(n),
            i,
            f"{w}, near-duplicate of {', '.join(sorted(originals[group[i]]))} in {PAIRS_FILE}",
        )
        for n in NEW
        for i, w in record.final(n).itertuples(index=False)
        if i in group and originals.get(group[i])
    ]
    number = len({i for _, i, _ in found})
    return Finding(
        slug="copies-of-originals",
        kind=INCONSISTENT if found else SOUND,
        title="Published images that are near-duplicates of original ones"
        if found
        else "No published image is a near-duplicate of an original one",
        count=number,
        measured=f"{plural(number, 'image')} of the published sets belong to a group of near-duplicates that holds an image of the original data set; {plural(sum(map(len, originals.values())), 'original image')} occur in such groups.",
        how="Connected components of all pairs judged near-duplicates; the released code drops every candidate whose group holds an original image.",
        implies="By the record’s own rule these images would not be in a set. The pairs were probably found after the last draw."
        if found
        else "The rule was kept.",
        does_not_imply="That models could have been trained on them unless the original is a training image, which the last column tells; and no measurable effect: a few images of 10,000.",
        evidence=proved(found),
    )
