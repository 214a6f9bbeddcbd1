"""Figures and tables for a paper: what they show of the analysis's tables."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from imagenetv2.analysis import exports, scripts
from imagenetv2.analysis.figures.accuracy import Axes, Lines, accuracy, words
from imagenetv2.analysis.figures.examples import examples
from imagenetv2.analysis.figures.figure import Figure, for_page, for_paper
from imagenetv2.analysis.figures.frequencies import shares
from imagenetv2.analysis.figures.influence import strongest
from imagenetv2.analysis.figures.order import moves
from imagenetv2.analysis.figures.paired import KINDS, cells, evenly
from imagenetv2.analysis.figures.renderer import ordered
from imagenetv2.analysis.figures.robustness import ENDS, extremes
from imagenetv2.analysis.figures.style import PALETTE, SHAPES, series
from imagenetv2.analysis.figures.truth import regression
from imagenetv2.analysis.findings import Findings, first_of
from imagenetv2.analysis.plates import Votes, plates
from imagenetv2.analysis.sections.quality import FEW
from imagenetv2.analysis.sections.quality import extremes as extreme_classes
from imagenetv2.duplicates.metrics import METRICS
from tests.unit.analysis_results import results
from tests.unit.report_inputs import LABELS


@pytest.fixture(scope="module")
def found() -> Findings:
    tables = {name.removesuffix(".parquet"): frame for name, frame in results(LABELS, 7).items()}
    return Findings(labels=LABELS, level=0.95, lines_in_order=("this run",), **tables)


@pytest.fixture(scope="module")
def drawn(found: Findings) -> dict[str, Figure]:
    rng = np.random.default_rng(1)
    observed = {name: rng.binomial(10, 0.7, 60) / 10 for name in LABELS}
    known = {
        "original": ("validation images", observed["original"], rng.uniform(0, 1, 60)),
        "candidates": ("candidates", observed["threshold"], rng.uniform(0, 1, 60)),
    }
    verdicts = np.array(["duplicate", "different", "unreviewed"])
    share = 10 ** rng.uniform(-3, 3, 90)
    nearest = {
        metric: pd.DataFrame(
            {"share": share, "verdict": np.where(share <= 1, verdicts[rng.integers(0, 3, 90)], "")}
        )
        for metric in METRICS
    }
    return plates(found, Votes(observed, known, nearest), rng)


def lines(found: Findings) -> Lines:
    return Lines(first_of(found.fits), first_of(found.bands), found.groups_drawn)


def data(figure: Figure, panel: int, column: str) -> list[dict[str, object]]:
    """The table of a panel that has a column."""
    tables = figure.panels[panel].specification["datasets"].values()
    (table,) = [t for t in tables if column in t[0]]
    return table


def test_charts_fit_the_schema_of_vega_lite(drawn: dict[str, Figure]) -> None:
    """Checked here, since a run leaves the check out."""
    panels = [panel for figure in drawn.values() for panel in figure.panels]
    assert len(panels) == 6 * 3 + 4 + 1 + 2 + 2 + 1 + len(METRICS)
    for panel in panels:
        panel.chart.to_dict()


def test_panels_have_names_of_their_own_and_say_what_they_show(drawn: dict[str, Figure]) -> None:
    panels = [panel for figure in drawn.values() for panel in figure.panels]
    assert len({panel.name for panel in panels}) == len(panels)
    assert all(len(panel.description) > 30 for panel in panels)


def test_page_and_paper_draw_the_same_chart(drawn: dict[str, Figure]) -> None:
    figure = drawn["accuracy"]
    paper = for_paper(figure, "Liberation Sans")
    for panel, part in zip(figure.panels, paper["concat"], strict=True):
        page = for_page(panel)
        assert page["layer"] == part["layer"] and page["width"] == "container"
        assert page["datasets"].items() <= paper["datasets"].items()


def test_accuracy_places_models_and_line(found: Findings, drawn: dict[str, Figure]) -> None:
    wide = found.accuracies.pivot(index="model", columns="set", values="top1")
    points = pd.DataFrame(data(drawn["accuracy"], 0, "x_low")).set_index("model")
    assert points["x"].to_numpy() == pytest.approx(100 * wide["original"].to_numpy(), rel=1e-5)
    assert points["y"].to_numpy() == pytest.approx(100 * wide["matched_frequency"].to_numpy(), rel=1e-5)
    probit = pd.DataFrame(data(drawn["accuracy_probit"], 0, "x_low")).set_index("model")
    assert probit["x"].to_numpy() == pytest.approx(norm.ppf(wide["original"].to_numpy()), rel=1e-4)
    band = found.bands[(found.bands["set"] == "threshold") & (found.bands["scale"] == "linear")]
    line = pd.DataFrame(data(drawn["accuracy"], 1, "low"))
    assert line["high"].to_numpy() == pytest.approx(np.clip(band["high"], None, 100).to_numpy(), rel=1e-4)


def test_probit_axes_hold_accuracies_of_0_and_1() -> None:
    axes = Axes("probit", (0.2, 99.8))
    assert np.isfinite(axes.at([0, 50, 100])).all()
    assert axes.at(50) == pytest.approx(0)


def test_many_families_share_one_shape(found: Findings) -> None:
    many = found.accuracies.assign(family=found.accuracies["model"])
    figure = accuracy(many, lines(found), found.sets, "linear")
    text = json.dumps(figure.panels[0].specification)
    assert '"range": ["circle"]' in text and '"legend": {' not in text


def test_lines_in_words(found: Findings) -> None:
    one = found.main_fits.head(1).assign(slope=1.1134, slope_low=1.07, slope_high=1.19, offset=-20.24,
                                         offset_low=-26.0, offset_high=-17.5, scale="linear")  # fmt: skip
    assert (
        words(Lines(one, found.bands, ["all"]))
        == "slope 1.11  [1.07, 1.19]\noffset −20.2  [−26.0, −17.5] points"
    )
    assert words(Lines(one.head(0), found.bands, ["all"])) == "no line: the models do not differ"
    assert "[" not in words(Lines(one.assign(slope_low=np.nan, offset_low=np.nan), found.bands, ["all"]))
    two = pd.concat([one, one.assign(group="networks", slope=1.2)])
    assert words(Lines(two, found.bands, ["all", "networks"])).splitlines() == [
        "all: 1.11  [1.07, 1.19]",
        "networks: 1.20  [1.07, 1.19]",
    ]


def test_the_largest_family_has_a_line_where_it_is_fitted(found: Findings) -> None:
    assert found.groups_drawn == ["all"]
    both = pd.concat([found.fits, found.fits.assign(group="family 0")])
    assert replace(found, fits=both).groups_drawn == ["all", "family 0"]


def test_order_counts_places() -> None:
    table = pd.DataFrame(
        {"model": list("abcabc"), "set": ["original"] * 3 + ["new"] * 3, "rank": [1, 2, 3, 3, 1, 2]}
    )
    frame = moves(table, "new")
    assert frame["steps"].tolist() == [-2, 1, 1]
    assert frame["named"].tolist()[0] == "a"


def test_influence_shows_families_then_the_strongest_models() -> None:
    table = pd.DataFrame(
        {
            "without": ["model"] * 14 + ["family"],
            "left_out": [f"m{i:02d}" for i in range(14)] + ["networks"],
            "leverage": 0.1, "cook": 0.2, "slope": [1 + 0.01 * i for i in range(14)] + [1.001],
        }
    )  # fmt: skip
    frame = strongest(table, 1.0)
    assert frame["name"].tolist() == ["all networks", *(f"m{i:02d}" for i in range(13, 3, -1))]
    assert frame["said"].iloc[1] == "1.13"


def test_robustness_shows_both_ends() -> None:
    table = pd.DataFrame({"model": [f"m{i:02d}" for i in range(40)], "effective": np.arange(40.0)})
    table = table.assign(effective_low=table["effective"] - 1, effective_high=table["effective"] + 1)
    names = extremes(table)["name"].tolist()
    assert names == [f"m{i:02d}" for i in [*range(39, 39 - ENDS, -1), *range(ENDS - 1, -1, -1)]]
    assert extremes(table.head(3))["said"].tolist()[0] == "+2.0 points [+1.0, +3.0]"


def test_paired_tests_are_told_apart_by_their_adjusted_p() -> None:
    table = pd.DataFrame(
        {
            "model": ["a", "a", "b", "a"], "other": ["b", "c", "c", "z"],
            "difference": [0.02, -0.03, 0.04, 0.5], "adjusted": [0.001, 0.04, 0.2, 0.0],
        }
    )  # fmt: skip
    frame = cells(table, ["a", "b", "c"], 0.95)
    kinds = [list(KINDS)[k] for k in frame["kind"]]
    assert kinds == ["as on the original", "the other way round", "not told apart"]
    assert frame["points"].tolist() == [2, -3, 4]
    assert evenly([str(i) for i in range(100)], 3) == ["0", "50", "99"]


def test_bars_count_every_image_once() -> None:
    found = shares(np.array([0.0, 0.05, 0.1, 1.0, 0.7, 0.7]))
    assert found.sum() == pytest.approx(100) and found[7] == pytest.approx(100 / 3)
    assert shares(np.array([])).tolist() == [0] * 11


def test_regression_averages_the_true_frequency() -> None:
    frame = regression(np.array([0.5] * 5 + [0.9] * 4), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 1, 1, 1, 1]))
    assert frame["observed"].tolist() == [0.5] and frame["true"].tolist() == pytest.approx([0.3])


def test_sets_differ_in_colour_and_shape() -> None:
    shown = series({"original": "O", **{f"s{i}": str(i) for i in range(6)}})
    assert len({one.css for one in shown.values()}) == 7
    assert len({one.shape for one in list(shown.values())[1:]}) == len(SHAPES)
    assert all(one.css in PALETTE for one in shown.values())


@pytest.mark.parametrize("dress", [0, 1])
def test_colours_stand_out_from_the_paper(dress: int) -> None:
    """WCAG 2.1: text at 4.5 to 1, marks at 3 to 1."""

    def luminance(colour: str) -> float:
        parts = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
        linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
        return float(linear @ [0.2126, 0.7152, 0.0722])

    paper = luminance(PALETTE["paper"][dress])
    for name, values in PALETTE.items():
        one, other = sorted((paper, luminance(values[dress])), reverse=True)
        least = {"ink": 4.5, "muted": 4.5, "link": 4.5, "paper": 1, "sheet": 1, "rule": 1, "drop": 1}
        assert (one + 0.05) / (other + 0.05) >= least.get(name, 3), name


def test_specifications_cannot_end_their_script_element(found: Findings) -> None:
    named = found.accuracies.assign(model=found.accuracies["model"] + "</script><b>")
    figure = accuracy(named, lines(found), found.sets, "linear")
    text = str(scripts.specification(figure.panels[0]))
    assert "<" not in text and json.loads(text)["layer"]
    assert scripts.inert("a = '</script>'") == "a = '<\\/script>'"


def test_lists_of_resources_are_sorted_and_nothing_moves() -> None:
    pdf = b"<<\n  /XObject <<\n      /xo2 9 0 R\n      /xo10 7 0 R\n    >>\n>>\nstream\n\x00\xff\n"
    assert ordered(pdf).index(b"/xo10") < ordered(pdf).index(b"/xo2")
    assert len(ordered(pdf)) == len(pdf) and ordered(ordered(pdf)) == ordered(pdf)


def test_examples_escape_names() -> None:
    rows = [{"label": "Original", "css": "original", "pictures": [{"src": "data:image/jpeg;base64,AA=="}]}]
    svg = examples([{"name": "pots & <pans>", "rows": rows}])
    assert "pots &amp; &lt;pans&gt;" in svg and svg.count("<image") == 1


def test_tables_for_a_paper(found: Findings) -> None:
    files = exports.exports(found)
    assert {name.split(".")[0] for name in files} == {"accuracies", "groups", "fits", "rules"}
    rows = files["accuracies.md"].splitlines()
    assert len(rows) == 2 + 7 and len({row.count("|") for row in rows}) == 1
    best = found.accuracies[found.accuracies["set"] == "original"].sort_values("rank").iloc[0]
    assert rows[2].startswith(f"| {best['model']} | {best['family']} | {100 * best['top1']:.1f} [")
    tex = files["accuracies.tex"]
    assert "\\toprule" in tex and "model\\_0" in tex and "%," not in tex.replace("\\%,", "")
    assert not re.search(r"[−–²\u00a0]", "".join(v for k, v in files.items() if k.endswith(".tex")))
    many = pd.DataFrame({"a": range(exports.PAGE + 1)})
    assert "longtable" in exports.latex(many) and "longtable" not in tex


def test_of_many_classes_those_that_change_most_are_shown() -> None:
    wnids = [f"n{i:03d}" for i in range(100)]
    frames = [
        pd.DataFrame({"wnid": wnids, "class_index": range(100), "set": name, "top1": top1})
        for name, top1 in (("original", 0.5), ("new", np.linspace(0, 1, 100)))
    ]
    shown = extreme_classes(pd.concat(frames))
    assert shown == [*wnids[:FEW], *wnids[-FEW:]]
    assert extreme_classes(pd.concat(frames).query("class_index < 10")) == wnids[:10]
