"""What was searched for: windows, limits and order of the queries."""

from __future__ import annotations

from collections import Counter

import pandas as pd

from imagenetv2.analysis.wording import count, plural
from imagenetv2.record.audit import paper
from imagenetv2.record.audit.finding import DEPARTS, NOTED, SOUND, Finding, Summary, each, evidence, listed
from imagenetv2.record.audit.released import Released
from imagenetv2.record.audit.searches import SLACK, placed, window


def findings(record: Released) -> list[Finding]:
    """All findings about queries."""
    if record.search.empty:
        return []
    dated = placed(record.search)
    return [_windows(dated, record), _limits(dated), _order(dated)]


def _windows(dated: pd.DataFrame, record: Released) -> Finding:
    other = dated.loc[~_of_the_paper(dated, "uploaded") | ~_of_the_paper(dated, "taken")]
    ids = set(other["image_id"])
    excluded = len(ids & set(record.blacklist["image_id"]))
    used = len(ids & set().union(*record.finals().values()))
    per_file = other.groupby("source_file").first()
    numbers = Counter(other["source_file"])
    paths = [str(f) for f in per_file.index]
    return Finding(
        slug="windows",
        kind=(DEPARTS if used else NOTED) if len(other) else SOUND,
        title="A window that the paper does not mention"
        if len(other)
        else "Every window is one that the paper mentions",
        count=len(other),
        measured=f"{plural(len(other), 'record')} of {plural(len(ids), 'photograph')} in {plural(len(paths), 'file')} claim another window than the "
        f"paper’s two. {count(excluded)} of these photographs are on the list of excluded candidates, {count(used)} are in a final set.",
        how="The windows stated in each record against the two of the paper: 11 July 2012 to 11 July 2013, and to 11 July 2014.",
        implies="The pool was begun with another window and then started again."
        if len(other)
        else "The windows in the record are those of the paper.",
        does_not_imply="That photographs of that window were used: those on the list of excluded candidates could not be drawn, and the list "
        "names the different time range as the reason where that was it."
        if len(other)
        else "That Flickr applied them; see the upload dates.",
        evidence=evidence(
            paths,
            [listed(sorted(set(other.loc[other["source_file"] == f, "wnid"]))) for f in paths],
            [
                f"{count(numbers[f])} records, uploaded {window(r, 'uploaded')}, taken {window(r, 'taken')}, order {r.order}"
                for f, r in per_file.iterrows()
            ],
        ),
    )


def _of_the_paper(dated: pd.DataFrame, kind: str) -> pd.Series:
    """Whether each record claims one of the paper’s windows."""
    ends = zip(dated[f"{kind}_from"], dated[f"{kind}_to"], strict=True)
    return pd.Series([pair in paper.WINDOWS for pair in ends], index=dated.index, dtype=bool)


def _limits(dated: pd.DataFrame) -> Finding:
    stated = dated.dropna(subset=["most"])
    more = stated.loc[~stated["most"].isin(paper.LIMITS)]
    rows = [
        (count(limit), count(len(g)), count(g["image_id"].nunique()), count(g["wnid"].nunique()))
        for limit, g in sorted(stated.groupby("most"))
    ]
    classes = (
        more.groupby(["source_file", "wnid"])
        .agg(n=("image_id", "size"), most=("most", "first"))
        .reset_index()
    )
    number = more["wnid"].nunique()
    return Finding(
        slug="limits",
        kind=NOTED if number else SOUND,
        title="Classes searched with a higher limit"
        if number
        else "Every class was searched with a limit of the paper",
        count=number,
        measured=f"{plural(number, 'class', 'classes')} of the {count(stated['wnid'].nunique())} in the search results were searched with another limit than the 100 and 200 "
        "photographs of the paper.",
        how="The limit stated in each record.",
        implies="The pool was enlarged where a class stayed short of usable photographs, so pools differ in size between classes."
        if number
        else "The limits are those of the paper.",
        does_not_imply="That classes were treated unfairly: the sampling rules draw the same number from each.",
        evidence=evidence(
            classes["source_file"],
            classes["wnid"],
            (f"limit {int(r.most)}, {r.n} records" for r in each(classes)),
        ),
        summaries=(Summary("Records by limit", ("Limit", "Records", "Photographs", "Classes"), tuple(rows)),),
    )


def _order(dated: pd.DataFrame) -> Finding:
    asked = dated.loc[dated["order"] == "date-posted-asc"].sort_values(["source_file", "position"])
    groups = asked.groupby(["source_file", "wnid", "query"], sort=True)["uploaded_time"]
    back = groups.apply(lambda times: int((times.diff() < -SLACK).sum()))
    broken = back[back > 0]
    steps = len(asked) - len(back)
    keys = [tuple(map(str, key)) for key in broken.index]
    return Finding(
        slug="order",
        kind=NOTED if len(broken) else SOUND,
        title="The order asked for is not the order of the results"
        if len(broken)
        else "Results come in the order asked for",
        count=len(broken),
        measured=f"In {count(len(broken))} of {count(len(back))} queries that asked for the earliest posted first, some photograph was posted more than a "
        f"day before the one in front of it; that is so at {count(int(broken.sum()))} of {count(steps)} steps.",
        how="Upload dates as printed, along the order of the records of each query in each file.",
        implies="Which photographs are the first of a query, and so enter the pool, follows the order only in part. Flickr does not promise it."
        if len(broken)
        else "The order was kept.",
        does_not_imply="A choice by hand: the order is Flickr’s.",
        evidence=evidence(
            [k[0] for k in keys],
            [k[1] for k in keys],
            [f"query “{k[2]}”: {n} steps back in time" for k, n in zip(keys, broken, strict=True)],
        ),
    )
