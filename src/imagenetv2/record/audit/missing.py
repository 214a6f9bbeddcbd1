"""What the record refers to and does not hold."""

from __future__ import annotations

import re

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit.finding import MISSING, SOUND, Finding, Summary, each, evidence, proved
from imagenetv2.record.audit.released import NEW, Released

PICTURES = re.compile(r"\.(jpe?g|png|tar|tgz|tar\.gz)$", re.IGNORECASE)
ANSWERS = re.compile(r"assignment|mturk_results|answers", re.IGNORECASE)
DISTANCES = re.compile(r"nearest_neighbor_results|review_thresholds")
COUNTED = (
    "Final images with a search result",
    "Final images in a task",
    "Candidates in tasks with a search result",
)


def findings(record: Released) -> list[Finding]:
    """All findings about what is missing."""
    return [_answers(record), _pool(record), _files(record)]


def _held(record: Released, pattern: re.Pattern[str]) -> int:
    return sum(bool(pattern.search(name)) for name in record.files["file"])


def _answers(record: Released) -> Finding:
    files = _held(record, ANSWERS)
    submissions = record.submissions
    submitted = submissions.loc[submissions["submitted"].astype(bool)]
    return Finding(
        slug="answers",
        kind=SOUND if files else MISSING,
        title="The workers’ answers" if not files else "The workers’ answers are there",
        count=0 if files else len(submitted),
        measured=f"The record lists {plural(len(submissions), 'task')}, of which {count(len(submitted))} were submitted, and holds {plural(files, 'file')} of answers.",
        how="Names of the files in the record; tasks with their Mechanical Turk ids.",
        implies="No selection frequency can be recomputed: not the averages of the sets, nor whether an image had ten answers, nor the threshold, nor the match of "
        "frequencies. The central step of the study cannot be recomputed from this record."
        if not files
        else "Selection frequencies can be recomputed.",
        does_not_imply="That answers were withheld: the README says that annotations come with the pool of candidates, which is stored elsewhere, and the released code reads them from there.",
        evidence=evidence(
            submitted["source_file"], submitted["task_id"], (f"HIT {h}" for h in submitted["hit_id"])
        )
        if not files
        else evidence((), (), ()),
    )


def coverage(record: Released) -> pd.DataFrame:
    """What is referred to and what is there: ``what``, ``referred``, ``present``, and an id set of those absent."""
    searched = set(record.search["image_id"])
    shown = set(record.tasks.loc[record.tasks["role"] == "candidate", "image_id"])
    final = set().union(*record.finals().values())
    rows = [(COUNTED[0], final, searched), (COUNTED[1], final, shown), (COUNTED[2], shown, searched)]
    return pd.DataFrame(
        [(what, len(ids), len(ids & there), sorted(ids - there)) for what, ids, there in rows],
        columns=["what", "referred", "present", "absent"],
    )


def _pool(record: Released) -> Finding:
    table = coverage(record)
    classes = record.search["wnid"].nunique()
    rows = [
        (r.what, count(r.referred), count(r.present), percent(r.present / max(r.referred, 1)))
        for r in each(table)
    ]
    lacking = table.loc[table["what"] == COUNTED[0], "absent"].iloc[0]
    missing = set(lacking)
    where = [
        (record.list_file(n), i, f"{w}: no search result")
        for n in NEW
        for i, w in record.final(n).itertuples(index=False)
        if i in missing
    ]
    return Finding(
        slug="pool",
        kind=MISSING if missing else SOUND,
        title="Most of the pool’s search results and tasks"
        if missing
        else "Search results of every final image",
        count=len(missing),
        measured=f"{plural(len(missing), 'final image')} of {count(int(table['referred'].iloc[0]))} have no search result in this record; the search results cover {count(classes)} of "
        f"{count(len(record.classes))} classes.",
        how="Ids of the published lists, of tasks and of search results against each other.",
        implies="All shares of search results on this page are of the part that is here, and may differ in the whole."
        if missing
        else "Shares are of the whole.",
        does_not_imply="That the release lacks them: this copy may be a part of it. A whole checkout can be audited with the same command.",
        evidence=proved(where),
        summaries=(
            Summary("Referred to, and there", ("What", "Referred to", "There", "Share"), tuple(rows)),
        ),
    )


def _files(record: Released) -> Finding:
    names = set(record.files["file"])
    lists = record.lists.loc[record.lists["set"] != "original"]
    wanted = {f"data/dataset_reviews/{n}_review.json": f"review of {n}" for n in lists["name"]}
    wanted |= {f"data/datasets/{n}.json": "a list is drawn from it" for n in lists["starting_from"] if n}
    absent = {f: why for f, why in sorted(wanted.items()) if f not in names}
    pictures, distances = _held(record, PICTURES), _held(record, DISTANCES)
    sets = record.earlier.groupby(["set", "revision"]).ngroups + record.models["set"].nunique() - 1
    rows = [
        ("Image files", count(pictures)),
        ("Files of distances between neighbours", count(distances)),
        ("Lists of new sets with predictions", f"{count(sets)} of {count(len(lists))}"),
        (
            "Lists of new sets with a review",
            f"{count(len(lists) - sum('review' in f for f in absent))} of {count(len(lists))}",
        ),
    ]
    number = len(absent) + (not pictures) + (not distances)
    extra = [("–", "image files", "none in the record")] * (not pictures) + [
        ("–", "distances between neighbours", "none in the record")
    ] * (not distances)
    return Finding(
        slug="files",
        kind=MISSING if number else SOUND,
        title="Images, distances, and files that others name"
        if number
        else "Every file that others name is there",
        count=number,
        measured=f"The record holds {plural(len(record.files), 'file')}: {plural(pictures, 'image file')}, {plural(distances, 'file')} of neighbours’ distances, and {count(len(wanted) - len(absent))} of {count(len(wanted))} "
        "lists and reviews that its lists call for.",
        how="Names of files; a review is called for by each list, an earlier list by the list drawn from it.",
        implies="Image processing, near-duplicate distances and what workers saw cannot be recomputed. Names of people were replaced, so who searched, submitted or reviewed cannot be told, and need not be.",
        does_not_imply="That the numbers of the paper are in doubt: the images were released elsewhere, and predictions and lists suffice for accuracies.",
        evidence=evidence(
            [*absent, *(e[0] for e in extra)],
            [*(f.rsplit("/", 1)[-1] for f in absent), *(e[1] for e in extra)],
            [*absent.values(), *(e[2] for e in extra)],
        ),
        summaries=(Summary("What is there", ("What", "Number"), tuple(rows)),),
    )
