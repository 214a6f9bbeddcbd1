"""Stage ``frequencies``: from answers to selection frequencies, and how good the workers were.

One vote a worker, image and class: where a worker saw an image in several tasks of a class, the vote of the task with
the smallest task_id counts. Submitted and approved answers count alike, as in the released code; rejected ones do not.
Images of all roles count for the class asked about; those that were shown only as negative controls are marked.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from imagenetv2.annotation.settings import Frequencies
from imagenetv2.intervals import clopper_pearson
from imagenetv2.job import Job

DIGITS = 12
"""Digits kept of interval ends, so that libraries' last bits do not change an artifact."""
CASE = ["image_id", "wnid"]


def run(job: Job) -> None:
    """Write frequencies.parquet and workers.parquet."""
    tasks, answered = job.read("hits").table("tasks"), job.read("assignments").table("assignments")
    cast = votes(tasks, answered)
    table = frequencies(cast, job.settings(Frequencies).level)
    job.out.table("frequencies", table)
    job.out.table("workers", workers(cast, answered))
    job.log.info("%d votes on %d images", len(cast), len(table))


def votes(tasks: pd.DataFrame, assignments: pd.DataFrame) -> pd.DataFrame:
    """One row a vote: worker, image_id, wnid, task_id, origin, role, negative (bool) and selected (bool).

    ``negative`` and ``origin`` are those of the image for the class over all its tasks; ``role`` is that in this task.
    """
    counted = assignments[assignments["status"] != "Rejected"]
    ticks = counted[["task_id", "worker", "selected"]].explode("selected").dropna(subset=["selected"])
    ticks = ticks.assign(position=ticks.pop("selected").astype("int64"), ticked=True)
    facts = tasks.assign(
        negative=(tasks["role"] == "negative").groupby([tasks[c] for c in CASE]).transform("all"),
        origin=np.where(
            (tasks["origin"] == "reference").groupby([tasks[c] for c in CASE]).transform("any"),
            "reference",
            "candidates",
        ),
    )
    shown = facts.merge(counted[["task_id", "worker"]], on="task_id")
    shown = shown.merge(ticks, on=["task_id", "worker", "position"], how="left")
    shown["selected"] = shown.pop("ticked").notna()
    shown = shown.sort_values(["worker", *CASE, "task_id", "position"], ignore_index=True)
    columns = ["worker", *CASE, "task_id", "origin", "role", "negative", "selected"]
    return shown.drop_duplicates(["worker", *CASE], ignore_index=True)[columns]


def frequencies(votes: pd.DataFrame, level: float) -> pd.DataFrame:
    """The table of selection frequencies; images that nobody's vote reached are not in it.

    Args:
        votes: as from ``votes``.
        level: of the Clopper–Pearson intervals, in (0, 1).
    """
    table = (
        votes.groupby(CASE, as_index=False)
        .agg(
            origin=("origin", "first"),
            negative=("negative", "first"),
            shown=("selected", "size"),
            selected=("selected", "sum"),
        )
        .astype({"shown": "int64", "selected": "int64", "negative": "bool"})
    )
    low, high = clopper_pearson(table["selected"], table["shown"], level)
    return table.assign(
        frequency=table["selected"] / table["shown"],
        low=np.round(low, DIGITS),
        high=np.round(high, DIGITS),
    )


def workers(votes: pd.DataFrame, assignments: pd.DataFrame) -> pd.DataFrame:
    """The table of workers.

    A worker agrees on an image when the vote is that of more than half of the other workers who saw it for the class;
    images on which the others are evenly split, or absent, are left out. Controls are those the worker saw as such.
    """
    counted = assignments[assignments["status"] != "Rejected"]
    table = counted.groupby("worker", as_index=False).agg(
        tasks=("task_id", "size"), seconds_median=("seconds", "median")
    )
    by_case = votes.groupby(CASE)["selected"]
    others = by_case.transform("size") - 1
    yes = by_case.transform("sum") - votes["selected"]
    decided = 2 * yes != others
    agrees = (2 * yes > others) == votes["selected"]
    measures = {
        "positive_rate": votes.loc[votes["role"] == "positive"].groupby("worker")["selected"].mean(),
        "negative_rate": votes.loc[votes["role"] == "negative"].groupby("worker")["selected"].mean(),
        "agreement": agrees[decided].groupby(votes.loc[decided, "worker"]).mean(),
    }
    for name, series in measures.items():
        table[name] = table["worker"].map(series).astype("float64").round(DIGITS)
    table["seconds_median"] = table["seconds_median"].astype("float64")
    return table
