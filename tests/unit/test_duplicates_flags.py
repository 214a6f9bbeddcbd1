"""What is marked for a second look, and cut-offs that a search does not reach."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from pydantic import ValidationError

from imagenetv2.config import Config
from imagenetv2.duplicates.flags import flat, pair_flags, reach, truncated
from imagenetv2.duplicates.queue import queue
from imagenetv2.duplicates.settings import Cutoffs, Features, Pixels, Structure

CUTOFFS = Cutoffs(l2=10, fc7=1, ssim=0.1)


def listed(*rows: tuple[str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["image_id", "neighbour_id", "distance"])
    return frame.assign(origin="train", rank=range(len(frame)))


def marks(neighbours: dict[str, pd.DataFrame], weak: set[str] | None = None, **k: int) -> list[list[str]]:
    pairs = queue(neighbours, CUTOFFS)
    searches = {
        "l2": Pixels(k=k.get("l2", 9)),
        "fc7": Features(k=k.get("fc7", 9)),
        "ssim": Structure(k=k.get("ssim", 9)),
    }
    images = set(pairs["image_id"]) | set(pairs["neighbour_id"])
    return pair_flags(pairs, weak or set(), CUTOFFS, 4.0, reach(neighbours, searches, images))


@pytest.mark.parametrize(("distance", "found"), [(4.0, []), (4.01, ["disagree"]), (1.0, [])])
def test_metrics_disagree_from_the_factor_on(distance: float, found: list[str]) -> None:
    assert marks({"l2": listed(("a", "t", 3.0)), "fc7": listed(("a", "t", distance))}) == [found]


def test_a_pair_that_is_not_listed_is_at_least_as_far_as_the_list_reaches() -> None:
    near = listed(("a", "t", 3.0))
    others = [("a", "u", 2.0), ("a", "v", 5.0)]
    assert marks({"l2": near, "fc7": listed(*others)}, fc7=2) == [["disagree"]]
    # Fewer than k: the list says all there is.
    assert marks({"l2": near, "fc7": listed(*others)}, fc7=3) == [[]]
    # Structure is compared with some images only.
    assert marks({"l2": near, "ssim": listed(("a", "u", 0.5), ("a", "v", 0.9))}, ssim=2) == [[]]
    assert marks({"l2": near}) == [[]]


def test_a_cutoff_of_nothing_measures_nothing() -> None:
    pairs = queue(
        {"l2": listed(("a", "t", 3.0)), "fc7": listed(("a", "t", 3.0))}, Cutoffs(l2=10, fc7=0, ssim=0)
    )
    assert pair_flags(pairs, set(), Cutoffs(l2=10, fc7=0, ssim=0), 4.0, {}) == [[]]


def test_flat_pictures() -> None:
    frame = pd.DataFrame([("a", 9.9), ("t", 10.0)], columns=["image_id", "spread"])
    assert flat([frame, frame.assign(image_id="u")], 10.0) == {"a", "u"}
    near = {"l2": listed(("a", "t", 3.0), ("b", "t", 2.0))}
    assert marks(near, {"a"}) == [["flat"], []]
    assert marks(near, {"t"}) == [["flat"], ["flat"]]


@pytest.mark.parametrize(
    ("search", "found"),
    [
        ({"k": 2}, {"a"}),
        ({"k": 3}, set()),
        ({"k": 2, "within": 9.0}, {"a"}),
        ({"k": 2, "within": 10.0}, set()),
        ({"k": 1}, {"a", "b"}),
    ],
)
def test_a_list_that_ends_below_the_cutoff_may_lack_some(search: dict[str, Any], found: set[str]) -> None:
    near = listed(("a", "t", 3.0), ("a", "u", 10.0), ("b", "t", 3.0), ("c", "t", 3.0), ("c", "v", 10.5))
    assert truncated(near, Pixels(**search), 10.0) == found


def test_a_cutoff_that_no_search_reaches_is_refused() -> None:
    search = {"l2": {"k": 0, "within": 1000.0}}
    with pytest.raises(
        ValidationError, match=r"duplicates\.cutoffs\.l2: 2000 is more than neighbours\.l2\.within"
    ):
        Config.model_validate({"neighbours": search, "duplicates": {"cutoffs": {"l2": 2000}}})
    Config.model_validate({"neighbours": search, "duplicates": {"cutoffs": {"l2": 1000}}})
    off = {"l2": {**search["l2"], "enabled": False}}
    Config.model_validate({"neighbours": off, "duplicates": {"cutoffs": {"l2": 2000}}})
