"""Which pairs are looked at, each of them once."""

from __future__ import annotations

import math

import pandas as pd

from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.queue import COLUMNS, asked, queue
from imagenetv2.duplicates.settings import Cutoffs, Neighbours

CUTOFFS = Cutoffs(l2=10, fc7=1, ssim=0.1)


def listed(*rows: tuple[str, str, str, float]) -> pd.DataFrame:
    frame = pd.DataFrame(rows, columns=["image_id", "neighbour_id", "origin", "distance"])
    return frame.assign(rank=range(len(frame)))


def test_pairs_below_any_cutoff_carry_all_known_distances() -> None:
    pairs = queue(
        {
            "l2": listed(("a", "t", "train", 10.0), ("a", "u", "val", 11.0), ("b", "t", "train", 50.0)),
            "fc7": listed(("a", "t", "train", 3.0), ("b", "t", "train", 0.5)),
        },
        CUTOFFS,
    )
    assert pairs["image_id"].tolist() == ["a", "b"]
    assert pairs["neighbour_id"].tolist() == ["t", "t"]
    assert pairs["found_by"].tolist() == [["l2"], ["fc7"]]
    assert pairs["l2"].tolist() == [10.0, 50.0]
    assert pairs["fc7"].tolist() == [3.0, 0.5]
    assert all(math.isnan(value) for value in pairs["ssim"])


def test_two_candidates_are_one_pair_with_the_smaller_id_first() -> None:
    both = listed(("b", "a", "candidates", 4.0), ("a", "b", "candidates", 4.0))
    one = listed(("b", "a", "candidates", 4.0))
    for frame in (both, one):
        pairs = queue({"l2": frame}, CUTOFFS)
        assert pairs[["image_id", "neighbour_id", "origin"]].to_numpy().tolist() == [["a", "b", "candidates"]]


def test_a_candidate_that_is_an_original_as_well_stands_as_the_original() -> None:
    # b has the pixels of a validation image: it is its own neighbour, and c finds it as an original.
    frame = listed(
        ("b", "b", "val", 0.0),
        ("b", "c", "candidates", 2.0),
        ("c", "b", "val", 2.0),
        ("b", "a", "candidates", 3.0),
    )
    pairs = queue({"l2": frame}, CUTOFFS)
    assert pairs[["image_id", "neighbour_id", "origin"]].to_numpy().tolist() == [
        ["a", "b", "candidates"],
        ["b", "b", "val"],
        ["c", "b", "val"],
    ]
    assert asked(pairs)["image_id"].tolist() == ["a", "c"]


def test_nothing_below_a_cutoff_is_an_empty_queue() -> None:
    for neighbours in ({}, {"ssim": listed()}, {"ssim": listed(("a", "b", "train", 0.2))}):
        pairs = queue(neighbours, CUTOFFS)
        assert pairs.empty
        assert list(pairs.columns) == list(COLUMNS)


def test_every_metric_has_settings_and_a_cutoff() -> None:
    assert list(METRICS) == list(Cutoffs.model_fields)
    assert ["search", *METRICS] == list(Neighbours.model_fields)


def test_only_the_pair_s_own_lists_tell_its_distance() -> None:
    # c lists b nearer than its cut-off under fc7; that tells nothing of a and b.
    pairs = queue(
        {
            "l2": listed(("a", "b", "candidates", 4.0)),
            "fc7": listed(
                ("c", "b", "candidates", 0.5), ("b", "a", "candidates", 7.0), ("b", "c", "candidates", 0.5)
            ),
        },
        CUTOFFS,
    )
    assert pairs[["image_id", "neighbour_id", "l2", "fc7"]].fillna(-1).to_numpy().tolist() == [
        ["a", "b", 4.0, 7.0],
        ["b", "c", -1.0, 0.5],
    ]
