"""The report on near-duplicates: what each search did, how near neighbours are, and what was marked."""

from __future__ import annotations

import math
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from imagenetv2.analysis.figures.distances import KINDS, bars, distances
from imagenetv2.analysis.sections.flagged import COMPONENTS, PICTURES, flagged
from imagenetv2.analysis.sections.pairs import pairs
from imagenetv2.analysis.sections.resolved import resolved
from imagenetv2.analysis.sections.searches import nearest, searches

CUTOFFS = {"l2": 200.0, "fc7": 4000.0, "ssim": 0.0}
PAIRS = pd.DataFrame(
    [
        ("a", "t", "duplicate", ["l2"], []),
        ("b", "t", "duplicate", ["l2", "fc7"], ["disagree"]),
        ("b", "c", "different", ["l2"], ["flat"]),
    ],
    columns=["image_id", "neighbour_id", "verdict", "found_by", "flags"],
)


class Stored:
    """An artifact in memory."""

    def __init__(self, searched: dict[str, int], *rows: tuple[str, int, str, float]) -> None:
        self.searched = searched
        self.rows = pd.DataFrame(rows, columns=["image_id", "rank", "neighbour_id", "distance"])

    def json(self, name: str) -> Any:
        return {"searched.json": self.searched}[name]

    def table(self, name: str) -> pd.DataFrame:
        return {"neighbours": self.rows}[name]


def artifacts() -> dict[str, Any]:
    counts = {"images": 9, "candidates": 3, "pairs": 24, "computed": 6}
    rows = [("a", 0, "t", 20.0), ("a", 1, "b", 500.0), ("c", 0, "b", 150.0), ("d", 0, "a", 900.0)]
    return {
        "l2": Stored(counts, *rows),
        "ssim": Stored({**counts, "pairs": 0, "computed": 0}, ("a", 0, "t", 0.1)),
    }


def test_what_each_search_did() -> None:
    l2, ssim = searches(artifacts(), PAIRS, CUTOFFS)
    assert (l2["found"], l2["duplicates"], l2["alone"], l2["skipped"], l2["cutoff"]) == (3, 2, 1, 0.75, "200")
    assert (ssim["found"], ssim["skipped"]) == (0, None)
    assert searches({"fc7": artifacts()["l2"]}, PAIRS, CUTOFFS)[0]["cutoff"] == "4,000"


def test_nearest_neighbours_carry_the_verdict_on_their_pair() -> None:
    found = nearest(artifacts(), PAIRS, CUTOFFS)
    assert list(found) == ["l2"]  # A cut-off of 0 is no unit.
    assert found["l2"].to_numpy().tolist() == [[0.1, "duplicate"], [0.75, "different"], [4.5, ""]]


def test_bars_hold_all_candidates_once_and_break_at_the_cutoff() -> None:
    rng = np.random.default_rng(3)
    share = np.concatenate([10 ** rng.uniform(-3, 3, 400), [0.0, 1.0, 1.0 + 1e-9, 0.01, 100.0]])
    table = pd.DataFrame({"share": share, "verdict": rng.choice(list(KINDS), len(share))})
    found = bars(table)
    for verdict in KINDS:
        mine = found[found["verdict"] == verdict]
        assert (mine["high"] - mine["low"]).sum() == (table["verdict"] == verdict).sum()
    heights = (found["high"] - found["low"]).groupby([found["left"] < 0.999]).sum()
    assert heights[True] == (share <= 1).sum() and heights[False] == (share > 1).sum()
    for _, stack in found.groupby("left"):
        ends = stack.sort_values("low")
        assert ends["low"].tolist() == [0, *ends["high"].tolist()[:-1]]
    assert math.isclose(found["left"].min(), 0.01) and math.isclose(found["right"].max(), 100)


def test_the_figure_is_valid_and_says_how_many_are_near() -> None:
    figure = distances(nearest(artifacts(), PAIRS, CUTOFFS))
    assert figure is not None
    (panel,) = figure.panels
    assert "2 of 3 candidates are at or below the cut-off" in panel.description
    alt.LayerChart.from_dict(dict(panel.chart.to_dict()))
    assert distances({}) is None and distances({"l2": pd.DataFrame(columns=["share", "verdict"])}) is None


class Pictures:
    """An album that says whose picture it was asked for."""

    def picture(self, origin: str, image_id: str, side: int) -> str:
        return f"{origin}/{image_id}"


@pytest.mark.parametrize("components", [0, 2, COMPONENTS + 2])
def test_large_components_are_shown_largest_first(components: int) -> None:
    rows = [
        (f"{c}{i:02d}", "n1", f"{c}00", "kept" if i == 1 else "dropped", ["large_component"])
        for c in range(components)
        for i in range(c + PICTURES - 1)
    ]
    rows += [("x", "n1", "", "free", ["flat", "truncated"]), ("x", "n2", "", "free", ["flat", "truncated"])]
    fates = pd.DataFrame(rows, columns=["image_id", "wnid", "component", "fate", "flags"])
    found = flagged(fates, PAIRS, Pictures())  # type: ignore[arg-type]
    assert (found["large"], found["truncated"], found["disagree"]) == (components, 1, 1)
    assert found["flat"] == {"images": 1, "pictures": [{"id": "x", "src": "candidates/x"}]}
    sizes = [component["images"] for component in found["components"]]
    assert sizes == sorted((c + PICTURES - 1 for c in range(components)), reverse=True)[:COMPONENTS]
    for component in found["components"]:
        assert len(component["pictures"]) == min(component["images"], PICTURES)
        assert component["kept"] == f"{component['name'][0]}01"


def test_what_became_of_components_is_counted_in_images() -> None:
    rows = [
        ("a", "n1", "a", "kept"), ("a", "n2", "a", "dropped"), ("b", "n1", "a", "dropped"),  # two images
        ("c", "n1", "c", "kept"), ("c", "n2", "c", "dropped"),  # one image, found for two classes
        ("d", "n1", "d", "dropped"), ("d", "n2", "d", "dropped"),  # an original image
        ("e", "n1", "e", "unreviewed"), ("f", "n1", "e", "dropped"), ("g", "n1", "", "free"), ("h", "n1", "", "unreviewed"),
    ]  # fmt: skip
    fates = pd.DataFrame(rows, columns=["image_id", "wnid", "component", "fate"])
    assert resolved(fates) == {"kept": 1, "one_class": 1, "dropped": 3, "unreviewed": 2}
    assert set(resolved(fates.head(0)).values()) == {0}


def test_pairs_of_an_image_with_itself_are_counted_apart() -> None:
    table = pd.DataFrame(
        [("a", "a", "duplicate"), ("a", "t", "duplicate"), ("b", "t", "unreviewed"), ("b", "a", "different")],
        columns=["image_id", "neighbour_id", "verdict"],
    )
    found = pairs(table, CUTOFFS, 0, Pictures())  # type: ignore[arg-type]
    assert (found["total"], found["itself"]) == (4, 1)
    assert found["verdicts"] == {"duplicate": 1, "different": 1, "unreviewed": 1}
