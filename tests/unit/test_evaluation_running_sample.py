"""A fast mode beside mode reference: both on the same few images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from imagenetv2.errors import InputError
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.sample import differences, positions
from imagenetv2.evaluation.running.tasks import Resources, Runnable
from tests.unit.evaluation_running import CUT, LOG, Linear, images, task

FAST = Resources(mode="bf16", compile=True, logits=True)


class Rough(Linear):
    """Outputs are halved, and of some images the classes are mixed up."""

    def outputs(self, batch: Any) -> Any:
        found = super().outputs(batch) / 2
        odd = batch[:, 0, 0, 0] % 2 == 1
        found[odd] = found[odd, ::-1]
        return found


def model(name: str, seed: int, loads: list[tuple[str, bool]]) -> Runnable:
    def load(compute: Compute) -> Linear:
        loads.append((compute.mode, compute.compile))
        if name == "fails" and compute.mode == "reference":
            raise InputError("models: fails: no such precision.")
        return Linear(seed) if compute.mode == "reference" else Rough(seed)

    return Runnable(name, CUT, load)


@pytest.mark.parametrize("count", [1, 63, 64, 65, 1000])
def test_positions_are_spread_over_the_set(count: int) -> None:
    found = positions(count)
    assert len(found) == min(64, count)
    assert found[0] == 0
    steps = np.diff(np.append(found, count))
    assert steps.min() >= 1
    assert steps.max() - steps.min() <= 1


def test_nothing_is_sampled_of_nothing() -> None:
    assert len(positions(0)) == 0


def test_the_difference_is_that_of_the_same_images(tmp_path: Path) -> None:
    of, loads = images(150), list[tuple[str, bool]]()
    tasks = [task(tmp_path, model(name, 3, loads), of) for name in ("m", "fails")]
    assert run(tasks, FAST, LOG) == {}
    of.pixels.decoded.clear()  # type: ignore[attr-defined]
    found, failed = differences(tasks, FAST, LOG)
    assert failed is None
    assert found is not None
    assert sorted(of.pixels.decoded) == positions(150).tolist()  # type: ignore[attr-defined]
    assert loads[2:] == [("reference", False), ("reference", False)]
    chosen = positions(150)
    batch = np.stack([CUT(of.pixels.plain(i)) for i in chosen])  # type: ignore[attr-defined]
    exact, rough = Linear(3).outputs(batch), Rough(3).outputs(batch)
    same = exact.argmax(axis=1) == rough.argmax(axis=1)
    assert found.images == 64
    assert found.same_first == np.mean(same)
    assert 0 < found.same_first < 1
    shares = [softmax(outputs.astype(np.float64), axis=1) for outputs in (exact, rough)]
    true = of.true[chosen][:, None]
    changes = [
        np.abs(np.take_along_axis(shares[0], true, 1) - np.take_along_axis(shares[1], true, 1)).max(),
        np.abs(shares[0].max(axis=1) - shares[1].max(axis=1)).max(),
    ]
    assert found.largest == pytest.approx(max(changes), abs=2e-6)


def test_a_sample_is_computed_once_and_only_of_what_is_complete(tmp_path: Path) -> None:
    of, loads = images(20), list[tuple[str, bool]]()
    tasks = [task(tmp_path, model(name, 3, loads), of) for name in ("m", "other")]
    run(tasks[:1], FAST, LOG)
    first = differences(tasks, FAST, LOG)
    assert first[0] is not None
    assert first[1] is None
    of.pixels.decoded.clear()  # type: ignore[attr-defined]
    assert differences(tasks, FAST, LOG) == first
    assert of.pixels.decoded == []  # type: ignore[attr-defined]
    assert loads == [("bf16", True), ("reference", False)]
