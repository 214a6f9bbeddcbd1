"""Rows of a scorecard against independent computations: intervals, lines, ranks, and what is said of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import binomtest, norm
from sklearn.isotonic import IsotonicRegression
from statsmodels.stats.proportion import confint_proportions_2indep

from imagenetv2.analysis.sampled_lines import Sampled
from imagenetv2.evaluation.metrics.summary import summary
from imagenetv2.evaluation.names import published
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.running.sample import Difference
from imagenetv2.evaluation.scorecard import files, plot, study, terminal
from imagenetv2.evaluation.scorecard.chance import reassigned, suspicion
from imagenetv2.evaluation.scorecard.columns import COLUMNS
from imagenetv2.evaluation.scorecard.comparable import NO, UNPUBLISHED, YES, verdict
from imagenetv2.evaluation.scorecard.entrants import Entrant
from imagenetv2.evaluation.scorecard.labels import shortened, spread
from imagenetv2.evaluation.scorecard.lines import Count, Line, effect
from imagenetv2.evaluation.scorecard.rows import Original, Row, Scored, row
from imagenetv2.evaluation.scorecard.sets import Opened
from imagenetv2.evaluation.scorecard.shelf import Made
from imagenetv2.evaluation.scorecard.wanted import Wanted
from imagenetv2.evaluation.settings import Mode, Model
from tests.unit.scorecard_toys import opened, whole_set

WANTED = Wanted(("x",))
VAL = opened("val", whole_set("imagenet-val", 1))
MATCHED = opened("v2", whole_set("imagenetv2-matched-frequency", 1))
OTHER = opened("v2", whole_set(None, 1))
PART = opened("v2", whole_set("imagenetv2-top-images", 1, remarks=("half of it is missing",)))
PART_VAL = opened("val", whole_set("imagenet-val", 1, remarks=("half of it is missing",)))
PREPARED = Preprocessing(Cut((224, 224), 256, "bicubic"), (127.0,) * 3, (128.0,) * 3, 1.0)


def entrant(name: str = "m", architecture: str = "resnet18.a1_in1k", kind: str = "timm") -> Entrant:
    model = Model(name=name, kind=kind, architecture=architecture)
    facts = {
        "library": "timm",
        "version": "1.0",
        "architecture": architecture.partition(".")[0],
        "tag": architecture.partition(".")[2],
        "preprocessing": PREPARED.to_json(),
    }
    return Entrant(model, facts)


def scored(
    of: Opened, right: int, who: Entrant | None = None, difference: Difference | None = None
) -> Scored:
    """A model that has the first ``right`` images right, and is surer of later ones."""
    labels = of.set.labels
    rank = (np.arange(labels.size) >= right).astype(np.int64)
    table = pd.DataFrame(
        {
            "image_id": of.set.ids,
            "wnid": np.asarray(of.set.wnids)[labels],
            "class_index": labels,
            "rank": rank,
            "top5": [
                [(i + 1) % 1000, i, 5, 6, 7] if r else [i, 1, 2, 3, 4]
                for i, r in zip(labels, rank, strict=True)
            ],
            "probability": 0.4,
            "top_probability": np.linspace(0.2, 0.9, labels.size),
        }
    )
    return Scored(who or entrant(), of, table, Made("key", "ab" * 32, "cpu", 8, 20.0, False, difference))


def test_accuracy_has_the_clopper_pearson_interval_and_the_metrics_of_the_stage() -> None:
    one = scored(VAL, 713)
    found = row(one, None, WANTED)
    exact = binomtest(713, 1000).proportion_ci(0.95, "exact")
    assert (found["low"], found["high"]) == (pytest.approx(100 * exact.low), pytest.approx(100 * exact.high))
    assert (found["top1"], found["right"], found["images"]) == (pytest.approx(71.3), 713, 1000)
    whole = summary(one.predictions).set_index("metric")["value"]
    assert found["calibration"] == pytest.approx(100 * whole["rms_calibration_error"])
    assert found["aurra"] == pytest.approx(100 * whole["aurra"])
    assert found["top5"] == pytest.approx(100 * whole["top5"])
    assert list(found) == list(COLUMNS)


def test_the_input_is_stated_on_the_scale_of_one() -> None:
    found = row(scored(VAL, 713), None, WANTED)
    assert (found["input_size"], found["resize"], found["crop"]) == ("224x224", "256", "0.875")
    assert (found["mean"], found["std"]) == ("0.498 0.498 0.498", "0.502 0.502 0.502")
    assert found["images_per_second"] == 50


@pytest.mark.parametrize(("old", "new"), [(760, 640), (500, 500), (999, 1000), (0, 3)])
def test_the_drop_is_of_independent_samples(old: int, new: int) -> None:
    found = row(scored(MATCHED, new), Original(Count(old, 1000), VAL), WANTED)
    low, high = confint_proportions_2indep(old, 1000, new, 1000, method="newcomb", compare="diff")
    assert found["drop"] == pytest.approx((old - new) / 10)
    assert found["drop_low"] == pytest.approx(100 * low, abs=1e-9)
    assert found["drop_high"] == pytest.approx(100 * high, abs=1e-9)


def test_expected_accuracy_is_on_the_line_through_the_studys_networks() -> None:
    found = row(scored(MATCHED, 640), Original(Count(760, 1000), VAL), WANTED)
    table = published.models().query("family != 'Fisher vectors'")
    slope, offset = np.polyfit(table["original_top1"] / 500, table["matched_frequency_top1"] / 100, 1)
    assert len(table) == 64
    assert found["expected"] == pytest.approx(slope * 76 + offset)
    assert found["expected_printed"] == pytest.approx(1.11 * 76 - 20.2)
    assert abs(found["expected"] - found["expected_printed"]) < 0.1
    assert found["effective"] == pytest.approx(64 - found["expected"])


def test_the_interval_of_effective_robustness_is_nearly_that_of_a_normal_sum() -> None:
    """Var(y − a x − b) = Var(y) + a² Var(x) + what the line is uncertain by at x, for counts this large."""
    line = study.line("imagenetv2-matched-frequency")
    assert line is not None
    old, new = Count(38_000, 50_000), Count(6_400, 10_000)
    found = effect(line, old, new, "name")
    at = line.sampled.slopes * 76 + line.sampled.offsets
    variance = 1e4 * 0.64 * 0.36 / 10_000 + line.sampled.slope**2 * 1e4 * 0.76 * 0.24 / 50_000 + np.var(at)
    half = norm.ppf(0.975) * np.sqrt(variance)
    assert found.low == pytest.approx(found.effective - half, abs=0.06)
    assert found.high == pytest.approx(found.effective + half, abs=0.06)
    assert effect(line, old, new, "name") == found
    assert effect(line, old, new, "another name") != found


def test_distances_from_a_line_need_both_whole_sets() -> None:
    whole, part = Original(Count(760, 1000), VAL), Original(Count(760, 1000), PART_VAL)
    for of, original in ((MATCHED, None), (MATCHED, part), (PART, whole), (OTHER, whole)):
        found = row(scored(of, 640), original, WANTED)
        assert found["expected"] is None
        assert found["effective"] is None
        assert (found["drop"] is None) == (original is None)
    assert row(scored(PART, 640), whole, WANTED)["rank"] is None


def test_a_network_of_the_study_is_ranked_among_the_others_beside_its_own_number() -> None:
    (mine,) = (r for r in published.rows() if r.name == "resnet50")
    kind, _, architecture = mine.network.partition(":")
    found = row(scored(MATCHED, 635, entrant("r", architecture, kind)), None, WANTED)
    table = published.models().set_index("name")["matched_frequency_top1"] / 100
    assert found["published"] == pytest.approx(table["resnet50"])
    assert found["published_as"].startswith("resnet50")
    assert found["rank"] == 1 + int((table.drop("resnet50") > 63.5).sum())
    assert found["ranked"] == 67
    assert row(scored(MATCHED, 635), None, WANTED)["ranked"] == 68


@pytest.mark.parametrize(
    ("of", "mode", "word"),
    [(VAL, "reference", YES), (OTHER, "reference", UNPUBLISHED), (PART, "reference", NO), (VAL, "bf16", NO)],
)
def test_what_may_be_set_beside_published_numbers(of: Opened, mode: Mode, word: str) -> None:
    found, why = verdict(of.set, mode)
    assert found == word
    assert bool(why) == (word == NO)


def test_permuted_labels_are_told_from_random_answers() -> None:
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(1000), 10)
    said = np.where(rng.random(labels.size) < 0.9, labels, rng.integers(0, 1000, labels.size))
    order = np.array(sorted(range(1000), key=str))
    assert suspicion(labels, said, 1000) == ""
    as_folders = np.argsort(order)[labels]
    assert "another order" in suspicion(as_folders, said, 1000)
    assert 0.88 < reassigned(as_folders, said) < 0.92
    guesses = rng.integers(0, 1000, labels.size)
    assert "near chance" in suspicion(labels, guesses, 1000)
    assert "order:" not in suspicion(labels, guesses, 1000)
    assert "near chance" in suspicion(labels, np.full(labels.size, 3), 1000)
    assert suspicion(labels[:20], guesses[:20], 1000) == "", "too few to say"


def test_names_stand_apart_and_as_near_as_may_be() -> None:
    rng = np.random.default_rng(1)
    for size in (1, 2, 7, 20):
        wanted = rng.choice(rng.uniform(0, 300, 3), size) + rng.normal(0, 5, size)
        found = spread(wanted.tolist(), 14, 0, 340)
        order = np.argsort(wanted, kind="stable")
        assert (np.diff(found[order]) >= 14 - 1e-9).all()
        assert found.min() >= 0
        assert found.max() <= 340 + 1e-9
        steps = 14 * np.arange(size)
        oracle = IsotonicRegression(y_min=0, y_max=340 - steps[-1]).fit_transform(
            np.arange(size), wanted[order] - steps
        )
        np.testing.assert_allclose(found[order], oracle + steps, atol=1e-6)
    crowded = spread([5.0] * 10, 14, 0, 90)
    np.testing.assert_allclose(np.sort(crowded), np.linspace(0, 90, 10))


def test_two_names_are_where_least_squares_puts_them() -> None:
    best = minimize(
        lambda p: (p[0] - 10) ** 2 + (p[1] - 13) ** 2,
        [5.0, 25.0],
        constraints={"type": "ineq", "fun": lambda p: p[1] - p[0] - 8},
    )
    np.testing.assert_allclose(spread([10.0, 13.0], 8, 0, 100), best.x, atol=1e-4)


def test_long_names_keep_their_ends() -> None:
    assert shortened("abc", 5) == "abc"
    assert shortened("abcdefghij", 5) == "ab…ij"
    assert len(shortened("x" * 90, 30)) == 30


def rows_of(count: int) -> list[Row]:
    found = []
    for i in range(count):
        who, old = entrant(f"network_{i:02d}.with_a_long_name_of_its_weights"), 700 + 9 * i
        original = scored(VAL, old, who)
        found += [
            row(original, None, WANTED),
            row(scored(MATCHED, old - 110, who), Original(original.count, VAL), WANTED),
        ]
    return found


@pytest.mark.parametrize("count", [1, 20])
def test_the_plot_has_every_model_its_name_and_no_overlap(count: int) -> None:
    rows = rows_of(count)
    figure = plot.plot(rows, [VAL, MATCHED])
    assert figure is not None
    (panel,) = figure.panels
    made = files.drawn(figure)
    assert set(made) == {"plot.svg", "plot.png"}
    svg = made["plot.svg"].decode()
    assert "var(--" not in svg
    assert svg.count(">network_") == count
    tables = [t for t in panel.specification["datasets"].values() if t and "place" in t[0]]
    places = sorted(mark["place"] for table in tables for mark in table if mark.get("name"))
    assert len({round(place, 3) for place in places}) == count
    assert all(str(r["model"])[:10] in panel.description for r in rows)


def test_without_a_pair_of_sets_the_plot_shows_accuracies() -> None:
    rows = [r for r in rows_of(2) if r["set"] == MATCHED.name]
    figure = plot.plot(rows, [MATCHED])
    assert figure is not None
    assert [panel.name for panel in figure.panels] == [f"plot-{MATCHED.name}"]
    assert figure.panels[0].rows
    assert plot.plot([], [MATCHED]) is None


def test_the_terminal_says_it_in_a_table_and_in_words() -> None:
    rows = rows_of(2)
    lines = terminal.tables(rows, [VAL, MATCHED])
    head = next(line for line in lines if line.startswith("model") and "above the line" in line)
    places = [lines[i].index(" [") for i in range(len(lines)) if lines[i].startswith("network")]
    assert head.split()[0] == "model"
    assert len(set(places)) <= 2, "columns are aligned"
    assert any(line.startswith("line: 1.11·x − 20.3") for line in lines)
    (first, second) = [line for line in terminal.words(rows, [VAL, MATCHED]) if line]
    assert "not told from the line (+" in first
    assert "rank" in second
    assert "ReaL" not in "\n".join(lines), "columns in which nothing stands are left out"


def test_a_fast_mode_says_how_far_it_is_from_reference() -> None:
    one = scored(MATCHED, 600, difference=Difference(64, 0.984375, 0.0123))
    found = row(one, None, Wanted(("x",), mode="bf16"))
    (sentence,) = terminal.fast([found])
    assert "98.4 % of 64 sampled images" in sentence
    assert "0.012" in sentence
    assert found["mode"] == "bf16"
    assert found["comparable"] == NO


def test_a_guessed_input_is_said() -> None:
    who = entrant()
    guessed = Entrant(who.model, {**who.facts, "assumed": ["mean", "std"]})
    assert "mean, std" in row(scored(VAL, 700, guessed), None, WANTED)["note"]


def test_ranks_among_the_study_are_of_all_its_models() -> None:
    found = study.accuracies("imagenet-val")
    assert len(found) == 67
    assert found["alexnet"] == pytest.approx(
        published.models().set_index("name").loc["alexnet", "original_top1"] / 500
    )
    assert study.line("imagenet-val") is None
    assert study.line(None) is None
    assert study.accuracies("imagenet-a").empty


def test_the_page_of_the_manual_lists_the_columns() -> None:
    text = (Path(__file__).parents[2] / "docs/evaluation.md").read_text("utf-8")
    assert text.endswith("\n".join(f"| `{name}` | {meaning} |" for name, meaning in COLUMNS.items()) + "\n")


def compared_at(old: int, new: int = 640, of: Opened = MATCHED) -> Row:
    """A row of a model with so many of ImageNet's 1,000 images right."""
    return row(scored(of, new), Original(Count(old, 1000), VAL), WANTED)


@pytest.mark.parametrize(
    ("old", "expected", "extrapolated"),
    [(1, False, False), (464, False, False), (466, True, True), (560, True, True), (566, True, False),
     (828, True, False), (830, True, True), (928, True, True), (930, False, False), (1000, False, False)],
)  # fmt: skip
def test_the_line_is_used_where_it_is_known_and_ten_points_beyond(
    old: int, expected: bool, extrapolated: bool
) -> None:
    """The study's 64 networks have 56.5 to 82.9 % on ImageNet."""
    x, _ = published.points("matched_frequency")
    assert (round(x.min(), 1), round(x.max(), 1)) == (56.5, 82.9)
    found = compared_at(old)
    assert (found["expected"] is not None) == (found["effective"] is not None) == expected
    assert bool(found["extrapolated"]) == extrapolated
    said = terminal.sentence(found, "new", "old")
    assert ("extrapolated: the line is known from 57 to 83 %" in said) == extrapolated
    if not expected:
        assert found["missing"] == "the line is known from 57 to 83 %"
        assert found["effective_low"] is found["expected_printed"] is None
        assert "line" not in said


def test_an_expected_accuracy_is_one() -> None:
    steep = Line("a test", Sampled(2.0, -100.0, np.array([2.0]), np.array([-100.0])), 55.0, 95.0)
    assert [steep.says(x) for x in (44.0, 46.0, 51.0, 99.0, 100.0)] == [False, False, True, True, True]
    over = Line("a test", Sampled(2.0, -90.0, np.array([2.0]), np.array([-90.0])), 55.0, 94.0)
    assert [over.says(x) for x in (94.0, 96.0)] == [True, False]


def test_networks_scatter_about_the_line_as_least_squares_says() -> None:
    line = study.line("imagenetv2-matched-frequency")
    assert line is not None
    x, y = published.points("matched_frequency")
    left = y - np.polyval(np.polyfit(x, y, 1), x)
    assert line.scatter == pytest.approx(np.sqrt((left**2).sum() / 62))


def test_each_reason_for_no_distance_is_its_own() -> None:
    strange = opened("v2", whole_set("imagenetv2-of-another-kind", 1))
    reasons = [compared_at(760, of=of)["missing"] for of in (PART, OTHER, strange)]
    assert reasons[0].startswith("part of a set")
    assert "not recognised" in reasons[1] and "imagenetv2-matched-frequency" in reasons[1]
    assert reasons[2] == "no line for this set"


def test_no_drop_between_sets_of_other_classes() -> None:
    other = whole_set("imagenetv2-matched-frequency", 1, range(0, 1000, 2), ("half",))
    fewer = replace(whole_set("imagenet-r", 1, range(200)), classes=np.arange(200))
    for of in (other, fewer):
        found = compared_at(760, 100, opened("v2", of))
        assert found["drop"] is found["drop_low"] is found["expected"] is None
        assert "the two sets have other classes" in found["missing"]
    mine = scored(opened("v2", other), 100)
    rows = [row(scored(VAL, 760), None, WANTED), row(mine, Original(Count(760, 1000), VAL), WANTED)]
    figure = plot.plot(rows, [VAL, mine.of])
    assert figure is not None and [panel.rows for panel in figure.panels] == [True, True]
    assert any(line.startswith("no drop and no distance") for line in terminal.tables(rows, [VAL, mine.of]))


def test_weights_of_ones_own_are_not_the_study_s(tmp_path: Path) -> None:
    (mine,) = (r for r in published.rows() if r.name == "resnet50")
    kind, _, architecture = mine.network.partition(":")
    who = entrant("r", architecture, kind)
    own = replace(who, model=who.model.model_copy(update={"weights": tmp_path / "w.pth"}))
    found = row(scored(MATCHED, 635, own), None, WANTED)
    assert found["published"] is found["published_as"] is None
    assert found["ranked"] == 68


def test_a_distance_within_chance_is_none() -> None:
    found = compared_at(760)
    assert found["effective_low"] < 0 < found["effective_high"]
    assert "not told from the line (" in terminal.sentence(found, "new", "old")
    far = compared_at(760, 900)
    assert "points above the line" in terminal.sentence(far, "new", "old")


def test_a_part_s_drop_is_not_the_headline() -> None:
    said = terminal.sentence(compared_at(760, of=PART), "new", "old")
    assert said.startswith("m on new: 64.0 [60.9, 67.0] %, 12.0 points less than on old")


def test_calibration_stands_beside_what_chance_gives() -> None:
    one = scored(VAL, 713)
    found = row(one, None, WANTED)
    whole = summary(one.predictions).set_index("metric")["value"]
    assert found["calibration_by_chance"] == pytest.approx(100 * whole["rms_calibration_error_by_chance"])
    shown = terminal.calibration(found)
    assert shown == f"{found['calibration']:.1f} ({found['calibration_by_chance']:.1f})"


def test_the_heading_says_how_many_classes_have_images() -> None:
    few = opened("val", whole_set("imagenet-val", 1, range(100)))
    assert terminal.heading(few) == "ImageNet: 100 images of 100 of 1,000 classes (in memory)"
    assert terminal.heading(VAL) == "ImageNet: 1,000 images of 1,000 classes (in memory)"


def test_the_line_is_dashed_where_no_network_of_the_study_is() -> None:
    lines = plot._lines("imagenetv2-matched-frequency", (40.0, 100.0), (0.0, 100.0))[1:]
    spans = [
        (chart.mark.strokeDash, *(point["x"] for point in json.loads(chart.data.values))) for chart in lines
    ]
    assert [(dash, round(low), round(high)) for dash, low, high in spans] == [
        ([3, 3], 40, 57), ([1, 0], 57, 83), ([3, 3], 83, 100),
    ]  # fmt: skip


def test_bars_that_end_at_100_are_within_the_frame() -> None:
    figure = plot.plot([row(scored(VAL, 1000), None, WANTED)], [VAL])
    assert figure is not None
    domains = [
        layer["encoding"]["x"]["scale"]["domain"]
        for layer in figure.panels[0].specification["layer"]
        if "scale" in layer["encoding"].get("x", {})
    ]
    assert domains and all(high > 100 for _, high in domains)
