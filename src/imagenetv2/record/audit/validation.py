"""The validation images that workers saw, and whose selection frequencies the new sets were matched to."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import INCONSISTENT, SOUND, Finding, proved
from imagenetv2.record.audit.released import ANNOTATED, Released


def findings(record: Released) -> list[Finding]:
    """All findings about these images; none where the record does not list them."""
    lists = record.originals.loc[record.originals["name"].str.contains(ANNOTATED, regex=False)]
    return [_annotated(record, lists)] if len(lists) else []


def _annotated(record: Released, lists: pd.DataFrame) -> Finding:
    proof = [row for name, drawn in lists.groupby("name") for row in _departures(record, str(name), drawn)]
    numbers = sorted({n for _, g in lists.groupby("name") for n in Counter(g["wnid"]).values()})
    return Finding(
        slug="annotated",
        kind=INCONSISTENT if proof else SOUND,
        title="Odd entries among the validation images that workers saw"
        if proof
        else "The validation images that workers saw are twenty of each class",
        count=len(proof),
        measured=f"{plural(len(lists), 'validation image')} of {plural(lists['wnid'].nunique(), 'class', 'classes')} are listed as seen by ten workers or more, "
        f"{' to '.join(count(n) for n in dict.fromkeys((numbers[0], numbers[-1])))} of each class; {plural(len(proof), 'departure')} from {paper.SEEN} different validation images of each class.",
        how="The list of annotated validation images against the list of the whole validation set: number a class, entries that repeat, and each image’s class.",
        implies="The bins of MatchedFrequency, which weigh each class by its own images, rest on equally many in every class."
        if not proof
        else "The distribution that MatchedFrequency was matched to may be off for these classes.",
        does_not_imply="What workers answered: the answers are not in the record.",
        evidence=proved(proof),
    )  # fmt: skip


def _departures(record: Released, name: str, drawn: pd.DataFrame) -> list[tuple[str, str, str]]:
    file = f"data/datasets/{name}.json"
    per, classes = Counter(drawn["wnid"]), record.original_class()
    proof = [(file, w, f"{per[w]} images") for w in sorted(record.classes["wnid"]) if per[w] != paper.SEEN]
    again = int(record.lists.loc[record.lists["name"] == name, "images"].sum()) - len(drawn)
    if again:
        proof.append((file, name, f"{again} entries repeat an image or name no class"))
    for image, wnid in drawn[["image_id", "wnid"]].itertuples(index=False):
        if classes.get(image) != wnid:
            proof.append((file, image, f"{wnid}; {classes.get(image, 'not')} in the validation set"))
    return proof
