"""Near-duplicates as people judged them, against the published sets."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from imagenetv2.analysis.wording import count, plural
from imagenetv2.duplicates.components import components
from imagenetv2.record.audit.finding import INCONSISTENT, NOTED, SOUND, Finding, Summary, proved
from imagenetv2.record.audit.released import EXEMPTED_FILE, LABELS, NEW, PAIRS_FILE, Released

ORIGINS = ("train", "val", "test")
Members = dict[str, list[tuple[str, str]]]


def findings(record: Released) -> list[Finding]:
    """All findings about near-duplicates."""
    return [_copies(record), _originals(record), _exempted(record)]


def group_of(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The least member of each one’s connected component, by member."""
    return {x: group[0] for group in components((), list(pairs)) for x in group}


def _copies(record: Released) -> Finding:
    """Groups of near-duplicates with several members in one set."""
    pairs = record.pairs.loc[record.pairs["origin"] == "candidates"]
    edges = list(zip(pairs["image_id"], pairs["neighbour_id"], strict=True))
    direct = {frozenset(e) for e in edges}
    group = group_of(edges)
    proof, rows, groups = [], [], 0
    for name in NEW:
        several = _several(record, name, group)
        judged = [_judged([i for i, _ in m], direct) for m in several]
        for members, linked in zip(several, judged, strict=True):
            proof += _proof(record.list_file(name), members, linked)
        groups += len(several)
        rows.append((LABELS[name], *(count(n) for n in (len(several), sum(map(len, several)), sum(judged)))))
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


def _several(record: Released, name: str, group: dict[str, str]) -> list[list[tuple[str, str]]]:
    """Images and classes of the groups that have two members or more in a published set."""
    members: Members = defaultdict(list)
    for i, w in record.final(name).itertuples(index=False):
        if i in group:
            members[group[i]].append((i, w))
    return [m for m in members.values() if len(m) > 1]


def _judged(ids: list[str], direct: set[frozenset[str]]) -> bool:
    return any(frozenset((a, b)) in direct for a in ids for b in ids if a < b)


def _proof(file: str, members: list[tuple[str, str]], linked: bool) -> list[tuple[str, str, str]]:
    how = "judged near-duplicates of each other" if linked else "near-duplicates by way of others"
    ids = [i for i, _ in members]
    return [
        (file, i, f"{w}, with {', '.join(x for x in ids if x != i)}: {how} in {PAIRS_FILE}")
        for i, w in members
    ]


def _originals(record: Released) -> Finding:
    pairs = record.pairs
    group = group_of(zip(pairs["image_id"], pairs["neighbour_id"], strict=True))
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


def _exempted(record: Released) -> Finding:
    """Images that the resolution of near-duplicates passes over, and where they and their group are."""
    group = group_of(zip(record.pairs["image_id"], record.pairs["neighbour_id"], strict=True))
    exempted = sorted(record.exempted["image_id"])
    found = []
    for name in NEW:
        published = set(record.final(name)["image_id"])
        found += [
            (
                EXEMPTED_FILE,
                i,
                f"published in {record.list_file(name)} though it has a near-duplicate in {PAIRS_FILE}",
            )
            for i in exempted
            if i in published and i in group
        ]
    number = len({i for _, i, _ in found})
    return Finding(
        slug="exempted",
        kind=NOTED if number else SOUND,
        title="Published images exempt from the rule on near-duplicates"
        if number
        else "No published image owes its place to an exemption from the rule on near-duplicates",
        count=number,
        measured=f"{plural(len(exempted), 'image')} {'is' if len(exempted) == 1 else 'are'} listed as exempt from the resolution of near-duplicates, "
        f"{count(sum(i in group for i in exempted))} of them with a near-duplicate in the record; {count(number)} of these are in a published set.",
        how="The record’s list of exemptions against the pairs judged near-duplicates and the published lists.",
        implies="These images were kept by hand."
        if number
        else "The near-duplicates that are in the published sets are not there by exemption.",
        does_not_imply="Why an image was exempted: the list gives no reasons.",
        evidence=proved(found),
    )
