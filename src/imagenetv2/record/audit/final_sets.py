"""The published sets against themselves and the exclusions."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import INCONSISTENT, NOTED, SOUND, Finding, Summary, evidence, proved
from imagenetv2.record.audit.released import BLACKLIST_FILE, LABELS, NEW, Released


def findings(record: Released) -> list[Finding]:
    """All findings about the published sets."""
    return [_shape(record), _overlap(record), _excluded(record)]


def _shape(record: Released) -> Finding:
    published = [n for n in NEW if record.finals()[n]]
    sizes = {name: _sizes(record, name) for name in published}
    proof = [row for name in published for row in _departures(record, name)]
    rows = [
        (LABELS[name], *(count(n) for n in s[:2]), f"{s[2]} to {s[3]}", count(s[4]))
        for name, s in sizes.items()
    ]
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


def _sizes(record: Released, name: str) -> tuple[int, int, int, int, int]:
    """Images and classes of a published set, fewest and most images a class, and entries beyond an image’s first."""
    drawn = record.final(name)
    per = drawn["wnid"].value_counts()
    size = int(record.lists.loc[record.lists["final"] & (record.lists["set"] == name), "images"].sum())
    return size, len(per), int(per.min()), int(per.max()), size - drawn["image_id"].nunique()


def _departures(record: Released, name: str) -> list[tuple[str, str, str]]:
    drawn, file = record.final(name), record.list_file(name)
    size, classes, _, _, again = _sizes(record, name)
    odd = [(w, n) for w, n in sorted(Counter(drawn["wnid"]).items()) if n != paper.PER_CLASS]
    proof = [(file, w, f"{n} images") for w, n in odd]
    proof += [(file, i, "listed again") for i in drawn.loc[drawn["image_id"].duplicated(), "image_id"]]
    if classes != paper.CLASSES or again:
        proof.append((file, name, f"{classes} classes, {size} images listed, {size - again} distinct"))
    return proof


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
