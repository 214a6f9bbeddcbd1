"""Checks of predictions against brute force, and what they say of faults that are easily missed or blamed wrongly."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from imagenetv2.record.prediction_checks import exchanges, rows, stretch
from tests.unit import small_record as small
from tests.unit.small_import import NEW, ORIGINAL, Found, faults, same
from tests.unit.small_record import CLASSES, LISTS, MODELS


def test_the_worst_stretch_is_that_of_all_stretches() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        foretold = rng.uniform(0.05, 0.95, 40)
        own = rng.random(40) < foretold
        own[10:22] = False
        found = stretch.worst(own, foretold)
        after = stretch.FALL * foretold
        terms = np.where(own, np.log(after / foretold), np.log((1 - after) / (1 - foretold)))
        every = {(a, b): terms[a:b].sum() for a in range(41) for b in range(a, 41)}
        assert found.ratio == pytest.approx(max(every.values()))
        assert every[found.start, found.stop] == pytest.approx(found.ratio)
        assert found.hits == own[found.start : found.stop].sum()


def test_a_weakness_for_some_classes_is_no_damage_where_rows_are_by_class() -> None:
    rng = np.random.default_rng(1)
    classes = np.arange(20_000) // 100
    own = rng.random(20_000) < np.where((classes >= 40) & (classes < 45), 0.15, 0.7)
    found = stretch.worst(own, np.full(20_000, 0.68))
    assert found.start >= 3_900 and found.stop <= 4_600
    assert stretch.CLEAR < found.ratio < stretch.CLEAR_BY_CLASS
    assert not stretch.clear(found, classes)
    assert stretch.clear(found, rng.permutation(classes))


PARTS: dict[str, tuple[str, Callable[[np.ndarray, np.random.Generator], np.ndarray]]] = {
    "off by one": ("a part of the rows does not fit", lambda p, rng: (p + 1) % CLASSES),
    "constant": ("a part of the rows does not fit", lambda p, rng: np.zeros_like(p) + np.arange(5)),
    "columns shuffled": ("columns mixed in a part of the rows", lambda p, rng: rng.permuted(p, axis=1)),
    "columns exchanged": ("columns mixed in a part of the rows", lambda p, rng: p[:, [1, 0, 2, 3, 4]]),
}


@pytest.mark.parametrize("start", [0, 130, 440])
@pytest.mark.parametrize("name", PARTS)
def test_a_damaged_stretch_is_found_wherever_it_lies(
    clean: Found, record: Path, name: str, start: int
) -> None:
    kind, change = PARTS[name]
    top5 = small.load(record, NEW, "eta")
    part = slice(start, start + 160)
    top5[part] = change(top5[part], np.random.default_rng(3))
    small.save(record, NEW, "eta", top5)
    found = Found(record)
    assert faults(found) == {(f"{NEW}/eta.npy", "eta", kind, "left out")}
    same(found, clean, {("matched_frequency", "eta")})


@pytest.mark.parametrize("shift", [1, -1, 2])
@pytest.mark.parametrize("listing", [NEW, ORIGINAL])
def test_class_indices_that_are_counted_around_are_put_right(
    clean: Found, record: Path, listing: str, shift: int
) -> None:
    small.save(record, listing, "eta", (small.load(record, listing, "eta") + shift) % CLASSES)
    found = Found(record)
    kinds = ("class indices off by a constant", "class indices counted around")
    assert faults(found) == {(f"{listing}/eta.npy", "eta", kind, "corrected") for kind in kinds}
    same(found, clean)


def test_stray_classes_are_not_counted_around() -> None:
    truth = np.repeat(np.arange(10), 20)
    fit = rows.Fit(1, 1.0, 1.0)
    good = (truth[:, None] + 1) % 10
    assert rows.wrapped(good.astype(np.int32), fit, truth, 10) == 1
    beyond = np.where(truth == 9, 10, truth + 1)[:, None]
    assert rows.wrapped(beyond.astype(np.int32), fit, truth, 10) is None
    stray = np.where(truth == 9, 5, truth + 1)[:, None]
    stray[0] = 0
    assert rows.wrapped(stray.astype(np.int32), fit, truth, 10) is None


def test_a_damaged_list_does_not_accuse_the_same_model_on_others(record: Path) -> None:
    """Half of the rows hold noise, so that the mean over lists would be far off as well."""
    top5 = small.load(record, ORIGINAL, "eta")
    rng = np.random.default_rng(2)
    places = np.flatnonzero(rng.random(len(top5)) < 0.5)
    top5[places] = np.stack([rng.permutation(CLASSES)[:5] for _ in places])
    small.save(record, ORIGINAL, "eta", top5)
    found = Found(record)
    assert {(f.split("/")[0], s) for f, s, k, _ in faults(found) if k == "accuracy out of line"} == {
        (ORIGINAL, "eta")
    }


@pytest.mark.parametrize(("lost", "kept"), [("delta", "epsilon"), ("beta", "alpha"), ("zeta", "gamma_64k")])
def test_the_owner_of_a_copy_is_told_without_the_two(
    clean: Found, record: Path, lost: str, kept: str
) -> None:
    small.save(record, ORIGINAL, lost, small.load(record, ORIGINAL, kept))
    found = Found(record)
    kind = "one model's predictions under two names"
    assert faults(found) == {(f"{ORIGINAL}/{lost}.npy", lost, kind, "left out")}
    same(found, clean, {("original", lost)})


def test_the_line_is_straighter_after_the_right_exchange() -> None:
    rng = np.random.default_rng(4)
    old = np.sort(rng.normal(size=15))
    new = 1.1 * old - 0.3 + 0.02 * rng.normal(size=15)
    assert exchanges.straighter(old.tolist(), new.tolist()).max() < exchanges.STRAIGHTER
    new[[3, 11]] = new[[11, 3]]
    found = exchanges.straighter(old.tolist(), new.tolist())
    np.testing.assert_allclose(found, found.T)
    assert np.unravel_index(found.argmax(), found.shape) == (3, 11)
    slope, offset = np.polyfit(old, new, 1)
    left = new - offset - slope * old
    spread = 1.4826 * np.median(np.abs(left))
    after = [new[11] - offset - slope * old[3], new[3] - offset - slope * old[11]]
    assert found[3, 11] == pytest.approx(
        (left[3] ** 2 + left[11] ** 2 - sum(a**2 for a in after)) / spread**2
    )
    assert not exchanges.straighter([0.0] * 3, [1.0] * 3).any()


@pytest.mark.parametrize("seed", range(2, 8))
def test_sound_records_have_no_faults(tmp_path: Path, seed: int) -> None:
    found = Found(small.write(tmp_path, seed))
    assert found.faults.empty
    assert {name: len(array) for name, array in found.arrays.items()} == dict.fromkeys(LISTS, len(MODELS))
