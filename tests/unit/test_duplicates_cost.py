"""What a search takes is said before it runs."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from imagenetv2.analysis.wording import duration, volume
from imagenetv2.cli import main
from imagenetv2.config import Config
from imagenetv2.duplicates import cost
from imagenetv2.duplicates.calibration import Rate, Rates, calibrate, growing
from imagenetv2.duplicates.cost import (
    Estimate,
    Machine,
    Size,
    Work,
    estimate,
    percent,
    sentence,
)
from imagenetv2.duplicates.forecast import forecast
from imagenetv2.duplicates.outlook import Given, counts
from imagenetv2.duplicates.recipe import Counts, Pictures, Searches, recipe
from imagenetv2.duplicates.search import Plan
from imagenetv2.duplicates.settings import Pixels, Search, Structure
from imagenetv2.duplicates.shares import Shares
from imagenetv2.duplicates.supposed import noise, photographs
from imagenetv2.errors import InputError
from tests.unit.toy_metric import Bright, Brightness

SIZE = Size(images=1000, candidates=100, searches=[Searches(100_000)], files=10**9)
WORK = Work(width=300, operations=900.0, memory=4e9)
TIGHT = Shares(np.arange(100.0), np.arange(10.0), first=1 / 99, power=1.0, images=100)


def rates(shares: Shares = TIGHT) -> Rates:
    bound, distance, limited = Rate(0.0, 1e-6), Rate(0.0, 1e-3), Rate(0.0, 1e-4)
    return Rates(50, 0.01, 0.001, bound, distance, limited, shares)


def test_seconds_follow_from_rates() -> None:
    plan = Plan(k=10, block=50, cache=0)
    found = estimate("l2", SIZE, Pixels(k=10), plan, WORK, Machine(1e9, 2, 4), rates())
    assert found.operations == 9e7
    assert (found.read, found.again, found.disk, found.memory) == (1e9, 0, 0, 4e9)
    assert found.share == pytest.approx(0.01)
    assert found.seconds == pytest.approx(
        {"images": 10.5, "bounds": 0.05, "distances": (1.0 + 0.1) / 4, "reading again": 0}
    )
    assert found.most == pytest.approx(10.5 + 0.05 + 0.25 + 25)
    assert found.expected == pytest.approx(10.825)


def test_images_that_do_not_fit_are_read_again_for_each_block() -> None:
    plan = Plan(k=10, block=50, cache=10**9)
    found = estimate("l2", SIZE, Pixels(k=10), plan, WORK, Machine(1000, 2, 4), rates())
    assert found.again == pytest.approx(2 * 300_000 * (1 - 0.99**50))
    assert found.seconds["bounds"] == pytest.approx(0.05 * 1.25 / 2)


def test_tight_bounds_compute_what_is_wanted_and_useless_ones_everything() -> None:
    rng = np.random.default_rng(0)
    places = rng.normal(size=(60, 4))
    distance = np.square(places[:, None] - places).sum(-1)
    tight = Shares.of(distance, distance)
    assert tight.computed(10_000, 30, None) == pytest.approx(0.003, rel=0.3)
    useless = Shares.of(np.zeros_like(distance), distance)
    assert useless.computed(10_000, 30, None) == 1.0
    half = float(np.median(distance[~np.eye(60, dtype=bool)]))
    assert tight.computed(10_000, 30, half) == pytest.approx(0.5, abs=0.01)
    assert tight.computed(10_000, 0, -1.0) == 0.0


def test_pictures_that_say_nothing_are_not_asked() -> None:
    """Features of a network without training are all alike: by themselves they would exclude nothing."""
    alike = np.ones((20, 20)) - np.eye(20)
    assert Shares.of(np.zeros_like(alike), alike).computed(1_600_000, 30, None) == 1.0
    assert Shares.tight(np.zeros_like(alike), alike).computed(1_600_000, 30, None) == pytest.approx(
        30 / 1_600_000
    )


def test_shares_of_two_images() -> None:
    distance = np.array([[0.0, 3.0], [3.0, 0.0]])
    assert Shares.of(distance, distance).computed(100, 30, None) == pytest.approx(0.3)


def test_a_share_foretold_from_few_is_near_what_many_need() -> None:
    rng = np.random.default_rng(1)
    places = rng.normal(size=(3000, 3))
    distance = np.square(places[:, None] - places).sum(-1).astype(np.float32)
    lower = 0.8 * distance
    few = Shares.of(lower[:100, :100], distance[:100, :100])
    np.fill_diagonal(distance, np.inf)
    limit = np.partition(distance, 9, axis=1)[:, 9:10]
    needed = np.mean(lower <= limit)
    assert needed / 3 < few.computed(3000, 10, None) < 3 * needed


def test_work_grows_until_time_is_up() -> None:
    sizes: list[int] = []
    done = growing(sizes.append, 2, 30, 60.0)
    assert sizes == [2, 4, 8, 16, 30]
    assert [size for size, _ in done] == sizes
    sizes.clear()
    assert [size for size, _ in growing(sizes.append, 2, 30, 0.0)] == [2]


class Several(Bright):
    """Makes values of sixteen images at once, on at most one thread."""

    together = 16

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def values(self, pictures: Pictures, settings: Brightness, device: str) -> Any:
        self.sizes.append(pictures.count)
        return super().values(pictures, settings, device)

    def at_once(self, settings: Brightness, pictures: Pictures) -> int:
        return 1


def test_images_of_which_values_are_made_together_are_timed_together() -> None:
    pictures, _ = photographs(50, 100, 2)
    for count, wanted in ((50, [16]), (5, [5])):
        several = Several()
        calibrate(several, Brightness(), "cpu", replace(pictures, count=count), 0.0)
        assert several.sizes == wanted


def test_seconds_are_divided_among_images_and_pairs() -> None:
    times = [(2 * n, n * n, 2 * n * 0.5 + n * n * 0.25) for n in (4, 8, 16)]
    rate = Rate.fitted(times)
    assert (rate.image, rate.pair) == pytest.approx((0.5, 0.25))
    assert rate.each(10, 20) == pytest.approx(0.25 + 0.5 * 0.15)
    assert rate.each(10, 20, 0.1) == pytest.approx(0.25 + 0.5 * 1.5)
    assert Rate.fitted(times[:1]) == Rate(0.0, 8 / 16)
    assert Rate.fitted([(8, 16, 1.0), (16, 64, 8.0)]).image == 0
    assert Rate.fitted([(8, 16, 1.0), (16, 64, 1.5)]).pair == 0


def test_a_quick_search_is_not_timed() -> None:
    pictures, _ = photographs(50, 100, 1)
    size = Size(50, 10, [Searches(500)], 10**6)
    found = forecast(Bright(), Brightness(), Search(), "cpu", size, pictures)
    assert found.seconds == {}
    assert sentence(found).endswith("a matter of moments")
    timed = forecast(Bright(), Brightness(k=5), Search(), "cpu", size, pictures, seconds=0.05)
    assert all(value >= 0 for value in timed.seconds.values())
    assert 0 < timed.expected <= timed.most
    assert re.search(r"expected: about .* s, at most .* s if no pair could be skipped$", sentence(timed))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.34, "0.3 s"),
        (59.6, "60 s"),
        (90, "1.5 min"),
        (5400, "1.5 h"),
        (172800, "2.0 days"),
        (4e9, "127 years"),
    ],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_volumes_and_shares() -> None:
    assert [volume(v) for v in (0, 12_300, 3.15e11)] == ["0 bytes", "12 kB", "315 GB"]
    assert [percent(v) for v in (1.8e-5, 0.5, 1.0)] == ["0.0018 %", "50 %", "100 %"]


def test_synthetic_pictures_have_the_spectrum_of_photographs() -> None:
    power = np.abs(np.fft.rfft2(noise(np.random.default_rng(0))[..., 0])) ** 2
    slope = np.log2(power[3:6, 3:6].mean() / power[48:96, 48:96].mean()) / 4
    assert 1.5 < slope < 2.5


def test_searches_of_few_pairs_and_of_many_add_up() -> None:
    plan = Plan(k=10, block=50, cache=0)
    small = Machine(1000, 2, 4)
    shares = Shares(np.arange(100.0), np.arange(10.0), first=0.01, power=0.0, images=100)
    bound = Rates(50, 0.01, 0.001, Rate(1e-3, 1e-6), Rate(0.0, 1e-3), Rate(0.0, 1e-4), shares)

    def found(*searches: Searches) -> Estimate:
        return estimate("ssim", replace(SIZE, searches=searches), Pixels(k=10), plan, WORK, small, bound)

    shared, own = Searches(60_000), Searches(10_000, 20)
    one, two, both = found(shared), found(own), found(shared, own)
    assert both.size.pairs == 70_000
    assert both.operations == one.operations + two.operations
    for part in ("bounds", "distances", "reading again"):
        assert both.seconds[part] == pytest.approx(one.seconds[part] + two.seconds[part])
    # Five candidates at once against a hundred images each, so that an image's own time is for few pairs.
    assert two.seconds["bounds"] == pytest.approx(2 * 10_000 * (1e-6 + 1e-3 * (1 / 5 + 1 / 100)) / 4)
    # Two blocks of all candidates read what is shared, each of 20 searches what is its own.
    assert one.most - two.most == pytest.approx(
        one.seconds["bounds"]
        - two.seconds["bounds"]
        + 50_000 * 1e-3 / 4
        + (2 * 600 - 20 * 100) * 300 / cost.DISK
    )


def test_nothing_to_compare_takes_no_time() -> None:
    size = Size(images=10, candidates=0, searches=[], files=10)
    found = estimate("ssim", size, Pixels(k=10), Plan(k=10), WORK, Machine(1e9, 1, 1), rates())
    assert found.seconds["bounds"] == found.seconds["distances"] == found.share == 0


def test_supposed_pairs() -> None:
    numbers = Counts(candidates=200, references=1100, held_out=100, classes=10)
    assert recipe("l2").supposed(Pixels(), numbers) == [Searches(200 * 1300)]
    ssim = recipe("ssim")
    assert ssim.supposed(Structure(classes=5), numbers) == [Searches(200 * (600 + 20), 10)]
    shared, own = ssim.supposed(Structure(classes=5, everything=True), numbers)
    assert (shared, own) == (Searches(200 * (200 + 100)), Searches(200 * 600, 10))
    assert ssim.supposed(Structure(classes=50), numbers) == [Searches(200 * (1000 + 20), 10)]


def test_numbers_given_known_and_usual() -> None:
    known = Counts(5, 50, 20, 4)
    assert counts(Config(), Given(), known) == known
    assert counts(Config(), Given(candidates=7), known) == Counts(7, 50, 20, 4)
    assert counts(Config(), Given(7, 100), known) == Counts(7, 100, 10, 4)
    assert counts(Config(), Given(7000, 100)) == Counts(7000, 100, 10, 1000)
    with pytest.raises(InputError, match="give --candidates and --references"):
        counts(Config(), Given(candidates=7))
    with pytest.raises(InputError, match="--held-out 101 is more than --references 100"):
        counts(Config(), Given(7, 100, 101))


TINY = """
neighbours:
  fc7: {enabled: false}
  ssim: {enabled: false}
"""


def test_the_command_needs_no_artifact(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    config = tmp_path / "tiny.yaml"
    config.write_text(TINY)
    monkeypatch.setattr("imagenetv2.duplicates.outlook.SECONDS", 0.05)
    given = ["--config", str(config), "--data", str(tmp_path / "data")]
    assert main(["cost", *given, "--candidates", "200000", "--references", "1431167"]) == 0
    table = capsys.readouterr().out
    assert "timed on synthetic pictures" in table
    assert re.search(r"pairs +326,233,400,000\n", table)
    assert re.search(r"kept on the disk meanwhile +5\.0 GB\n", table)
    assert re.search(r"at most, if nothing is skipped +\d", table)
    assert main(["cost", *given]) == 1
    assert "give --candidates and --references" in capsys.readouterr().err
    assert not (tmp_path / "data").exists()


def test_the_table_has_a_column_a_metric() -> None:
    found = estimate("l2", SIZE, Pixels(), Plan(k=10), WORK, Machine(1e9, 1, 1), rates())
    other = estimate("ssim", SIZE, Pixels(), Plan(k=10), WORK, Machine(1e9, 1, 1), None)
    rows = cost.lines([found, other])
    assert len({len(row) for row in rows}) == 1
    assert rows[0].split() == ["l2", "ssim"]
    assert rows[-1].split()[-1] == "-"
