"""Where and how often images are shown over all tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from math import comb
from typing import Any

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import DEPARTS, LIMIT, NOTED, SOUND, Finding, Summary, evidence
from imagenetv2.record.audit.released import Released
from imagenetv2.record.audit.tasks import with_files

SIGNIFICANT = 0.001


def findings(record: Released) -> list[Finding]:
    """All findings about places and repeats."""
    if record.tasks.empty:
        return []
    tasks = with_files(record)
    return [_positions(tasks), _patterns(tasks), _again(tasks), _twice(tasks)]


def _positions(tasks: pd.DataFrame) -> Finding:
    """Chi-squared test of the number of controls at each position, among full tasks."""
    from scipy.stats import chisquare

    sizes = tasks.groupby("task_id")["position"].transform("size")
    full = tasks.loc[sizes == paper.TASK]
    counts = (
        full.loc[full["role"] != "candidate", "position"]
        .value_counts()
        .reindex(range(paper.TASK), fill_value=0)
    )
    p = float(chisquare(counts.to_numpy()).pvalue) if counts.sum() else 1.0
    uneven = p < SIGNIFICANT
    return Finding(
        slug="positions",
        kind=DEPARTS if uneven else SOUND,
        title="Controls sit at some positions more often"
        if uneven
        else "Controls sit at every position equally often",
        count=int(uneven),
        measured=f"{plural(int(counts.sum()), 'control')} over 48 positions, {count(counts.min())} to {count(counts.max())} at each; χ² test against equal counts: p = {p:.2g}.",
        how="Positions as listed in each task of 48 images, in the order in which the page shows them.",
        implies="A worker could guess controls by their place."
        if uneven
        else "The place of an image does not tell what it is.",
        does_not_imply="That arrangements are independent of each other; see repeated arrangements.",
        evidence=evidence(
            ["data/mturk/hit_data_live"] * paper.TASK if uneven else (),
            (f"position {k}" for k in counts.index if uneven),
            (f"{n} controls" for n in counts if uneven),
        ),
    )


def _patterns(tasks: pd.DataFrame) -> Finding:
    """Pairs of tasks with controls at the same places, against those that independent places would give."""
    frame = arrangements(tasks)
    same = frame.loc[frame["key"].duplicated(keep=False)]
    pairs = sum(comb(n, 2) for n in same["key"].value_counts())
    chance = expected(frame["key"])
    p = by_chance(pairs, chance)
    more = pairs > 0 and p < SIGNIFICANT
    inside = int(frame.duplicated(["key", "file"]).sum())
    between = len(same) - same["key"].nunique() - inside
    return Finding(
        slug="arrangements",
        kind=LIMIT if more else NOTED if pairs else SOUND,
        title="Arrangements repeat more often than by chance" if more else "Arrangements repeat no more often than by chance",
        count=len(same),
        measured=f"{plural(len(same), 'task')} of {count(len(frame))} ({percent(len(same) / max(len(frame), 1))}) have their controls at just the places of another task: "
        f"{plural(same['key'].nunique(), 'arrangement')}, {plural(pairs, 'pair')} of tasks. Independent places would give {chance:.2g} pairs on average; so many or more have the "
        f"probability {f'{p:.2g}' if p else 'of less than 1e-300'}. {count(inside)} of the repeats lie in one file, {count(between)} between files.",
        how="The set of places of all controls of a task, compared over all tasks with as many images and controls. Of n such tasks n(n − 1)/2 pairs can agree, each with one in as many "
        f"cases as there are ways to place the controls: {count(comb(paper.TASK, 2 * paper.CONTROLS))} for {2 * paper.CONTROLS} among {paper.TASK}. The probability is that of a Poisson variable of this mean.",
        implies=_cause(inside, between) if more else "Nothing speaks against places that were drawn independently.",
        does_not_imply="That anybody used it: a worker would have had to know the controls of another task at the same places.",
        evidence=evidence(
            same["file"], same.index, ("controls at " + ", ".join(map(str, p)) for p in same["places"])
        ),
    )  # fmt: skip


def arrangements(tasks: pd.DataFrame) -> pd.DataFrame:
    """Tasks with controls: their ``file``, the ``places`` of the controls, and these with the task’s size as ``key``."""
    sizes: Any = tasks.groupby("task_id").size()
    reference = tasks.loc[tasks["role"] != "candidate"]
    places: Any = reference.groupby("task_id")["position"].agg(lambda p: tuple(sorted(p)))
    frame: Any = pd.DataFrame({"places": places, "file": tasks.groupby("task_id")["file"].first()}).dropna()
    frame["key"] = list(zip(frame["places"], sizes.reindex(frame.index), strict=True))
    found: pd.DataFrame = frame
    return found


def expected(keys: Iterable[tuple[tuple[int, ...], int]]) -> float:
    """Pairs of tasks that agree on average where all places are equally likely and independent.

    Args:
        keys: places of the controls and number of images of each task.
    """
    shapes = Counter((size, len(places)) for places, size in keys)
    return sum(comb(n, 2) / comb(int(size), controls) for (size, controls), n in shapes.items())


def by_chance(pairs: int, mean: float) -> float:
    """Probability of so many pairs or more, as a Poisson variable of that mean."""
    from scipy.stats import poisson

    return float(poisson.sf(pairs - 1, mean))


def _cause(inside: int, between: int) -> str:
    text = "Places of different tasks were not drawn independently."
    if between > inside:
        text += (
            " Repeats between files are what the released script gives where each batch is made with its default seed;"
            " if that is the cause, places are random within a batch but not between batches. The record does not say which seeds were used."
        )
    return text


def _again(tasks: pd.DataFrame) -> Finding:
    shown: Any = (
        tasks.sort_values(["task_id", "position"])
        .groupby("task_id")
        .agg(file=("file", "first"), wnid=("wnid", "first"), images=("image_id", tuple))
    )
    shown["key"] = [(w, tuple(sorted(i))) for w, i in zip(shown["wnid"], shown["images"], strict=True)]
    same = shown.loc[shown["key"].duplicated(keep=False)]
    partner = {
        key: " and ".join(sorted({f.rsplit("/", 1)[-1] for f in files}))
        for key, files in same.groupby("key")["file"]
    }
    rows = tuple((names, count(n)) for names, n in sorted(Counter(partner.values()).items()))
    return Finding(
        slug="submitted-twice",
        kind=NOTED if len(same) else SOUND,
        title="Tasks submitted more than once" if len(same) else "No task was submitted twice",
        count=len(same),
        measured=f"{plural(len(same), 'task')} show the same images for the same class as another task: {plural(same['key'].nunique(), 'task')} submitted more than once.",
        how="The images of each task, compared over all tasks of the class.",
        implies="These images got twice the usual number of answers, and a worker could give two.",
        does_not_imply="That answers of both were used, or that it was a mistake: a first submission may have been withdrawn.",
        evidence=evidence(
            same["file"],
            same.index,
            (f"{w}; the same in {partner[k]}" for w, k in zip(same["wnid"], same["key"], strict=True)),
        ),
        summaries=(Summary("Files", ("Files", "Pairs"), rows),) if rows else (),
    )


def _twice(tasks: pd.DataFrame) -> Finding:
    candidates = tasks.loc[tasks["role"] == "candidate"]
    per = (
        candidates.groupby(["image_id", "wnid"])
        .agg(tasks=("task_id", "nunique"), files=("file", "nunique"))
        .reset_index()
    )
    several = per.loc[per["tasks"] > 1]
    one = int((several["files"] < several["tasks"]).sum())
    where = candidates.loc[
        candidates.set_index(["image_id", "wnid"]).index.isin(several.set_index(["image_id", "wnid"]).index)
    ]
    return Finding(
        slug="shown-twice",
        kind=LIMIT if len(several) else SOUND,
        title="Candidates shown in several tasks"
        if len(several)
        else "Every candidate was shown in one task",
        count=len(several),
        measured=f"{plural(len(several), 'candidate')} of {count(len(per))} ({percent(len(several) / max(len(per), 1))}) were shown in more than one task of their class, "
        f"{count(one)} of them in several tasks of one batch.",
        how="Tasks of each candidate and class.",
        implies="The last task of a class was filled up with candidates of the class’s earlier tasks, so these have about twenty answers where the others have ten, and one "
        "worker may have judged an image twice. The released code pools all answers.",
        does_not_imply="A bias of the selection frequency: the candidates that fill a task are drawn at random.",
        evidence=evidence(
            where["file"],
            where["image_id"],
            (f"{w}, task {t}" for w, t in zip(where["wnid"], where["task_id"], strict=True)),
        ),
    )
