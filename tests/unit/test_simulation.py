"""The study in the small: the worked example, against drawing every pixel and against exact expectations."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from pydantic import ValidationError
from scipy import stats

from imagenetv2.analysis.results import SIMULATION
from imagenetv2.cli import main
from imagenetv2.errors import InputError
from imagenetv2.simulation.settings import Simulation
from imagenetv2.simulation.simulation import scan, table
from imagenetv2.simulation.source import Source, bars
from imagenetv2.simulation.study import draw

ROOT = Path(__file__).parents[2]
PUBLISHED = {
    ("MatchedFrequency", 10): (0.71, -2.0),
    ("MatchedFrequency", 40): (0.73, -0.6),
    ("MatchedFrequency", 200): (0.74, -0.3),
    ("Threshold", 10): (None, 1.4),
    ("TopImages", 10): (0.87, 4.3),
}
"""True frequency of the new set and change in points, as the worked example prints them."""

SMALL: dict[str, Any] = {"originals": 4_000, "candidates": 5_000, "sampled": 500, "seeds": 2}
Floats = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def example() -> pd.DataFrame:
    return table(Simulation(), 2019)


@pytest.fixture(scope="module")
def pixels() -> ModuleType:
    """The plain script that draws every pixel."""
    spec = importlib.util.spec_from_file_location("draw_pixels", ROOT / "benchmarks/simulate.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def row(frame: pd.DataFrame, rule: str, k: int) -> pd.Series[Any]:
    return frame[(frame["rule"] == rule) & (frame["annotators"] == k)].iloc[0]


@pytest.mark.parametrize(("rule", "k"), PUBLISHED)
def test_the_worked_example_is_reproduced(example: pd.DataFrame, rule: str, k: int) -> None:
    """As printed: half a unit of the last digit for rounding, and three standard errors of two averages."""
    true, change = PUBLISHED[rule, k]
    found = row(example, rule, k)
    assert found["true_original"] == pytest.approx(0.75, abs=0.005)
    if true is not None:
        assert found["true"] == pytest.approx(true, abs=0.005 + 0.001)
    error = 0.0045 / np.sqrt(found["seeds"])
    assert found["change"] == pytest.approx(change / 100, abs=0.0005 + 3 * np.sqrt(2) * error)
    assert found["expected_change"] == pytest.approx(change / 100, abs=0.0005 + 3 * error)
    assert found["observed_original"] == pytest.approx(0.75, abs=0.005)


def test_the_best_observed_are_all_perfect_and_truly_are_not(example: pd.DataFrame) -> None:
    assert row(example, "TopImages", 10)["observed"] == 1.0
    assert row(example, "TopImages", 10)["true"] < 0.88
    assert row(example, "MatchedFrequency", 10)["observed"] == pytest.approx(0.75, abs=0.01)


def expected(rule: str, k: int) -> tuple[float, float, float]:
    """True frequency, observed frequency and change of accuracy of an endless study, by summing over contrasts."""
    contrast = (np.arange(4_000) + 0.5) / 4_000 * 0.6
    p = stats.norm.cdf((contrast - 0.3) / 0.2)
    old = stats.binom.sf(3, 6, p)
    seen = stats.binom.pmf(np.arange(k + 1)[:, None], k, p)
    chosen = np.zeros(k + 1)
    if rule == "Threshold":
        chosen[np.arange(k + 1) * 10 >= 7 * k] = 1
    elif rule == "TopImages":
        assert seen[k].mean() * 80_000 > 5_000
        chosen[k] = 1
    else:
        bins = np.minimum(np.arange(k + 1) * 5 // k, 4)
        old_bins, new_bins = (
            np.bincount(bins, (seen * weight).sum(1)) / np.sum(weight) for weight in (old, np.ones_like(p))
        )
        chosen = (old_bins / new_bins)[bins]
    new = chosen @ seen
    accuracy = stats.norm.cdf(contrast * np.sqrt(78) / 3)
    change = np.average(accuracy, weights=new) - np.average(accuracy, weights=old)
    observed = np.average(np.arange(k + 1) / k, weights=chosen * seen.sum(1))
    return float(np.average(p, weights=new)), float(observed), float(change)


@pytest.mark.parametrize(("rule", "k"), PUBLISHED)
def test_averages_are_those_of_an_endless_study(example: pd.DataFrame, rule: str, k: int) -> None:
    true, observed, change = expected(rule, k)
    found = row(example, rule, k)
    assert found["true"] == pytest.approx(true, abs=0.003)
    assert found["observed"] == pytest.approx(observed, abs=0.004)
    assert found["expected_change"] == pytest.approx(change, abs=0.0015)
    assert found["change"] == pytest.approx(change, abs=4 * 0.0045 / np.sqrt(10))


def test_projections_are_distributed_as_those_of_drawn_pixels(pixels: ModuleType) -> None:
    rng = np.random.default_rng(5)
    contrast = rng.uniform(0, 0.6, 20_000)
    drawn, upright = pixels.photographs(rng, contrast)
    across, other = bars(16, 3)
    direction = (other - across) / np.linalg.norm(other - across)
    projected = np.where(upright == 1, 1, -1) * np.einsum("nij,ij->n", drawn, direction)
    without = Source.of(Simulation()).projections(np.random.default_rng(6), contrast)
    assert stats.ks_2samp(projected, without).pvalue > 0.01
    assert np.array_equal(projected > 0, pixels.classified(drawn, upright))
    # The same mean would pass the test above only if the spread at each contrast agreed too.
    rest = [values - contrast * np.sqrt(78) / 2 for values in (projected, without)]
    assert all(stats.kstest(values, "norm", args=(0, 1.5)).pvalue > 0.01 for values in rest)


@pytest.mark.parametrize("contrast", [0.0, 0.1, 0.3, 0.6])
def test_accuracy_at_a_contrast_is_that_of_drawn_pixels(pixels: ModuleType, contrast: float) -> None:
    source = Source.of(Simulation())
    exact = stats.norm.cdf(contrast * np.sqrt(78) / (2 * 1.5))
    assert source.accuracy(np.array([contrast]))[0] == pytest.approx(exact, abs=1e-12)
    rng = np.random.default_rng(7)
    right = pixels.classified(*pixels.photographs(rng, np.full(8_000, contrast)))
    assert stats.binomtest(int(right.sum()), right.size, exact).pvalue > 0.01
    right = source.classified(rng, np.full(200_000, contrast))
    assert stats.binomtest(int(right.sum()), right.size, exact).pvalue > 0.01


@pytest.mark.parametrize("side,bar", [(16, 3), (16, 2), (5, 1), (7, 6)])
def test_bars_differ_where_only_one_of_them_is(side: int, bar: int) -> None:
    across, upright = bars(side, bar)
    assert across.sum() == upright.sum() == side * bar
    source = Source.of(Simulation(side=side, bar=bar))
    assert source.distance == pytest.approx(np.sqrt(2 * bar * (side - bar)))


def test_a_study_of_pixels_and_one_without_agree(pixels: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole script against the whole table, in a smaller study whose averages vary little."""
    for name, size in (("ORIGINALS", 6_000), ("CANDIDATES", 8_000), ("SAMPLED", 500)):
        monkeypatch.setattr(pixels, name, size)
    settings = Simulation(originals=6_000, candidates=8_000, sampled=500, seeds=6)
    ours = table(settings, 11)
    for rule, k in (("MatchedFrequency", 10), ("TopImages", 10)):
        theirs = np.array([pixels.study(rule, k, 11, n) for n in range(settings.seeds)]).mean(0)
        found = row(ours, rule, k)
        for name, value, error in zip(
            pixels.MEASURES, theirs, (0.005, 0.003, 0.004, 0.002, 0.003, 0.007), strict=True
        ):
            assert found[name] == pytest.approx(value, abs=4 * error), name


def test_the_table_is_as_declared(example: pd.DataFrame) -> None:
    assert SIMULATION.to_arrow(example).num_rows == 5
    assert SIMULATION.to_arrow(table(Simulation(**{**SMALL, "seeds": 1}), 1)).num_rows == 5


def test_a_seed_says_everything_whatever_the_cores_and_the_other_rows() -> None:
    settings = Simulation(**SMALL)
    found = table(settings, 3)
    pd.testing.assert_frame_equal(found, table(settings, 3, cores=3))
    assert not found.equals(table(settings, 4))
    alone = table(Simulation(annotators=(40,), **SMALL), 3)
    mine, theirs = row(alone, "MatchedFrequency", 40), row(found, "MatchedFrequency", 40)
    assert mine.to_dict() == theirs.to_dict()


def test_a_scan_holds_the_rows_of_the_table() -> None:
    settings = Simulation(**SMALL)
    scanned = scan(settings, 3, (10, 40), [0.6, 0.7], [0.0, 1.0], cores=2)
    assert len(scanned) == 2 * 2 * (1 + 2 + 1)
    mine = scanned[(scanned["quality"] == 0) & ~(scanned["threshold"] == 0.6)]
    common = ["observed", "true", "true_original", "change", "expected_change", "change_deviation"]
    for _, found in table(settings, 3).query("annotators <= 40").iterrows():
        same = row(mine, found["rule"], found["annotators"])
        assert same[common].tolist() == pytest.approx(found[common].tolist())
        assert same["bias"] == pytest.approx(found["true"] - found["true_original"])


def test_better_candidates_lie_among_the_others() -> None:
    """TopImages breaks ties by place, so the place must say nothing of a candidate."""
    study = draw(Simulation(quality=0.5), 1, 0)
    halves = np.split(study.candidates.selection, 2)
    assert halves[0].mean() == pytest.approx(halves[1].mean(), abs=0.01)
    assert study.candidates.selection.mean() == pytest.approx((0.5 + 0.752) / 2, abs=0.01)


def test_too_few_photographs_are_told_in_the_table_and_left_open_in_a_scan() -> None:
    settings = Simulation(**{**SMALL, "sampled": 1_000}, threshold=0.9)
    with pytest.raises(InputError, match=r"simulation\.sampled: Threshold cannot find 1000 photographs"):
        table(settings, 1)
    scanned = scan(settings, 1, (10,))
    assert scanned.set_index("rule")["bias"].isna().to_dict() == {
        "MatchedFrequency": False,
        "Threshold": True,
        "TopImages": False,
    }


def test_a_vote_that_nobody_passes_is_told() -> None:
    with pytest.raises(InputError, match=r"simulation\.quorum: 0 of 4000 photographs get 4 of 6 votes"):
        table(Simulation(centre=30, **SMALL), 1)


@pytest.mark.parametrize(
    ("values", "complaint"),
    [
        ({"annotators": (10, 10)}, "twice"),
        ({"annotators": (0,)}, "at least 1"),
        ({"contrast": (0.6, 0.0)}, "must rise"),
        ({"quorum": (5, 4)}, "ask for 1 to 4"),
        ({"quorum": (0, 4)}, "ask for 1 to 4"),
        ({"edges": (0.4, 0.2)}, "rise strictly"),
        ({"sampled": 5_000, "candidates": 100}, "cannot be drawn from 100"),
        ({"bar": 16}, "leave nothing around"),
        ({"threshold": 1.2}, "less than or equal to 1"),
    ],
)
def test_settings_that_cannot_be_are_refused(values: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValidationError, match=complaint):
        Simulation(**values)


ARGUMENTS = ("simulate", "--seeds", "2", "--originals", "4000", "--candidates", "5000", "--sampled", "300")


def test_the_command_prints_the_table_and_writes_nothing_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main([*ARGUMENTS, "--annotators", "10,20", "--seed", "5"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in lines[3:]] == [
        ["MatchedFrequency", "10"],
        ["MatchedFrequency", "20"],
        ["Threshold0.7", "10"],
        ["TopImages", "10"],
    ]
    found = table(Simulation(annotators=(10, 20), originals=4000, candidates=5000, sampled=300, seeds=2), 5)
    assert f"{100 * found['change'].iloc[0]:+.1f} ± {100 * found['change_deviation'].iloc[0]:.1f}" in lines[3]
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_tables_and_the_figure(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scanned = ("--scan", "--pool", "0,1", "--thresholds", "0.7,1", "--seed", "2", "--out", str(tmp_path))
    assert main([*ARGUMENTS, "--annotators", "5,10", *scanned]) == 0
    names = ["scan.csv", "scan.pdf", "scan.png", "scan.svg", "simulation.csv"]
    assert sorted(p.name for p in tmp_path.iterdir()) == names
    assert "100% of the candidates passed the same vote" in capsys.readouterr().out
    found = pd.read_csv(tmp_path / "scan.csv")
    settings = Simulation(annotators=(5, 10), originals=4000, candidates=5000, sampled=300, seeds=2)
    pd.testing.assert_frame_equal(found, scan(settings, 2, (5, 10), [0.7, 1.0], [0.0, 1.0]))
    drawn = (tmp_path / "scan.svg").read_text("utf-8")
    assert "Threshold0.7" in drawn and "var(--" not in drawn


def test_the_command_takes_a_configuration_and_lays_options_over_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "mine.yaml"
    file.write_text("simulation: {threshold: 0.5, annotators: [10]}\n")
    assert main([*ARGUMENTS, "--config", str(file)]) == 0
    assert "Threshold0.5" in capsys.readouterr().out
    file.write_text("simulation: {treshold: 0.5}\n")
    assert main([*ARGUMENTS, "--config", str(file)]) == 1
    assert "did you mean threshold?" in capsys.readouterr().err


@pytest.mark.parametrize(
    "wrong", [["--annotators", "10,0"], ["--annotators", "a"], ["--scan", "--pool", "2"]]
)
def test_wrong_options_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["simulate", *wrong])
    assert "is not a" in capsys.readouterr().err


def test_options_of_the_scan_need_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["simulate", "--pool", "0,1"]) == 1
    assert "add --scan" in capsys.readouterr().err
