"""Search results against the windows that they claim."""

from __future__ import annotations

import pandas as pd

from imagenetv2.analysis.wording import count, percent, plural
from imagenetv2.record.audit.finding import (
    DEPARTS,
    LIMIT,
    SOUND,
    Finding,
    Summary,
    each,
    evidence,
)
from imagenetv2.record.audit.released import LABELS, NEW, Released

SLACK = pd.Timedelta(days=1)
"""Dates taken are local times; uploads are printed in the zone of whoever searched. No zone is stated."""

BEFORE, WITHIN, AFTER, OPEN = "before", "within", "after", "no window"


def findings(record: Released) -> list[Finding]:
    """All findings about dates."""
    if record.search.empty:
        return []
    dated = placed(record.search)
    return [_uploads(dated, record), _early(dated), _taken(dated)]


def placed(search: pd.DataFrame) -> pd.DataFrame:
    """Search results with parsed dates and ``taken_is`` and ``uploaded_is``: where they lie beside their window.

    A date counts as outside where it is more than ``SLACK`` away from the window; unreadable dates, and dates
    of records that claim no window, lie in none.
    """
    frame = search.copy()
    for kind in ("taken", "uploaded"):
        # Seconds reach from 1677 on and beyond what nanoseconds hold.
        times = pd.to_datetime(frame[kind], errors="coerce", format="%Y-%m-%d %H:%M:%S").astype(
            "datetime64[s]"
        )
        low = pd.to_datetime(frame[f"{kind}_from"], errors="coerce").astype("datetime64[s]")
        high = pd.to_datetime(frame[f"{kind}_to"], errors="coerce").astype("datetime64[s]")
        place = pd.Series(WITHIN, index=frame.index)
        place[(low.isna() & high.isna()) | times.isna()] = OPEN
        place[times < low - SLACK] = BEFORE
        place[times > high + SLACK] = AFTER
        frame[f"{kind}_time"], frame[f"{kind}_is"] = times, place
    return frame


def window(row: pd.Series, kind: str) -> str:
    """A claimed window in words."""
    low, high = row[f"{kind}_from"], row[f"{kind}_to"]
    low, high = (None if pd.isna(v) else str(v) for v in (low, high))
    if low and high:
        return f"{low} to {high}"
    return f"until {high}" if high else f"from {low}" if low else "none"


def _outside(dated: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Evidence: records whose date lies outside the window."""
    out = dated.loc[dated[f"{kind}_is"].isin([BEFORE, AFTER])]
    return evidence(
        out["source_file"],
        out["image_id"],
        (f"record {r.position}: {kind} {r[kind]}, window {window(r, kind)}" for _, r in out.iterrows()),
    )


def _uploads(dated: pd.DataFrame, record: Released) -> Finding:
    before, after = (int((dated["uploaded_is"] == place).sum()) for place in (BEFORE, AFTER))
    claimed = int((dated["uploaded_is"] != OPEN).sum())
    out = before + after
    return Finding(
        slug="uploads",
        kind=DEPARTS if out else SOUND,
        title="Upload dates outside the claimed window" if out else "Upload dates lie in the claimed window",
        count=out,
        measured=f"{count(out)} of {plural(claimed, 'search record')} with a window ({percent(out / max(claimed, 1))}) have an upload date outside "
        f"the window that the record itself claims: {count(before)} before it and {count(after)} after it.",
        how="Each record’s upload date as printed, against the window of uploads in the same record, with a day of slack at both "
        "ends, since no time zone is stated. For the sets: photographs by id; one found several times counts as outside only if "
        "every record of it is.",
        implies="The upload window did not restrict the search. The released search script passes the limits as min_uploaded_date and "
        "max_uploaded_date; Flickr’s names are min_upload_date and max_upload_date, and Flickr ignores names that it does not know. "
        "The dates taken were restricted.",
        does_not_imply="That a photograph is unsuitable, or that the results of the paper depend on it: a photograph taken in the window "
        "and uploaded later is of the same period. Owners can also change the date that Flickr gives as posted, so a date outside the "
        "window does not prove that the file came to Flickr then.",
        evidence=_outside(dated, "uploaded"),
        summaries=(_by_window(dated), shares(dated, record.finals())),
    )


def _by_window(dated: pd.DataFrame) -> Summary:
    claimed = dated.apply(window, axis=1, kind="uploaded")
    rows = []
    for name, group in sorted(dated.groupby(claimed)):
        places = group["uploaded_is"].value_counts()
        rows.append(
            (
                str(name),
                *(
                    count(v)
                    for v in (len(group), places.get(BEFORE, 0), places.get(WITHIN, 0), places.get(AFTER, 0))
                ),
            )
        )
    return Summary(
        "Records by claimed window of uploads",
        ("Window", "Records", "Before", "Within", "After"),
        tuple(rows),
    )


def shares(dated: pd.DataFrame, finals: dict[str, set[str]]) -> Summary:
    """Photographs of each final set that search results name, by where their upload lies."""
    order = {WITHIN: 0, OPEN: 1, AFTER: 2, BEFORE: 3}
    best = dated.assign(place=dated["uploaded_is"].map(order)).groupby("image_id")["place"].min()
    rows = []
    for name in NEW:
        known = best[best.index.isin(finals[name])]
        before, after = (int((known == order[place]).sum()) for place in (BEFORE, AFTER))
        share = percent((before + after) / len(known)) if len(known) else "–"
        rows.append(
            (LABELS[name], count(len(finals[name])), count(len(known)), count(before), count(after), share)
        )
    columns = ("Set", "Images", "With a search record", "Before", "After", "Outside, of those with a record")
    return Summary("The final sets", columns, tuple(rows))


def _early(dated: pd.DataFrame) -> Finding:
    """Photographs posted before they were taken: which date is wrong, as far as Flickr’s running number tells."""
    impossible = dated.loc[dated["uploaded_time"] < dated["taken_time"] - SLACK]
    ordinary = dated.loc[
        (dated["uploaded_is"] == WITHIN) & (dated["uploaded_time"] >= dated["taken_time"] - SLACK)
    ]
    older = int((_numbers(impossible) < _numbers(ordinary).quantile(0.01)).sum())
    also = int((impossible["uploaded_is"] == BEFORE).sum())
    early = int((dated["uploaded_is"] == BEFORE).sum())
    total = len(impossible)
    return Finding(
        slug="posted-before-taken",
        kind=LIMIT if total else SOUND,
        title="Photographs posted before they were taken"
        if total
        else "No photograph was posted before it was taken",
        count=total,
        measured=f"{plural(total, 'record')} ({percent(total / len(dated))}) have an upload date more than a day before the date taken; "
        f"{count(also)} of the {count(early)} records uploaded before the window are among them. {count(older)} of the {count(total)} have a "
        f"Flickr number below that of 99\u00a0% of the photographs posted within the window, {count(total - older)} have not.",
        how="Upload date as printed against date taken as printed, with a day of slack. Flickr numbers photographs roughly in the order in "
        "which they arrive: a number usual for the window speaks for a posting date that its owner set back, a lower number for a "
        "camera whose clock ran ahead or a date taken that was edited.",
        implies="Since the date taken was filtered and the upload date was not, a photograph can only lie before the upload window if "
        f"one of its two dates is wrong: by their numbers, the date taken of {count(older)}, and the date posted of {count(total - older)}. "
        "Asking for the earliest posted first put these photographs first among the results of a query, so some of the pool is older than "
        "the window."
        if total
        else "Dates taken and posted can both be right.",
        does_not_imply="That anything was done wrong by those who searched, or that a photograph is unsuitable for its age: the dates are what owners and "
        "cameras gave Flickr.",
        evidence=evidence(
            impossible["source_file"],
            impossible["image_id"],
            (
                f"record {r.position}: taken {r.taken}, uploaded {r.uploaded}, Flickr number {r.photo_id}"
                for r in each(impossible)
            ),
        ),
    )


def _numbers(records: pd.DataFrame) -> pd.Series:
    """Flickr’s numbers; missing where an id is none."""
    return pd.to_numeric(records["photo_id"], errors="coerce").astype("float64")


def _taken(dated: pd.DataFrame) -> Finding:
    out = int(dated["taken_is"].isin([BEFORE, AFTER]).sum())
    claimed = int((dated["taken_is"] != OPEN).sum())
    return Finding(
        slug="taken",
        kind=DEPARTS if out else SOUND,
        title="Dates taken outside the claimed window" if out else "Dates taken lie in the claimed window",
        count=out,
        measured=f"{count(out)} of {plural(claimed, 'search record')} with a window have a date taken outside it.",
        how="Each record’s date taken against the window in the same record, with a day of slack, since dates taken are local times.",
        implies="The window of dates taken was not kept for these records."
        if out
        else "The filter on the date taken worked as described.",
        does_not_imply="That the dates are true: they come from cameras and from owners.",
        evidence=_outside(dated, "taken"),
    )
