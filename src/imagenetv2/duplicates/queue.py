"""Which pairs somebody has to look at."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.settings import Cutoffs

ORIGINS = ("train", "val", "test", "candidates")
"""Where an image comes from, the first that holds for images that are in several places."""
COLUMNS = ("image_id", "neighbour_id", "origin", *METRICS, "found_by")


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
    listed = pd.concat(
        [_directed(metric, neighbours[metric]) for metric in METRICS if metric in neighbours]
        or [pd.DataFrame(columns=["image_id", "neighbour_id", "origin", "metric", "distance"])],
        ignore_index=True,
    )
    below = listed["distance"] <= listed["metric"].map(cutoffs.model_dump()).astype("float64")
    keys = ["low", "high"]
    listed["low"] = listed[["image_id", "neighbour_id"]].min(axis=1)
    listed["high"] = listed[["image_id", "neighbour_id"]].max(axis=1)
    listed["place"] = listed["origin"].map({name: place for place, name in enumerate(ORIGINS)})
    listed = listed[
        pd.MultiIndex.from_frame(listed[keys]).isin(pd.MultiIndex.from_frame(listed[below][keys]))
    ]
    first = listed.sort_values([*keys, "place", "image_id"], kind="stable").drop_duplicates(keys)
    pairs = _oriented(first).set_index(keys)
    shortest = listed.groupby(["metric", *keys])["distance"].min()
    for metric in METRICS:
        found = shortest.get(metric)
        pairs[metric] = float("nan") if found is None else found.reindex(pairs.index).astype("float64")
    limits = cutoffs.model_dump()
    pairs["found_by"] = [
        [metric for metric in METRICS if row[metric] <= limits[metric]]
        for row in pairs[list(METRICS)].to_dict("records")
    ]
    return pairs.sort_values(["image_id", "neighbour_id"], ignore_index=True)[list(COLUMNS)]


def _directed(metric: str, table: pd.DataFrame) -> pd.DataFrame:
    return table[["image_id", "neighbour_id", "origin", "distance"]].assign(metric=metric)


def _oriented(first: pd.DataFrame) -> pd.DataFrame:
    among = first["origin"] == "candidates"
    return first.assign(
        image_id=first["image_id"].where(~among, first["low"]),
        neighbour_id=first["neighbour_id"].where(~among, first["high"]),
    )[["low", "high", "image_id", "neighbour_id", "origin"]]
