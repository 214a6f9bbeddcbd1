"""The tasks: what each shows, where, and how often."""

from __future__ import annotations

import re
from collections import defaultdict

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import (
    INCONSISTENT,
    NOTED,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
    listed,
    proved,
)
from imagenetv2.record.audit.released import BLACKLIST_FILE, NEW, Released


def findings(record: Released) -> list[Finding]:
    """All findings about what tasks show."""
    if record.tasks.empty:
        return []
    tasks = with_files(record)
    return [
        _composition(record.submissions),
        _controls(tasks, record),
        _asked(tasks, record),
        _excluded(tasks, record),
        _refused(record),
        _dates(record.submissions),
    ]


def with_files(record: Released) -> pd.DataFrame:
    """Tasks with a column ``file``: the file of the record that each is in."""
    files = dict(zip(record.submissions["task_id"], record.submissions["source_file"], strict=True))
    return record.tasks.assign(file=[files.get(t, "data/mturk") for t in record.tasks["task_id"]])


def _composition(submissions: pd.DataFrame) -> Finding:
    fits = _as_described(submissions)
    other = submissions.loc[~fits]
    tails = int((submissions.loc[fits, "positive"] > paper.CONTROLS).sum())
    return Finding(
        slug="composition",
        kind=NOTED if len(other) else SOUND,
        title="Tasks of another shape than the paper’s"
        if len(other)
        else "Tasks have the shape that the paper describes",
        count=len(other),
        measured=f"{count(int(fits.sum()))} of {plural(len(submissions), 'task')} show 48 images with at least three controls of each kind "
        f"({count(tails)} with more controls, where a class had too few candidates to fill a task); {count(len(other))} do not.",
        how="Images, candidates and controls of each task in the record.",
        implies=f"The other {plural(len(other), 'task')} were made before the shape was settled; they are in {listed(sorted({f.rsplit('/', 1)[-1] for f in other['source_file']}))}."
        if len(other)
        else "Every image was judged beside controls.",
        does_not_imply="That their answers were used: the released code leaves early files of tasks out of its counts."
        if len(other)
        else "That controls were used to reject workers.",
        evidence=evidence(
            other["source_file"],
            other["task_id"],
            (f"{r.images} images: {r.candidates} + {r.positive} + {r.negative}" for r in each(other)),
        ),
        summaries=(_shapes(submissions),),
    )


def _as_described(submissions: pd.DataFrame) -> pd.Series:
    """Whether each task has the size, and the least number of controls of each kind, that the paper describes."""
    parts = submissions[["candidates", "positive", "negative"]].sum(axis=1)
    enough = (submissions[["positive", "negative"]] >= paper.CONTROLS).all(axis=1)
    return (submissions["images"] == paper.TASK) & (parts == paper.TASK) & enough


def _shapes(submissions: pd.DataFrame, most: int = 8) -> Summary:
    sizes = (
        submissions.groupby(["images", "candidates", "positive", "negative"]).size().reset_index(name="tasks")
    )
    frequent = sizes.sort_values("tasks", ascending=False, kind="stable").head(most)
    rows = tuple(tuple(count(v) for v in r[1:]) for r in each(frequent))
    return Summary(
        "The most frequent shapes", ("Images", "Candidates", "Positive", "Negative", "Tasks"), rows
    )


def _controls(tasks: pd.DataFrame, record: Released) -> Finding:
    own = tasks["image_id"].map(record.original_class())
    positive = tasks["role"].isin(["positive", "validation"])
    negative = tasks["role"] == "negative"
    wrong = tasks.loc[
        (positive & (own != tasks["wnid"])) | (negative & (own.isna() | (own == tasks["wnid"])))
    ]
    near = {w: list(n) for w, n in zip(record.classes["wnid"], record.classes["neighbours"], strict=True)}
    ranks = [
        near[w].index(o) + 1 if w in near and o in near[w] else 0
        for w, o in zip(tasks.loc[negative, "wnid"], own[negative], strict=True)
    ]
    first = sum(rank == 1 for rank in ranks)
    return Finding(
        slug="controls",
        kind=INCONSISTENT if len(wrong) else SOUND,
        title="Controls of the wrong class" if len(wrong) else "Controls are of the right class",
        count=len(wrong),
        measured=f"{count(len(wrong))} of {count(int((positive | negative).sum()))} controls are of the wrong class. {count(first)} of {count(len(ranks))} negative controls "
        "are of the class that is nearest in WordNet.",
        how="Class of each validation image in the released list of the validation set; nearest classes as released.",
        implies="The workers’ attention on these tasks was measured with the wrong images."
        if len(wrong)
        else "The controls do what the paper says.",
        does_not_imply="That the nearest class is the hardest to tell apart.",
        evidence=evidence(
            wrong["file"],
            wrong["task_id"],
            (f"{r.image_id} as {r.role} for {r.wnid}" for r in each(wrong)),
        ),
    )


def _asked(tasks: pd.DataFrame, record: Released) -> Finding:
    """Whether workers were asked about the class that an image stands for in a set."""
    candidates = tasks.loc[tasks["role"] == "candidate", ["image_id", "wnid"]].drop_duplicates()
    asked: dict[str, set[str]] = defaultdict(set)
    for i, w in zip(candidates["image_id"], candidates["wnid"], strict=True):
        asked[i].add(w)
    known, wrong = set(), []
    for name in NEW:
        for i, w in record.final(name).itertuples(index=False):
            if i in asked:
                known.add(i)
                if w not in asked[i]:
                    wrong.append(
                        (
                            record.list_file(name),
                            i,
                            f"{w} in the set; workers were asked about {listed(sorted(asked[i]))}",
                        )
                    )
    number = len({i for _, i, _ in wrong})
    return Finding(
        slug="asked-class",
        kind=INCONSISTENT if number else SOUND,
        title="Final images that workers judged for another class"
        if number
        else "Workers judged final images for the class of the set",
        count=number,
        measured=f"{count(number)} of {plural(len(known), 'final image')} that a task here shows were judged for another class only.",
        how="Class of each published list against the classes of all tasks that show the image as a candidate.",
        implies="The answers that count are in a task that this record lacks, or the label has none."
        if number
        else "Labels of the sets are what workers were asked about.",
        does_not_imply="That the label is right or wrong.",
        evidence=proved(wrong),
    )


def _excluded(tasks: pd.DataFrame, record: Released) -> Finding:
    candidates = tasks.loc[tasks["role"] == "candidate"]
    ids = set(candidates["image_id"])
    shown = sorted(ids & set(record.blacklist["image_id"]))
    reasons = dict(zip(record.blacklist["image_id"], record.blacklist["reason"], strict=True))
    top = (
        pd.Series([reasons[i] for i in shown], dtype="object")
        .value_counts()
        .sort_index()
        .sort_values(ascending=False, kind="stable")
    )
    return Finding(
        slug="excluded-shown",
        kind=NOTED if shown else SOUND,
        title="Candidates that workers saw and that people excluded"
        if shown
        else "No excluded candidate was shown to workers",
        count=len(shown),
        measured=f"{plural(len(shown), 'candidate')} of {count(len(ids))} shown to workers ({percent(len(shown) / max(len(ids), 1))}) are on the list of excluded candidates.",
        how="Ids of candidates in tasks on the list of exclusions; the list gives reasons, but no dates.",
        implies="People looked at more than the final draws, and excluded what workers may have selected.",
        does_not_imply="That workers were shown what had been excluded already: the exclusions that give a place name the review that came after.",
        evidence=evidence([BLACKLIST_FILE] * len(shown), shown, (reasons[i] for i in shown)),
        summaries=(
            Summary(
                "Reasons",
                ("Reason as written", "Candidates"),
                tuple((str(k), count(n)) for k, n in top.head(8).items()),
            ),
        )
        if shown
        else (),
    )


def _refused(record: Released) -> Finding:
    """Tasks on the record's list of tasks whose answers were not used."""
    refused = record.submissions.loc[record.submissions["blacklisted"] != ""]
    unknown = record.faults.loc[record.faults["fault"] == "task unknown"]
    number = len(refused) + len(unknown)
    return Finding(
        slug="refused-tasks",
        kind=NOTED if number else SOUND,
        title="Tasks whose answers were not used" if number else "No task was refused",
        count=number,
        measured=f"{plural(number, 'task')} are listed as not to be used; {count(len(refused))} of them are in this record.",
        how="The list of refused tasks against the tasks, with the reason that it gives.",
        implies="A few tasks failed and were set aside openly." if number else "Every task counts.",
        does_not_imply="That other tasks had no trouble.",
        evidence=evidence(
            [*refused["source_file"], *unknown["file"]],
            [*refused["task_id"], *unknown["subject"]],
            [*refused["blacklisted"], *unknown["detail"]],
        ),
    )


def _dates(submissions: pd.DataFrame) -> Finding:
    """Dates in names of files against the times of submission in them."""
    named = submissions["source_file"].map(
        lambda f: (re.findall(r"\d{4}-\d{2}-\d{2}", f.rsplit("/", 1)[-1]) or [None])[0]
    )
    day = pd.to_datetime(named, errors="coerce")
    time = pd.to_datetime(submissions["time"].str.slice(0, 10), errors="coerce")
    off = submissions.loc[(day - time).abs() > pd.Timedelta(days=1)]
    files = sorted({f.rsplit("/", 1)[-1] for f in off["source_file"]})
    return Finding(
        slug="task-dates",
        kind=INCONSISTENT if len(off) else SOUND,
        title="Files of tasks whose name has another date"
        if len(off)
        else "Names of task files agree with their times",
        count=len(off),
        measured=f"{plural(len(off), 'task')} in {plural(len(files), 'file')} were submitted on another day than the file’s name says"
        + (f": {listed(files)}." if files else "."),
        how="The date in the name of each file of tasks against the time of submission of its tasks, with a day of slack.",
        implies="Names and times of these files cannot both be right; the names may be exchanged."
        if files
        else "The order of the batches is known.",
        does_not_imply="That their answers are wrong: each task names its own images.",
        evidence=evidence(off["source_file"], off["task_id"], (f"submitted {t}" for t in off["time"])),
    )
