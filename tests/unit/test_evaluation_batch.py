"""Predictions of several models in one run: images decoded once, stages published one by one."""

from __future__ import annotations

import json
import logging
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from imagenetv2 import job as jobs
from imagenetv2.cli import main
from imagenetv2.errors import InputError
from imagenetv2.evaluation import classifier, predictions
from imagenetv2.evaluation.batch import Batch
from imagenetv2.evaluation.kinds.nearest_centroid import NearestCentroid
from imagenetv2.evaluation.pictures import Pictures
from tests.conftest import write_artifact
from tests.unit.evaluation_sets import reference
from tests.unit.evaluation_world import ENTRIES, World

LOG = logging.getLogger("test")


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Positions of images, whenever one is decoded."""
    found: list[int] = []
    plain = Pictures._pixels

    def counted(self: Pictures, index: int) -> Any:
        found.append(index)
        return plain(self, index)

    monkeypatch.setattr(Pictures, "_pixels", counted)
    return found


def test_images_are_decoded_once_a_preprocessing(tmp_path: Path, decoded: list[int]) -> None:
    world = World(tmp_path)
    decoded.clear()
    assert world.run(world.predictions, cores=2) == [stage.name for stage in world.predictions]
    assert sorted(decoded) == sorted(2 * list(range(18)))
    assert world.run(world.predictions) == []
    assert len(decoded) == 36
    assert not list((tmp_path / "stores" / "work").rglob("*.records"))
    together = world.tables()
    for stage in world.predictions:
        world.run([stage], force=True)
    assert len(decoded) == 36 + 54
    for one, other in zip(world.tables(), together, strict=True):
        pd.testing.assert_frame_equal(one, other)


def test_models_that_are_there_are_not_asked_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    world = World(tmp_path)
    world.run(world.predictions[:1])
    loaded: list[str] = []
    plain = classifier._module

    def noted(model: Any) -> Any:
        loaded.append(model.name)
        return plain(model)

    monkeypatch.setattr(classifier, "_module", noted)
    assert world.run(world.predictions) == [stage.name for stage in world.predictions[1:]]
    assert loaded == ["fourier", "larger"]


def test_a_model_that_fails_costs_the_others_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[int]
) -> None:
    world = World(tmp_path)
    plain = NearestCentroid.outputs

    def broken(self: NearestCentroid, batch: Any) -> Any:
        return np.full((len(batch), 3), np.nan) if batch.shape[1] == 8 else plain(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(NearestCentroid, "outputs", broken)
        said = (
            r"models: centroid: its outputs for .* are not finite.* Nothing of predictions/original is written before "
            r"centroid can be: mend, or take out of models"
        )
        with pytest.raises(InputError, match=said):
            world.run(world.predictions, log=LOG)
    # Snakemake deletes what a failed job has written.
    assert not any(world.folder(stage).exists() for stage in world.predictions)
    decoded.clear()
    assert world.run(world.predictions[1:]) == ["predictions/original/fourier", "predictions/original/larger"]
    assert decoded == []
    assert world.run(world.predictions) == ["predictions/original/centroid"]


def test_training_of_the_others_is_kept_where_one_fails(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    trained: list[str] = []
    plain = classifier._module

    def noted(model: Any) -> Any:
        trained.append(model.name)
        if model.name == "fourier":
            raise InputError("models: fourier: it cannot be trained; correct it.")
        return plain(model)

    for stage in world.models:
        shutil.rmtree(world.folder(stage).parent)
    with monkeypatch.context() as patched:
        patched.setattr(classifier, "_module", noted)
        with pytest.raises(
            InputError, match=r"fourier: it cannot .* Nothing of models is written before fourier"
        ):
            world.run(world.models, log=LOG)
        assert trained == ["centroid", "fourier", "larger"]
        assert not any(world.folder(stage).exists() for stage in world.models)
        with pytest.raises(InputError, match="fourier"):
            world.run(world.models, log=LOG)
        assert trained[3:] == ["fourier"]
    assert world.run(world.models) == [stage.name for stage in world.models]
    assert not list((tmp_path / "stores" / "work").rglob("*.json"))


def retrained(world: World, name: str, folder: Path) -> None:
    """Replace a model by one with other weights and, as happens to what libraries fetch, the same version."""
    other = World(folder)
    write_artifact(folder, other.stages["reference"], reference(5, 6))
    stage = other.stages[f"models/{name}"]
    other.run([stage], force=True)
    shutil.rmtree(world.folder(stage))
    shutil.copytree(other.folder(stage), world.folder(stage))


def test_records_of_other_weights_are_not_gone_on_with(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, stage = World(tmp_path / "a"), World(tmp_path / "a").predictions[0]
    plain = NearestCentroid.outputs
    passes: list[int] = []

    def killed(self: NearestCentroid, batch: Any) -> Any:
        passes.append(len(batch))
        if len(passes) > 1:
            raise KeyboardInterrupt
        return plain(self, batch)

    with monkeypatch.context() as patched:
        patched.setattr(NearestCentroid, "outputs", killed)
        with pytest.raises(KeyboardInterrupt):
            world.run([stage])
    assert next((tmp_path / "a" / "stores" / "work").rglob("*.records")).stat().st_size > 0
    retrained(world, "centroid", tmp_path / "b")
    world.run([stage])
    mixed = world.tables_of([stage])[0]
    world.run([stage], force=True)
    pd.testing.assert_frame_equal(world.tables_of([stage])[0], mixed)


def test_predictions_of_other_weights_are_refused(tmp_path: Path) -> None:
    world = World(tmp_path / "a")
    world.run(world.predictions)
    retrained(world, "centroid", tmp_path / "b")
    said = (
        r"models: centroid: \S+predictions/original/centroid/\w+ was predicted with other weights than those that \S+ "
        r"names; remove the folders \S+/models/centroid, \S+/predictions/\*/centroid, .* and \S+/report"
    )
    with pytest.raises(InputError, match=said):
        world.run(world.predictions)
    job = Batch(world.versions, world.data, 1).job(world.stages["predictions/threshold/centroid"])
    with pytest.raises(InputError, match=said):
        predictions.require_same_weights(job, own=False)
    shutil.rmtree(world.folder(world.predictions[0]).parent)
    assert world.run(world.predictions) == ["predictions/original/centroid"]


def test_forced_predictions_start_from_nothing(tmp_path: Path, decoded: list[int]) -> None:
    world = World(tmp_path)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(predictions, "write", stopped)
        with pytest.raises(KeyboardInterrupt):
            world.run(world.predictions)
    decoded.clear()
    world.run(world.predictions, force=True)
    assert len(decoded) == 36


def stopped(*_: Any, **__: Any) -> None:
    raise KeyboardInterrupt


def test_a_stopped_run_goes_on_with_its_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoded: list[int]
) -> None:
    world = World(tmp_path)
    passes = []
    plain = NearestCentroid.outputs

    def killed(self: NearestCentroid, batch: Any) -> Any:
        passes.append(len(batch))
        return plain(self, batch)

    monkeypatch.setattr(NearestCentroid, "outputs", killed)
    with monkeypatch.context() as patched:
        patched.setattr(jobs, "publish", stopped)
        with pytest.raises(KeyboardInterrupt):
            world.run(world.predictions)
    asked, seen = len(passes), len(decoded)
    assert len(world.run(world.predictions)) == 3
    assert len(passes) == asked
    assert len(decoded) == seen


def test_what_goes_with_predictions(tmp_path: Path) -> None:
    world = World(tmp_path, logits=True)
    world.run(world.predictions)
    stage = world.predictions[1]
    logits = np.load(world.folder(stage) / "logits.npy")
    table = world.tables()[1]
    assert (logits.dtype, logits.shape) == (np.float16, (18, 3))
    assert (logits.argmax(axis=1) == [row[0] for row in table["top5"]]).all()
    assert (table["top_probability"] >= table["probability"]).all()
    right = table["rank"] == 0
    assert (table["top_probability"] == table["probability"])[right].all()
    assert json.loads((world.folder(stage) / "evaluated.json").read_text()) == {
        "mode": "reference",
        "precision": "float32",
        "compiled": False,
        "device": "cpu",
        "weights": json.loads((world.folder(world.models[1]) / "model.json").read_text())["weights_sha256"],
        "batch": 8,
        "sample": None,
    }


def test_a_fast_mode_says_how_far_it_is_from_reference(tmp_path: Path) -> None:
    world = World(tmp_path, mode="bf16")
    world.run(world.predictions)
    found = json.loads((world.folder(world.predictions[0]) / "evaluated.json").read_text())
    assert (found["mode"], found["precision"]) == ("bf16", "bfloat16")
    assert found["sample"] == {"images": 18, "same_first": 1.0, "largest": 0.0}


def told(capsys: pytest.CaptureFixture[str], *options: str) -> str:
    assert main(["predictions", "original", *options]) == 1
    return capsys.readouterr().err


def test_the_command_evaluates_all_models_or_those_that_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "config.yaml").write_text(json.dumps({"models": ENTRIES}))
    given = ["--config", str(tmp_path / "config.yaml"), "--data", str(tmp_path / "data")]
    names = [f"predictions/original/{entry['name']}" for entry in ENTRIES]
    assert ", ".join(names) + ": versions are" in told(capsys, *given, "--expect", "0")
    some = told(capsys, *given, "--expect", "0", "--model", "larger", "--model", "centroid")
    assert f"predictions: {names[0]}, {names[2]}: versions are" in some
    wrong = told(capsys, *given, "--model", "none")
    assert (
        "--model none: no such model under this configuration; known are centroid, fourier, larger." in wrong
    )
