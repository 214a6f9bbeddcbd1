"""Which pairs somebody has to look at."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.settings import Cutoffs

ORIGINS = ("train", "val", "test", "candidates")
"""Where an image comes from, the first that holds for images that are in several places."""
COLUMNS = ("image_id", "neighbour_id", "origin", *METRICS, "found_by")
ENDS = ["low", "high"]
"""The two ids of a pair, the smaller first."""


def queue(neighbours: Mapping[str, pd.DataFrame], cutoffs: Cutoffs) -> pd.DataFrame:
    """Pairs at or below a cut-off of any metric, one row a pair, sorted by image_id and neighbour_id.

    Args:
        neighbours: the table ``neighbours.parquet`` of each metric in use, by metric.
        cutoffs: the largest distance under each metric that is looked at.

    Returns:
        Columns image_id, neighbour_id, origin (strings), one a metric (float64, missing where neither image listed the
        other) and found_by (list of the metrics whose cut-off the pair is at or below). Of a
        candidate and an original image the candidate is image_id; of two candidates, or of two images that are
        both original as well, the smaller id. A candidate whose pixels equal an original image's is paired
        with itself.
    """
    limits = cutoffs.model_dump()
    found = {m: neighbours[m][neighbours[m]["distance"] <= limits[m]] for m in METRICS if m in neighbours}
    below = pd.concat([_ends(f) for f in found.values()] or [_ends(_nothing())], ignore_index=True)
    pairs = _oriented(below).set_index(ENDS)
    # Lists are long and few of their images are near another: the rest need not be told apart pair by pair.
    near = pd.unique(pd.concat([below["low"], below["high"]]))
    for metric in METRICS:
        table = neighbours.get(metric, _nothing())
        listed = _ends(table[table["image_id"].isin(near)]).groupby(ENDS)["distance"].min()
        pairs[metric] = listed.reindex(pairs.index).astype("float64")
    pairs["found_by"] = [
        [metric for metric in METRICS if row[metric] <= limits[metric]]
        for row in pairs[list(METRICS)].to_dict("records")
    ]
    return pairs.sort_values(["image_id", "neighbour_id"], ignore_index=True)[list(COLUMNS)]


def asked(pairs: pd.DataFrame) -> pd.DataFrame:
    """The rows of a queue that somebody has to look at: not those of an image and itself, whose pixels are the same."""
    return pairs[pairs["image_id"] != pairs["neighbour_id"]].reset_index(drop=True)


def _nothing() -> pd.DataFrame:
    names = ("image_id", "neighbour_id", "origin")
    return pd.DataFrame(
        {**{name: pd.Series(dtype=str) for name in names}, "distance": pd.Series(dtype=float)}
    )


def _ends(table: pd.DataFrame) -> pd.DataFrame:
    """Its columns image_id, origin and distance, and both ids in order."""
    one, other = (table[name].to_numpy(dtype=object) for name in ("image_id", "neighbour_id"))
    first = one <= other
    return table[["image_id", "origin", "distance"]].assign(
        low=np.where(first, one, other), high=np.where(first, other, one)
    )


def _oriented(below: pd.DataFrame) -> pd.DataFrame:
    """One row a pair: both ends, image_id, neighbour_id, origin."""
    place = below["origin"].map({name: place for place, name in enumerate(ORIGINS)})
    first = below.assign(place=place).sort_values([*ENDS, "place", "image_id"], kind="stable")
    first = first.drop_duplicates(ENDS)
    candidate = first["image_id"].where(first["origin"] != "candidates", first["low"])
    return first.assign(
        image_id=candidate, neighbour_id=first["high"].where(candidate == first["low"], first["low"])
    )[[*ENDS, "image_id", "neighbour_id", "origin"]]
