"""What is marked for a second look. Nothing is decided by it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import pandas as pd

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.settings import Cutoffs, Metric

PAIR_FLAGS = {
    "flat": "a picture is nearly flat, where all metrics are weak",
    "disagree": "one metric is below its cut-off and another far above its own",
}
IMAGE_FLAGS = {
    "flat": "nearly flat, where all metrics are weak",
    "large_component": "in a large component: one wrong verdict joins many images",
    "truncated": "its list of neighbours ends below the cut-off, so there may be more",
}


def flat(tables: Iterable[pd.DataFrame], limit: float) -> set[str]:
    """image_ids whose grey levels deviate by less than ``limit``, from tables with image_id and spread."""
    return {image for t in tables for image in t.loc[t["spread"] < limit, "image_id"].tolist()}


def truncated(neighbours: pd.DataFrame, settings: Metric, cutoff: float) -> set[str]:
    """image_ids whose list under a metric may lack neighbours at or below ``cutoff``: it has k, all of them below.

    A list of fewer than k holds all that there are.
    """
    if settings.within is not None and settings.within >= cutoff:
        return set()
    lists = neighbours.groupby("image_id")["distance"].agg(["size", "max"])
    return set(lists.index[(lists["size"] >= settings.k) & (lists["max"] <= cutoff)])


def reach(
    neighbours: Mapping[str, pd.DataFrame], settings: Mapping[str, Metric], images: Collection[str]
) -> dict[str, dict[str, float]]:
    """How far the list of each of ``images`` reaches under each metric: what it does not list is at least so far away.

    Metrics that compare an image with some of the others only tell nothing of those they do not list.
    """
    found: dict[str, dict[str, float]] = {}
    for metric, table in neighbours.items():
        if METRICS[metric].partial:
            continue
        k, within = settings[metric].k, settings[metric].within or 0.0
        lists = table[table["image_id"].isin(images)].groupby("image_id")["distance"].agg(["size", "max"])
        full = lists.loc[lists["size"] >= max(1, k), "max"].clip(lower=within)
        found[metric] = dict.fromkeys(images, within)
        found[metric].update(zip(full.index, full.tolist(), strict=True))
    return found


def pair_flags(
    pairs: pd.DataFrame,
    flat_images: set[str],
    cutoffs: Cutoffs,
    factor: float,
    reached: Mapping[str, Mapping[str, float]],
) -> list[list[str]]:
    """The flags of each row of a queue (see ``queue``), in the order of ``PAIR_FLAGS``."""
    limits = cutoffs.model_dump()
    found = []
    for row in pairs.to_dict("records"):
        given = {
            "flat": row["image_id"] in flat_images or row["neighbour_id"] in flat_images,
            "disagree": _disagree(row, limits, factor, reached),
        }
        found.append([name for name in PAIR_FLAGS if given[name]])
    return found


def _disagree(
    row: Mapping[Any, Any],
    limits: Mapping[str, float],
    factor: float,
    reached: Mapping[str, Mapping[str, float]],
) -> bool:
    """Whether a metric is above its cut-off by the factor, while that of another found the pair.

    Where neither image lists the other, its distance is at least what the longer-reaching list goes to. A cut-off of 0
    is no measure of what is far.
    """
    for metric, limit in limits.items():
        distance = row[metric]
        if pd.isna(distance):
            lists = reached.get(metric, {})
            distance = max(lists.get(row["image_id"], 0.0), lists.get(row["neighbour_id"], 0.0))
        if 0 < limit * factor < distance:
            return True
    return False
