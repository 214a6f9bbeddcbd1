"""The connected component of an image: its members, what joins them, and what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from imagenetv2.duplicates import fates
from imagenetv2.duplicates.components import components

if TYPE_CHECKING:
    from imagenetv2.duplicates.explain.study import Study


def component(study: Study, image: str) -> dict[str, Any] | None:
    """Members and edges; None where the image is in no component, or it is not known yet.

    ``members`` come in the order in which they would be kept, original images first; a candidate with the pixels of one
    is there twice.
    """
    if study.fates is None or study.pairs is None:
        return None
    same = study.pairs[study.pairs["verdict"] == "duplicate"]
    pool = set(study.candidates["image_id"])
    found = components([image], fates.edges(study.pairs, study.copies, pool))
    inside = set(next(members for members in found if image in members))
    entries = study.fates[study.fates["image_id"].isin(inside)]
    names = sorted(set(entries["component"]) - {""})
    if len(inside) == 1 and not names:
        return None
    return {
        "name": names[0] if names else min(inside),
        "images": len(inside),
        "members": [*_originals(study, inside), *_candidates(study, entries)],
        "edges": edges(inside, same, study.copies),
    }


def edges(inside: set[str], same: pd.DataFrame, copies: pd.DataFrame) -> list[dict[str, str]]:
    """What joins different images: who said so, or the photograph that they share."""
    found = []
    different = same[same["image_id"] != same["neighbour_id"]]
    for row in different[different["image_id"].isin(inside)].to_dict("records"):
        found.append({"image_id": row["image_id"], "other": row["neighbour_id"], "by": row["reviewer"]})
    own = copies[copies["image_id"].isin(inside)]
    for photograph, rows in own.groupby("photo_id", sort=True):
        sharing = sorted(set(rows["image_id"]))
        found += [
            {"image_id": sharing[0], "other": other, "by": f"photograph {photograph}"}
            for other in sharing[1:]
        ]
    return found


def _originals(study: Study, inside: set[str]) -> list[dict[str, Any]]:
    rows = study.reference[study.reference["image_id"].isin(inside)]
    return [
        {"image_id": row["image_id"], "origin": row["split"], "wnid": row["wnid"], "fate": "original",
         "reason": "", "place": -1, "flags": [], "selected": None, "shown": None}
        for row in rows.sort_values(["image_id", "split", "wnid"]).to_dict("records")
    ]  # fmt: skip


def _candidates(study: Study, entries: pd.DataFrame) -> list[dict[str, Any]]:
    from imagenetv2.duplicates.explain.facts import votes

    last = entries["place"].max() + 1 if len(entries) else 0
    ordered = entries.assign(order=entries["place"].where(entries["place"] >= 0, last))
    return [
        {
            "image_id": row["image_id"],
            "origin": "candidates",
            **{name: row[name] for name in ("wnid", "fate", "reason")},
            "place": int(row["place"]),
            "flags": list(row["flags"]),
            **votes(study, row["image_id"], row["wnid"]),
        }
        for row in ordered.sort_values(["order", "image_id", "wnid"]).to_dict("records")
    ]
