"""Near-duplicate pairs: the two pictures, how far apart they are, and what the reviewer said."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from imagenetv2.analysis.pictures import Album
from imagenetv2.analysis.wording import share
from imagenetv2.duplicates.flags import PAIR_FLAGS
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.wording import ORIGIN_NAMES

SIDE = 112


def chosen(pairs: pd.DataFrame, cutoffs: Mapping[str, float], wanted: int) -> pd.DataFrame:
    """The pairs to show: two thirds of them judged duplicate, as far as there are so many.

    Within a verdict, pairs come evenly spaced from nearest to farthest, by their smallest distance in
    units of its cut-off.
    """
    if pairs.empty or wanted == 0:
        return pairs.head(0)
    relative = pd.DataFrame({m: pairs[m].astype(float) / cutoffs[m] for m in METRICS if cutoffs[m] > 0})
    ordered = pairs.assign(nearest=relative.min(axis=1)).sort_values(
        ["nearest", "image_id", "neighbour_id"], ignore_index=True
    )
    same = ordered[ordered["verdict"] == "duplicate"]
    other = ordered[ordered["verdict"] != "duplicate"]
    few = min(len(other), max(wanted // 3, wanted - len(same)))
    return pd.concat([_spaced(same, wanted - few), _spaced(other, few)], ignore_index=True)


def _spaced(frame: pd.DataFrame, wanted: int) -> pd.DataFrame:
    if len(frame) <= wanted:
        return frame
    return frame.iloc[[i * len(frame) // wanted for i in range(wanted)]]


def pairs(table: pd.DataFrame, cutoffs: Mapping[str, float], wanted: int, album: Album) -> dict[str, Any]:
    """What the section shows: counts of verdicts, and pairs with their pictures and distances.

    ``itself`` counts the candidates with the pixels of an original image; ``verdicts`` are those on the other pairs.
    """
    shown = []
    for pair in chosen(table, cutoffs, wanted).to_dict("records"):
        origin = "candidates" if pair["origin"] == "candidates" else "reference"
        shown.append(
            {
                "left": album.picture("candidates", pair["image_id"], SIDE),
                "right": album.picture(origin, pair["neighbour_id"], SIDE),
                "ids": f"{pair['image_id']} and {pair['neighbour_id']}",
                "origin": _origin(pair["origin"]),
                "verdict": pair["verdict"],
                "note": pair["note"],
                "flags": [PAIR_FLAGS[flag] for flag in pair["flags"]],
                "distances": _distances(pair, cutoffs),
            }
        )
    verdicts = {v: int((table["verdict"] == v).sum()) for v in ("duplicate", "different", "unreviewed")}
    itself = int((table["image_id"] == table["neighbour_id"]).sum())
    verdicts["duplicate"] -= itself
    return {"shown": shown, "total": len(table), "verdicts": verdicts, "itself": itself}


def _origin(origin: str) -> str:
    return ORIGIN_NAMES.get(origin, origin)


def _distances(pair: Mapping[Any, Any], cutoffs: Mapping[str, float]) -> list[dict[str, Any]]:
    found = []
    for key, metric in METRICS.items():
        distance = pair[key]
        if pd.isna(distance):
            continue
        cutoff = cutoffs[key]
        value = share(distance / cutoff, 2) if cutoff else f"{distance:g}"
        found.append(
            {"name": metric.name, "value": value, "below": distance <= cutoff, "raw": f"{distance:,.6g}"}
        )
    return found
