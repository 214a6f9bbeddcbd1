"""What is known of one image: plain values, which become text, JSON or a page."""

from __future__ import annotations

from typing import Any

import pandas as pd

from imagenetv2.duplicates.explain.component import component
from imagenetv2.duplicates.explain.membership import memberships
from imagenetv2.duplicates.explain.study import Study
from imagenetv2.duplicates.metrics import METRICS

Facts = dict[str, Any]


def facts(study: Study, image: str) -> Facts:
    """All there is to say of an image; see the functions below for the parts."""
    rows = candidate_rows(study, image)
    return {
        "image_id": image,
        "candidate": rows,
        "reference": reference_rows(study, image),
        "photographs": sorted(study.copies.loc[study.copies["image_id"] == image, "photo_id"].tolist()),
        "neighbours": {metric: neighbours(study, metric, image) for metric in study.neighbours},
        "pairs": pairs(study, image),
        "component": component(study, image),
        "fates": fates(study, image),
        "sets": memberships(study, image, [row["wnid"] for row in rows]),
        "missing": study.missing,
    }


def candidate_rows(study: Study, image: str) -> list[Facts]:
    """One entry a class that the image is a candidate for: where it was found, and its votes."""
    table = study.candidates
    columns = [
        "wnid", "photo_id", "owner_id", "license", "uploaded", "query", "rung", "file", "source_format", "width",
        "height", "spread",
    ]  # fmt: skip
    found = []
    for row in _records(table[table["image_id"] == image][columns]):
        found.append({**row, "words": study.words.get(row["wnid"], ""), **votes(study, image, row["wnid"])})
    return found


def votes(study: Study, image: str, wnid: str) -> Facts:
    """selected and shown; None where nobody was asked or votes are not counted yet."""
    table = study.frequencies
    if table is None:
        return {"selected": None, "shown": None}
    asked = table[(table["image_id"] == image) & (table["wnid"] == wnid) & (table["origin"] == "candidates")]
    if asked.empty:
        return {"selected": None, "shown": None}
    return {"selected": int(asked["selected"].iloc[0]), "shown": int(asked["shown"].iloc[0])}


def reference_rows(study: Study, image: str) -> list[Facts]:
    """One entry a class folder of the original data set that holds the image."""
    table = study.reference
    columns = ["split", "wnid", "source_file", "file", "width", "height", "spread"]
    rows = _records(table[table["image_id"] == image][columns])
    return [{**row, "words": study.words.get(row["wnid"], "")} for row in rows]


def neighbours(study: Study, metric: str, image: str) -> Facts:
    """The image's list under a metric with verdicts; and candidates that list it without being listed.

    ``list`` is None where the search has not run.
    """
    table = study.neighbours[metric]
    cutoff = getattr(study.plan.config.duplicates.cutoffs, metric)
    about: Facts = {"distance": METRICS[metric].distance, "cutoff": cutoff, "list": None, "listed_by": []}
    if table is None:
        return about
    own = table[table["image_id"] == image].sort_values("rank")
    listed = set(own["neighbour_id"])
    others = table[(table["neighbour_id"] == image) & ~table["image_id"].isin(listed | {image})]
    others = others.sort_values(["distance", "image_id"]).drop(columns="neighbour_id")
    others = others.rename(columns={"image_id": "neighbour_id"}).assign(origin="candidates")
    about["list"] = _neighbours(study, image, own, cutoff)
    about["listed_by"] = _neighbours(study, image, others, cutoff)
    return about


def _neighbours(study: Study, image: str, rows: pd.DataFrame, cutoff: float) -> list[Facts]:
    classes, verdicts = study.classes_of(rows["neighbour_id"]), study.verdicts_of(image)
    return [
        {
            "image_id": row["neighbour_id"],
            "rank": int(row["rank"]),
            "origin": row["origin"],
            "wnids": classes[row["origin"] == "candidates", row["neighbour_id"]],
            "distance": float(row["distance"]),
            "below": bool(row["distance"] <= cutoff),
            "verdict": verdicts.get(row["neighbour_id"], ""),
        }
        for row in rows.to_dict("records")
    ]


def pairs(study: Study, image: str) -> list[Facts] | None:
    """Pairs of the image that are looked at; None where they are not known yet."""
    table = study.pairs
    if table is None:
        return None
    rows = table[(table["image_id"] == image) | (table["neighbour_id"] == image)]
    classes = study.classes_of(pd.concat([rows["image_id"], rows["neighbour_id"]]))
    found = []
    for row in rows.to_dict("records"):
        swapped = row["image_id"] != image
        other = row["image_id"] if swapped else row["neighbour_id"]
        origin = "candidates" if swapped else row["origin"]
        found.append(
            {
                "image_id": other,
                "origin": origin,
                "wnids": classes[origin == "candidates", other],
                "distances": {m: None if pd.isna(row[m]) else float(row[m]) for m in METRICS},
                "found_by": list(row["found_by"]),
                **{name: row[name] for name in ("verdict", "reviewer", "time", "note")},
                "flags": list(row["flags"]),
            }
        )
    return found


def fates(study: Study, image: str) -> list[Facts] | None:
    """What became of the image, one entry a class; None where it is not known yet."""
    if study.fates is None:
        return None
    rows = study.fates[study.fates["image_id"] == image]
    return [
        {**row, "place": int(row["place"]), "flags": list(row["flags"])}
        for row in _records(rows[["wnid", "component", "fate", "reason", "place", "flags"]])
    ]


def _records(rows: pd.DataFrame) -> list[Facts]:
    return [{str(name): value for name, value in row.items()} for row in rows.to_dict("records")]
