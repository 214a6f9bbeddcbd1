"""Components, which image stays, which would stay after it, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import pytest

from imagenetv2.duplicates.components import components
from imagenetv2.duplicates.fates import Candidates, entries, fates
from imagenetv2.duplicates.resolution import both, judged
from imagenetv2.duplicates.settings import Duplicates
from imagenetv2.errors import InputError

GOOD = (0.7, 0.6)
Votes = Sequence[tuple[str, str, int, int]]
Pair = tuple[str, str, str, str]


def table(
    votes: Votes,
    pairs: Sequence[Pair] = (),
    copies: Sequence[tuple[str, str]] = (),
    known: Mapping[str, Any] | None = None,
    **settings: Any,
) -> pd.DataFrame:
    """Fates from (image, class, selected, shown) and (image, neighbour, origin, verdict)."""
    rows = pd.DataFrame(votes, columns=["image_id", "wnid", "selected", "shown"]).assign(origin="candidates")
    pool = Candidates(
        entries(rows[["image_id", "wnid"]], rows),
        pd.DataFrame(copies, columns=["image_id", "photo_id"]),
        **(known or {}),
    )
    frame = pd.DataFrame(pairs, columns=["image_id", "neighbour_id", "origin", "verdict"])
    return fates(pool, frame, Duplicates(**{"good_frequencies": GOOD, **settings}))


def decide(*args: Any, **options: Any) -> dict[tuple[str, str], tuple[str, str, str]]:
    """Component, fate and reason by image and class."""
    return {
        (r["image_id"], r["wnid"]): (r["component"], r["fate"], r["reason"])
        for r in table(*args, **options).to_dict("records")
    }


def places(*args: Any, **options: Any) -> list[str]:
    """Image and class, in the order in which they would stay."""
    ordered = table(*args, **options).sort_values("place", kind="stable")
    return [f"{r['image_id']} {r['wnid']}" for r in ordered.to_dict("records") if r["place"] >= 0]


def test_an_image_by_itself_is_free() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 1, 10)]
    found = decide(votes, [("a", "b", "candidates", "different")])
    assert found["a", "n1"] == ("", "free", "near neighbours looked at: 1, none a duplicate")
    assert decide(votes)["b", "n1"] == ("", "free", "no near neighbour")
    assert table(votes)["place"].tolist() == [0, 0]


def test_an_original_drops_its_whole_component() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 10, 10), ("c", "n2", 5, 10)]
    pairs = [("a", "t", "train", "duplicate"), ("a", "b", "candidates", "duplicate")]
    found = decide(votes, pairs)
    assert found["a", "n1"] == ("a", "dropped", "the original image t (training) is in its component")
    assert found["b", "n1"][1] == "dropped"
    assert found["c", "n2"][1] == "free"
    assert table(votes, pairs)["place"].tolist() == [-1, -1, 0]


def test_an_original_that_is_judged_different_drops_nothing() -> None:
    assert decide([("a", "n1", 9, 10)], [("a", "t", "train", "different")])["a", "n1"][1] == "free"


def test_a_candidate_with_an_original_s_pixels_drops_what_it_is_connected_to() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 10, 10)]
    pairs = [("b", "b", "val", "duplicate"), ("a", "b", "candidates", "duplicate")]
    assert {fate for _, fate, _ in decide(votes, pairs).values()} == {"dropped"}
    # Also where no metric in use compares it with the original data set.
    known = {"originals": {"b": "val"}}
    found = decide(votes, pairs[1:], known=known)
    assert {fate for _, fate, _ in found.values()} == {"dropped"}
    assert found["b", "n1"][2] == "the original data set holds it too (validation)"
    assert found["a", "n1"][2] == "the original image b (validation) is in its component"


def test_candidates_that_are_originals_too() -> None:
    reference = pd.DataFrame([("a", "test"), ("a", "train"), ("x", "val")], columns=["image_id", "split"])
    assert both(pd.DataFrame({"image_id": ["a", "b"]}), reference) == {"a": "train"}


def test_the_most_selected_image_stays_and_ties_go_to_more_votes_then_the_smaller_id() -> None:
    ring = [("a", "b", "candidates", "duplicate"), ("b", "c", "candidates", "duplicate")]
    votes = [("a", "n1", 7, 10), ("b", "n1", 14, 20), ("c", "n1", 14, 20)]
    found = decide(votes, ring)
    assert [found[i, "n1"][1] for i in "abc"] == ["dropped", "kept", "dropped"]
    assert found["a", "n1"] == ("a", "dropped", "image b for class n1 is kept of its component")
    assert (
        found["b", "n1"][2]
        == "kept of 3 images in its component; selected by 14 of 20 workers, the highest frequency for its class, and the "
        "smallest id of those with it and as many votes"
    )
    assert places(votes, ring) == ["b n1", "c n1", "a n1"]


def test_the_class_with_the_fewest_good_candidates_gets_the_image() -> None:
    pool = [("x", "n1", 10, 10), ("y", "n1", 10, 10), ("z", "n2", 10, 10)]
    found = decide([("a", "n1", 10, 10), ("a", "n2", 7, 10), *pool])
    assert found["a", "n2"][:2] == ("a", "kept")
    assert found["a", "n2"][2] == (
        "kept for one of its 2 classes; of the component's classes that reach 0.7, n2 has the fewest candidates at 0.7 or "
        "more (2); selected by 7 of 10 workers"
    )
    assert found["a", "n1"] == ("a", "dropped", "image a for class n2 is kept of its component")


def test_only_classes_that_reach_the_highest_level_reached_count() -> None:
    pool = [("x", "n1", 10, 10), ("y", "n1", 10, 10)]
    found = decide([("a", "n1", 7, 10), ("a", "n2", 69, 100), *pool])
    assert found["a", "n1"][1] == "kept"
    assert "no other class of the component reaches 0.7" in found["a", "n1"][2]
    found = decide([("a", "n1", 65, 100), ("a", "n2", 6, 10), *pool])
    assert found["a", "n2"][1] == "kept"


def test_levels_are_compared_as_exact_fractions() -> None:
    # As binary fractions 0.7 would not be reached by 7 of 10, nor 0.3 by 3 of 10.
    for level, votes in ((0.7, 7), (0.3, 3), (0.1, 1)):
        pool = [("a", "n1", votes, 10), ("a", "n2", votes, 10), ("x", "n1", 10, 10)]
        assert decide(pool, good_frequencies=(level,))["a", "n2"][1] == "kept"


def test_below_every_level_the_most_selected_class_stays() -> None:
    found = decide([("a", "n1", 3, 10), ("a", "n2", 4, 10)])
    assert found["a", "n2"][:2] == ("a", "kept")
    assert "no class of the component reaches 0.6, and n2 has the highest frequency" in found["a", "n2"][2]
    tied = decide([("a", "n2", 0, 0), ("a", "n1", 0, 10)])
    assert tied["a", "n1"][1] == "kept"


def test_the_next_in_place_is_what_would_stay_without_those_before() -> None:
    # n2 has the fewer good candidates; when a is gone, only n1 reaches the level.
    pool = [("x", "n1", 10, 10), ("y", "n1", 10, 10)]
    votes = [("a", "n2", 8, 10), ("b", "n1", 9, 10), ("c", "n2", 5, 10), ("d", "n1", 7, 10)]
    chain = [(one, other, "candidates", "duplicate") for one, other in ("ab", "bc", "cd")]
    assert [p for p in places([*votes, *pool], chain) if p[0] in "abcd"] == ["a n2", "b n1", "d n1", "c n2"]


def test_images_of_one_photograph_are_one_component() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10)]
    found = decide(votes, copies=[("a", "p1"), ("b", "p1"), ("b", "p2"), ("elsewhere", "p2")])
    assert [found[i, "n1"][1] for i in "ab"] == ["kept", "dropped"]


def test_a_pair_without_a_verdict_holds_both_images_unless_they_are_dropped_anyway() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10), ("c", "n1", 7, 10)]
    pairs = [
        ("a", "b", "candidates", "unreviewed"),
        ("b", "t", "val", "duplicate"),
        ("c", "t", "val", "unreviewed"),
    ]
    found = decide(votes, pairs)
    assert found["a", "n1"] == ("", "unreviewed", "the pair of images a and b has no verdict")
    assert found["b", "n1"][1] == "dropped"
    assert found["c", "n1"] == ("", "unreviewed", "the pair of images c and t has no verdict")


@pytest.mark.parametrize("image", ["a", "b"])
def test_a_component_waits_for_the_pairs_of_all_its_images(image: str) -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 8, 10)]
    pairs = [("a", "b", "candidates", "duplicate"), (image, "t", "val", "unreviewed")]
    found = decide(votes, pairs)
    assert [found[i, "n1"][:2] for i in "ab"] == [("a", "unreviewed"), ("a", "dropped")]
    said = f"the pair of images {image} and t has no verdict"
    assert found["a", "n1"][2] == (said if image == "a" else f"{said}, and b is in its component")
    assert found["b", "n1"][2] == "image a for class n1 would be kept of its component"


def test_an_image_that_could_not_be_compared_is_unreviewed() -> None:
    known = {"unknown": {"a": "image a could not be compared under l2 (truncated)"}}
    found = decide([("a", "n1", 9, 10), ("b", "n1", 9, 10)], known=known)
    assert found["a", "n1"] == ("", "unreviewed", "image a could not be compared under l2 (truncated)")
    assert found["b", "n1"][1] == "free"


PAIR = [("a", "b", "candidates", "duplicate")]
POOL = [("x", "n1", 9, 10), ("y", "n2", 9, 10)]


@pytest.mark.parametrize(
    ("votes", "pairs", "said"),
    [
        # Classes: reached level, number of good candidates, frequency, WordNet ID.
        ([("a", "n2", 7, 10), ("b", "n1", 6, 10)], PAIR, "no other class of the component reaches 0.7"),
        (
            [("a", "n2", 7, 10), ("b", "n1", 10, 10), ("z", "n1", 8, 10), ("b", "n3", 1, 10)],
            PAIR,
            "of the component's classes that reach 0.7, n2 has the fewest candidates at 0.7 or more (2)",
        ),
        (
            [("a", "n2", 8, 10), ("b", "n1", 7, 10), ("b", "n3", 1, 10)],
            PAIR,
            "of the component's classes that reach 0.7, several have the fewest candidates at 0.7 or more (2), and of these "
            "n2 has the highest frequency",
        ),
        (
            [("a", "n2", 8, 10), ("a", "n1", 8, 10)],
            [],
            "of the component's classes that reach 0.7, several have the fewest candidates at 0.7 or more (2), and of these "
            "with the highest frequency n1 is the smallest WordNet ID",
        ),
        (
            [("a", "n2", 3, 10), ("a", "n1", 3, 10)],
            [],
            "no class of the component reaches 0.6, and of those with the highest frequency n1 is the smallest WordNet ID",
        ),
        # Images of one class: frequency, votes, id.
        ([("a", "n1", 8, 10), ("b", "n1", 7, 10)], PAIR, "8 of 10 workers, the highest frequency for its class"),
        (
            [("a", "n1", 8, 10), ("b", "n1", 16, 20)],
            PAIR,
            "16 of 20 workers, the highest frequency for its class, and the most votes of those with it",
        ),
        (
            [("a", "n1", 8, 10), ("b", "n1", 8, 10)],
            PAIR,
            "8 of 10 workers, the highest frequency for its class, and the smallest id of those with it and as many votes",
        ),
    ],
)  # fmt: skip
def test_the_reason_names_the_step_that_decided(votes: Votes, pairs: list[Pair], said: str) -> None:
    rows = table([*votes, *POOL], pairs).query("fate == 'kept'")
    (reason,) = rows["reason"]
    parts = reason.split("; ")
    assert parts[1 if said.startswith(("no", "of")) else -1].removeprefix("selected by ") == said
    images = len({image for image, *_ in votes} & {"a", "b"})
    assert parts[0] == (
        "kept of 2 images in its component" if images == 2 else "kept for one of its 2 classes"
    )


def test_an_override_says_for_which_of_the_image_s_classes() -> None:
    votes = [("a", "n1", 9, 10), ("b", "n1", 5, 10), ("b", "n2", 7, 10)]
    assert decide(votes, PAIR, override={"a": "b"})["b", "n2"][2] == (
        "kept of 2 images in its component; named by duplicates.override; no other class of the image reaches 0.7; "
        "selected by 7 of 10 workers"
    )


def test_without_good_frequencies_the_class_with_the_best_frequency_keeps_it() -> None:
    found = decide([("a", "n1", 9, 10), ("a", "n2", 10, 10), ("z", "n2", 10, 10)], good_frequencies=())
    assert found["a", "n2"][1:] == (
        "kept",
        "kept for one of its 2 classes; n2 has the highest frequency; selected by 10 of 10 workers",
    )


@pytest.mark.parametrize("value", [0.0, -0.1, 1.1, float("nan")])
def test_a_good_frequency_is_above_0_and_at_most_1(value: float) -> None:
    with pytest.raises(ValueError, match=f"{value:g} is no selection frequency above 0"):
        Duplicates(good_frequencies=(0.7, value))
    assert Duplicates(good_frequencies=(1.0,)).good_frequencies == (1.0,)


CHAIN = [("a", "b", "candidates", "duplicate"), ("b", "c", "candidates", "duplicate")]
THREE = [("a", "n1", 9, 10), ("b", "n1", 8, 10), ("b", "n2", 8, 10), ("c", "n1", 7, 10), ("d", "n1", 9, 10)]


def test_an_override_comes_first_and_the_rest_keeps_its_order() -> None:
    ordered = table(THREE, CHAIN, override={"a": "c"}).query("component == 'a'").sort_values("place")
    usual = table(THREE, CHAIN).query("component == 'a'").sort_values("place")
    assert ordered["image_id"].tolist() == ["c", *(i for i in usual["image_id"] if i != "c")]
    assert (
        ordered["reason"].iloc[0]
        == "kept of 3 images in its component; named by duplicates.override; selected by 7 of 10 workers"
    )
    both_classes = table(THREE, CHAIN, override={"c": "b", "a": "b"}).set_index("place")["image_id"]
    assert both_classes[[1, 2]].tolist() == ["b", "a"]


def test_an_override_cannot_save_a_component_with_an_original() -> None:
    pairs = [*CHAIN, ("b", "t", "val", "duplicate")]
    found = decide(THREE, pairs, override={"t": "c"})
    assert found["c", "n1"][1:] == (
        "dropped",
        "the original image t (validation) is in its component; duplicates.override changes nothing here",
    )


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ({"z": "a"}, r"duplicates\.override\.z: z is no candidate and near none"),
        ({"a": "z"}, r"duplicates\.override\.a: z is no candidate, so"),
        ({"d": "t"}, r"duplicates\.override\.d: t is no candidate, so"),
        ({"a": "d"}, r"duplicates\.override\.a: d is not in one component with a"),
        ({"a": "b", "c": "a"}, r"duplicates\.override\.c: a is to be kept and so is b of the same"),
    ],
)
def test_an_override_that_cannot_be_followed(override: dict[str, str], message: str) -> None:
    with pytest.raises(InputError, match=message):
        table(THREE, [*CHAIN, ("d", "t", "val", "duplicate")], override=override)


def test_flags_of_images_and_of_their_components() -> None:
    known = {"flags": {"a": {"truncated", "flat"}, "d": {"flat"}}}
    found = table(THREE, CHAIN, known=known, flags={"component": 3}).set_index(["image_id", "wnid"])["flags"]
    assert found.to_dict() == {
        ("a", "n1"): ["flat", "large_component", "truncated"],
        ("b", "n1"): ["large_component"],
        ("b", "n2"): ["large_component"],
        ("c", "n1"): ["large_component"],
        ("d", "n1"): ["flat"],
    }
    assert table(THREE, CHAIN, flags={"component": 4})["flags"].map(len).sum() == 0


@pytest.mark.parametrize("swapped", [False, True])
def test_the_last_verdict_on_a_pair_counts(swapped: bool) -> None:
    pairs = pd.DataFrame([("a", "b"), ("a", "t")], columns=["image_id", "neighbour_id"])
    one, other = ("b", "a") if swapped else ("a", "b")
    verdicts = pd.DataFrame(
        [
            (1, one, other, "different", "Ann", "2025-01-02T03:04:05Z", "two dogs"),
            (0, "a", "b", "duplicate", "Ben", "", ""),
            (2, "gone", "b", "duplicate", "Ben", "", ""),
        ],
        columns=["number", "image_id", "neighbour_id", "verdict", "reviewer", "time", "note"],
    )
    found = judged(pairs, verdicts)
    assert found["verdict"].tolist() == ["different", "unreviewed"]
    assert found["reviewer"].tolist() == ["Ann", ""]
    assert found["time"].tolist() == ["2025-01-02T03:04:05Z", ""]
    assert found["note"].tolist() == ["two dogs", ""]


def test_an_image_paired_with_itself_needs_no_verdict() -> None:
    pairs = pd.DataFrame([("a", "a"), ("a", "b")], columns=["image_id", "neighbour_id"])
    columns = ["number", "image_id", "neighbour_id", "verdict", "reviewer", "time", "note"]
    for said in ([], [(0, "a", "a", "different", "Ann", "", "")]):
        found = judged(pairs, pd.DataFrame(said, columns=columns))
        assert found.iloc[0].tolist() == ["a", "a", "duplicate", "", "", "the same pixels"]
        assert found.iloc[1]["verdict"] == "unreviewed"


def test_components_are_sorted() -> None:
    assert components(["d", "a", "e"], [("d", "b"), ("c", "b")]) == [["a"], ["b", "c", "d"], ["e"]]
    assert components([], []) == []
