"""Cut-offs belong to all that decides about distances, and to nothing else."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from imagenetv2.config import Config
from imagenetv2.duplicates import metrics
from imagenetv2.duplicates.metrics import METRICS
from imagenetv2.duplicates.modes import DECIDING, KNOWN, known_cutoff, resolved, without_cutoff
from imagenetv2.duplicates.settings import Cutoffs, Features, Metric, Neighbours, Pixels, Structure
from imagenetv2.duplicates.stages import stages
from tests.unit.toy_metric import Brightness


def test_every_metric_has_its_modes() -> None:
    assert list(KNOWN) == list(DECIDING) == list(METRICS) == list(Cutoffs.model_fields)
    for metric, modes in KNOWN.items():
        default = getattr(Neighbours(), metric)
        assert modes[0][0] == default
        assert set(DECIDING[metric]) <= set(type(default).model_fields)


@pytest.mark.parametrize(
    ("metric", "section", "cutoff"),
    [
        ("l2", Pixels(), 2e5),
        ("l2", Pixels(k=3, within=1e5), 2e5),
        ("l2", Pixels(side=33), None),
        ("fc7", Features(k=1), 300),
        ("fc7", Features(input=48), 300),
        ("fc7", Features(input=40), None),
        ("fc7", Features(layer="classifier.4"), None),
        (
            "fc7",
            Features(network="vgg16", preprocessing="paper", side=256, input=224, layer="classifier.4"),
            1.32e4,
        ),
        (
            "fc7",
            Features(network="vgg16", preprocessing="paper", side=256, input=224, layer="classifier.3"),
            None,
        ),
        ("fc7", Features(network="vgg16", preprocessing="standard", side=256, input=224), None),
        ("fc7", Features(network="vgg16", preprocessing="paper", side=224), None),
        ("ssim", Structure(classes=0, everything=True), 0.15),
        ("ssim", Structure(side=256, window=35), 0.2205),
        ("ssim", Structure(side=256, window=7), None),
    ],
)
def test_cutoffs_are_known_for_their_mode(metric: str, section: Metric, cutoff: float | None) -> None:
    assert known_cutoff(metric, section) == cutoff


class Weighed(Brightness):
    """A fourth metric, with a file outside."""

    weights: Path | None = None


class Four(Neighbours):
    brightness: Weighed = Weighed(weights=Path("brightness.pt"))


class FourCutoffs(Cutoffs):
    brightness: float | None = None


def test_a_fourth_metric_needs_no_entry_among_the_modes() -> None:
    assert known_cutoff("brightness", Weighed()) is None
    found = resolved(FourCutoffs(), Four()).model_dump()
    assert (found["l2"], found["brightness"]) == (2e5, 0.0)
    assert resolved(FourCutoffs(brightness=7.0), Four()).model_dump()["brightness"] == 7.0
    assert without_cutoff(FourCutoffs(), Four()) == [
        "duplicates.cutoffs.brightness: none is known for any settings (neighbours.brightness); state one"
    ]


def test_a_fourth_metric_is_a_stage_by_its_entry_and_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(metrics.METRICS, "brightness", metrics.Metric("brightness", "difference", {}))
    config: Any = SimpleNamespace(neighbours=Four(), duplicates=Config().duplicates)
    found = {stage.name: stage for stage in stages(cast(Config, config))}
    own = found["neighbours/brightness"]
    assert own.run == "imagenetv2.duplicates.brightness.stage:run"
    assert own.outside == {"neighbours.brightness.weights": Path("brightness.pt")}
    assert own.settings["neighbours.brightness"] == Weighed(weights=Path("brightness.pt"))
    assert found["neighbours/fc7"].outside == {}
    assert "neighbours/brightness" in found["duplicates"].reads
