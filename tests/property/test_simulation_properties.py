"""What must hold of the study in the small for any votes and any source."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from imagenetv2.sampling import matched_frequency, threshold, top_images
from imagenetv2.sampling.pool import Candidate, Request
from imagenetv2.sampling.settings import MatchedFrequency, Threshold, TopImages
from imagenetv2.simulation import rules
from imagenetv2.simulation.settings import Simulation
from imagenetv2.simulation.simulation import scan

EDGES = (0.2, 0.4, 0.6, 0.8)
SIZES: dict[str, Any] = {"originals": 20_000, "candidates": 20_000, "sampled": 2_000, "seeds": 3}
few = settings(deadline=None, max_examples=6)


@st.composite
def votes(draw: st.DrawFn) -> rules.Votes:
    """Any votes, often too few for what is wanted."""
    k = draw(st.sampled_from([1, 3, 5, 7, 10, 40]))
    counts = st.lists(st.integers(0, k), min_size=1, max_size=40).map(np.array)
    return rules.Votes(k, draw(counts), draw(counts))


def request(given: rules.Votes, section: Any, wanted: int) -> Request:
    """The same votes for the rules of a real run, which are given eligible candidates only."""
    lowest = 7 * given.annotators if isinstance(section, Threshold) else 0
    return Request(
        "n1", 0,
        tuple(Candidate(f"{i:06d}", given.annotators, int(v), "free")
              for i, v in enumerate(given.candidates) if 10 * v >= lowest), (),
        tuple((int(v), given.annotators) for v in given.originals), wanted, section, np.random.default_rng(8),
    )  # fmt: skip


@given(votes(), st.integers(1, 30))
@settings(deadline=None, max_examples=80)
def test_rules_take_what_those_of_a_run_take(found: rules.Votes, wanted: int) -> None:
    sections = MatchedFrequency(minimum_validation=1), Threshold(), TopImages()
    runs = [
        module.draw(request(found, section, wanted))
        for module, section in zip((matched_frequency, threshold, top_images), sections, strict=True)
    ]
    ours = [
        rules.matched_frequency(
            np.random.default_rng(8), found, wanted, [Fraction(str(edge)) for edge in EDGES]
        ),
        rules.threshold(np.random.default_rng(8), found, wanted, Fraction(7, 10)),
        rules.top_images(found, wanted),
    ]
    for run, mine in zip(runs, ours, strict=True):
        assert sorted(int(c.image_id) for c in run.images) == sorted(mine.tolist())


@given(st.floats(0, 0.6), st.floats(0.1, 0.3))
@few
def test_more_annotators_mean_less_bias(quality: float, width: float) -> None:
    source = Simulation(quality=quality, width=width, **SIZES)
    found = scan(source, 1, (5, 20, 100)).query("rule == 'MatchedFrequency'")
    assert (np.diff(found["bias"]) > 0).all()
    assert (found["bias"] < 0.001).all()
    assert (np.diff(found["expected_change"]) > 0).all()


@given(st.floats(0, 1), st.floats(0.2, 0.4))
@few
def test_perfect_annotators_leave_no_bias(quality: float, centre: float) -> None:
    """People who all agree: what is observed is true, and what matches in it matches."""
    source = Simulation(width=1e-9, quality=quality, centre=centre, **SIZES)
    found = scan(source, 2, (5, 40))
    assert found["observed"].tolist() == found["true"].tolist() == found["true_original"].tolist()
    assert found["bias"].tolist() == [0.0] * len(found)
    assert found["expected_change"].abs().max() < 0.01


@given(st.floats(0, 1))
@few
def test_without_end_of_annotators_and_with_fine_bins_no_bias_is_left(quality: float) -> None:
    """Five bins keep some: within a bin, originals lie higher than candidates."""
    fine = tuple(round(0.01 * b, 2) for b in range(1, 100))
    source = Simulation(quality=quality, **{**SIZES, "sampled": 1_000})
    coarse, exact = (
        scan(source.model_copy(update={"edges": edges}), 3, (20_000,)).query("rule == 'MatchedFrequency'")
        for edges in (EDGES, fine)
    )
    assert exact["bias"].iloc[0] == pytest.approx(0, abs=0.0015)
    assert exact["expected_change"].iloc[0] == pytest.approx(0, abs=0.0015)
    assert coarse["bias"].iloc[0] == pytest.approx(-0.0075 * (1 - quality), abs=0.005)


@given(st.sampled_from([5, 10, 40]), st.floats(0.1, 0.3))
@few
def test_candidates_as_good_as_the_originals_leave_no_bias(k: int, width: float) -> None:
    found = scan(Simulation(quality=1, width=width, **SIZES), 4, (k,)).set_index("rule")
    assert found.at["MatchedFrequency", "bias"] == pytest.approx(0, abs=0.012)
    assert found.at["TopImages", "bias"] > 0.02
