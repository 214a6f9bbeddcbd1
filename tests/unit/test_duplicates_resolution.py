"""Components, which image stays, and why."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
import pytest

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.resolution import fates, judged

GOOD = (0.7, 0.6)
Votes = Sequence[tuple[str, str, int, int]]


def decide(
    votes: Votes,
    pairs: Sequence[tuple[str, str, str, str]] = (),
    copies: Sequence[tuple[str, str]] = (),
    good: tuple[float, ...] = GOOD,
) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Fates from (image, class, selected, shown) and (image, neighbour, origin, verdict)."""
    rows = pd.DataFrame(votes, columns=["image_id", "wnid", "selected", "shown"]).assign(origin="candidates")
    decided = fates(
        rows[["image_id", "wnid"]],
        pd.DataFrame(copies, columns=["image_id", "photo_id"]),
        rows,
        pd.DataFrame(pairs, columns=["image_id", "neighbour_id", "origin", "verdict"]),
        good,
    )
    return {
        (r["image_id"], r["wnid"]): (r["component"], r["fate"], r["reason"])
        for r in decided.to_dict("records")
    }


def test_an_image_by_itself_is_free() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 1, 10)]
    found = decide(votes, [("a", "b", "candidates", "different")])
    assert found["a", "n1"] == ("", "free", "near neighbours looked at: 1, none a duplicate")
    assert decide(votes)["b", "n1"] == ("", "free", "no near neighbour")


def test_an_original_drops_its_whole_component() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 10, 10), ("c", "n2", 5, 10)]
    pairs = [("a", "t", "train", "duplicate"), ("a", "b", "candidates", "duplicate")]
    found = decide(votes, pairs)
    assert found["a", "n1"] == ("a", "dropped", "the original image t (train) is in its component")
    assert found["b", "n1"][1] == "dropped"
    assert found["c", "n2"][1] == "free"


def test_an_original_that_is_judged_different_drops_nothing() -> None:
    assert decide([("a", "n1", 9, 10)], [("a", "t", "train", "different")])["a", "n1"][1] == "free"


def test_a_candidate_with_an_original_s_pixels_drops_what_it_is_connected_to() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 10, 10)]
    pairs = [("b", "b", "val", "duplicate"), ("a", "b", "candidates", "duplicate")]
    assert {fate for _, fate, _ in decide(votes, pairs).values()} == {"dropped"}


def test_the_most_selected_image_stays_and_ties_go_to_more_votes_then_the_smaller_id() -> None:
    ring = [("a", "b", "candidates", "duplicate"), ("b", "c", "candidates", "duplicate")]
    found = decide([("a", "n1", 7, 10), ("b", "n1", 14, 20), ("c", "n1", 14, 20)], ring)
    assert [found[i, "n1"][1] for i in "abc"] == ["dropped", "kept", "dropped"]
    assert found["a", "n1"] == ("a", "dropped", "image b for class n1 is kept of its component")
    assert (
        found["b", "n1"][2]
        == "kept of 3 in its component; selected by 14 of 20 workers, the most for its class"
    )


def test_the_class_with_the_fewest_good_candidates_gets_the_image() -> None:
    pool = [("x", "n1", 10, 10), ("y", "n1", 10, 10), ("z", "n2", 10, 10)]
    found = decide([("a", "n1", 10, 10), ("a", "n2", 7, 10), *pool])
    assert found["a", "n2"][:2] == ("a", "kept")
    assert "class n2 has the fewest candidates at 0.7 or more (2)" in found["a", "n2"][2]
    assert found["a", "n1"] == ("a", "dropped", "image a for class n2 is kept of its component")


def test_only_classes_that_reach_the_highest_level_reached_count() -> None:
    pool = [("x", "n1", 10, 10), ("y", "n1", 10, 10)]
    found = decide([("a", "n1", 7, 10), ("a", "n2", 69, 100), *pool])
    assert found["a", "n1"][1] == "kept"
    assert "no other class could keep one" in found["a", "n1"][2]
    found = decide([("a", "n1", 65, 100), ("a", "n2", 6, 10), *pool])
    assert found["a", "n2"][1] == "kept"


def test_levels_are_compared_as_exact_fractions() -> None:
    # As binary fractions 0.7 would not be reached by 7 of 10, nor 0.3 by 3 of 10.
    for level, votes in ((0.7, 7), (0.3, 3), (0.1, 1)):
        found = decide([("a", "n1", votes, 10), ("a", "n2", votes, 10), ("x", "n1", 10, 10)], good=(level,))
        assert found["a", "n2"][1] == "kept"


def test_below_every_level_the_most_selected_class_stays() -> None:
    found = decide([("a", "n1", 3, 10), ("a", "n2", 4, 10)])
    assert found["a", "n2"][:2] == ("a", "kept")
    assert "no class reaches 0.6" in found["a", "n2"][2]
    tied = decide([("a", "n2", 0, 0), ("a", "n1", 0, 10)])
    assert tied["a", "n1"][1] == "kept"


def test_images_of_one_photograph_are_one_component() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10)]
    found = decide(votes, copies=[("a", "p1"), ("b", "p1"), ("b", "p2")])
    assert [found[i, "n1"][1] for i in "ab"] == ["kept", "dropped"]


def test_a_pair_without_a_verdict_holds_both_images_unless_they_are_dropped_anyway() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10), ("c", "n1", 7, 10)]
    pairs = [
        ("a", "b", "candidates", "unreviewed"),
        ("b", "t", "val", "duplicate"),
        ("c", "t", "val", "unreviewed"),
    ]
    found = decide(votes, pairs)
    assert found["a", "n1"] == ("", "unreviewed", "its pair with image b has no verdict")
    assert found["b", "n1"][1] == "dropped"
    assert found["c", "n1"] == ("", "unreviewed", "its pair with image t has no verdict")


def test_the_kept_image_waits_for_its_other_pairs() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10)]
    pairs = [("a", "b", "candidates", "duplicate"), ("a", "t", "val", "unreviewed")]
    found = decide(votes, pairs)
    assert [found[i, "n1"][:2] for i in "ab"] == [("a", "unreviewed"), ("a", "dropped")]


@pytest.mark.parametrize("swapped", [False, True])
def test_the_last_verdict_on_a_pair_counts(swapped: bool) -> None:
    pairs = pd.DataFrame([("a", "b"), ("a", "t")], columns=["image_id", "neighbour_id"])
    one, other = ("b", "a") if swapped else ("a", "b")
    verdicts = pd.DataFrame(
        [(1, one, other, "different", "Ann"), (0, "a", "b", "duplicate", "Ben")],
        columns=["number", "image_id", "neighbour_id", "verdict", "reviewer"],
    )
    found = judged(pairs, verdicts)
    assert found["verdict"].tolist() == ["different", "unreviewed"]
    assert found["reviewer"].tolist() == ["Ann", ""]


def test_components_are_sorted() -> None:
    assert components(["d", "a", "e"], [("d", "b"), ("c", "b")]) == [["a"], ["b", "c", "d"], ["e"]]
    assert components([], []) == []
