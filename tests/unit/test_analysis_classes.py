"""Changes of single classes, and the figure of those that change most."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pandas as pd
import pytest

from imagenetv2.analysis import wording
from imagenetv2.analysis.class_changes import class_changes
from imagenetv2.analysis.figures.classes import ENDS, classes, extremes
from imagenetv2.analysis.figures.style import series
from imagenetv2.analysis.wording import distinct_names
from imagenetv2.evaluation.metrics.by_class import by_class
from imagenetv2.intervals import newcombe
from tests.unit.evaluation_predictions import predictions

IMAGES = {"original": 900, "new": 300, "other": 200}


@pytest.fixture(scope="module")
def per_class() -> pd.DataFrame:
    """Three models on the same images of each set."""
    frames = []
    for s, (name, images) in enumerate(IMAGES.items()):
        truth = predictions(images, classes=20, seed=s)
        for m, skill in enumerate((1.0, 2.0, 3.0)):
            rng = np.random.default_rng(10 * s + m)
            rank = np.where(rng.random(images) < 0.25 * skill, 0, 1)
            frames.append(by_class(truth.assign(rank=rank)).assign(set=name, model=f"m{m}"))
    return pd.concat(frames, ignore_index=True)


def test_changes_by_a_loop(per_class: pd.DataFrame) -> None:
    found = class_changes(per_class, 0.9).set_index(["set", "class_index"])
    assert set(found.index.get_level_values("set")) == {"new", "other"} and len(found) == 40
    for (name, index), row in found.iterrows():
        shares = {
            s: per_class[(per_class["set"] == s) & (per_class["class_index"] == index)].set_index("model")
            for s in ("original", name)
        }
        new, old = shares[name], shares["original"]
        assert row["change"] == pytest.approx(new["share"].mean() - old["share"].mean())
        assert row["lower"] == (new["share"] < old["share"]).sum() and row["models"] == 3
        assert (row["images"], row["original"]) == (new["images"].iloc[0], old["images"].iloc[0])
        low, high = newcombe(
            new["right"].mean(), int(row["images"]), old["right"].mean(), int(row["original"]), 0.9
        )
        assert (row["low"], row["high"]) == (pytest.approx(low), pytest.approx(high))


def test_the_interval_of_an_average_covers(per_class: pd.DataFrame) -> None:
    """Models that agree on most images: no narrower interval would do for them."""
    rng, inside = np.random.default_rng(5), 0
    old = pd.DataFrame({"class_index": 0, "wnid": "n", "images": 50, "set": "original", "model": ["a", "b"]})
    new = old.assign(set="new", images=10)
    for _ in range(400):
        counts = []
        for frame, p in ((old, 0.8), (new, 0.6)):
            hits = rng.random(frame["images"].iloc[0]) < p
            other = hits ^ (rng.random(hits.size) < 0.05)
            counts.append(frame.assign(right=[hits.sum(), other.sum()]))
        both = pd.concat(counts).assign(share=lambda f: f["right"] / f["images"])
        row = class_changes(both, 0.95).iloc[0]
        truth = sum(p * 0.95 + (1 - p) * 0.05 + p for p in (0.6,)) / 2 - (0.8 * 0.95 + 0.2 * 0.05 + 0.8) / 2
        inside += row["low"] <= truth <= row["high"]
    assert inside >= 0.93 * 400


def test_a_class_that_one_set_lacks_has_no_change(per_class: pd.DataFrame) -> None:
    some = per_class[~((per_class["set"] == "new") & (per_class["class_index"] == 4))]
    found = class_changes(some, 0.95)
    assert 4 not in found.loc[found["set"] == "new", "class_index"].tolist()


def test_both_ends_are_shown_those_that_lose_first(per_class: pd.DataFrame) -> None:
    changes = class_changes(per_class, 0.95).query("set == 'new'").assign(name=lambda f: f["wnid"])
    frame = extremes(changes)
    assert len(frame) == 2 * ENDS and frame["value"].is_monotonic_increasing
    assert frame["value"].iloc[0] == pytest.approx(100 * changes["change"].min())
    assert frame["value"].iloc[-1] == pytest.approx(100 * changes["change"].max())
    assert len(extremes(changes.head(5))) == 5
    assert " points [" in frame["said"].iloc[0] and frame["lower"].iloc[0].endswith(" of 3")


def test_the_figure_fits_the_schema_of_vega_lite(per_class: pd.DataFrame) -> None:
    changes = class_changes(per_class, 0.95).assign(name=lambda f: f["wnid"])
    figure = classes(changes, series({"original": "Original", "new": "New", "other": "Other"}))
    assert [panel.name for panel in figure.panels] == ["classes-new", "classes-other"]
    for panel in figure.panels:
        panel.chart.to_dict()
        assert len(panel.description) > 30


def test_classes_that_share_a_lemma_are_told_apart() -> None:
    table = pd.DataFrame({"wnid": ["n1", "n2", "n3"], "lemmas": [["crane"], ["heron"], ["crane", "derrick"]]})
    assert distinct_names(table) == {"n1": "crane (n1)", "n2": "heron", "n3": "crane (n3)"}


@pytest.mark.parametrize("moved", [True, False])
def test_sets_on_which_no_class_moves_are_said_once(moved: bool) -> None:
    from imagenetv2.templates import environment

    rows = [
        {"label": "A", "classes": 4, "lose": int(moved), "gain": 0},
        {"label": "B", "classes": 4, "lose": 0, "gain": 2 * moved},
    ]
    text = (files("imagenetv2.analysis") / "templates/metrics.html.j2").read_text("utf-8")
    start, end = text.index("<p>{% if metrics.classes"), text.index("{{ charts(figures.classes) }}")
    env = environment("imagenetv2.analysis")
    env.filters.update(wording.FILTERS)
    shown = env.from_string(text[start:end]).render(metrics={"classes": rows, "moved": moved})
    said = " ".join(shown.split())
    assert (
        "On A 1 of 4 classes loses with the whole interval and 0 gain; on B 0 of 4 classes lose" in said
    ) == moved
    assert ("On no set does a class lose or gain with its whole interval." in said) != moved
