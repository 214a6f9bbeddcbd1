"""Every trained kind through its two stages, and what the stages refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.neighbors import NearestCentroid

from imagenetv2.artifacts import Artifact
from imagenetv2.errors import InputError
from imagenetv2.evaluation import models, predictions
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.pictures import Pictures
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.running.ledger import record_type
from imagenetv2.evaluation.settings import Model
from imagenetv2.job import Job
from imagenetv2.sampling.frozen import digest
from tests.unit.evaluation_sets import WNIDS, classes_table, reference, rows_of

TRAINED: dict[str, dict[str, Any]] = {
    "nearest_centroid": {"side": 8},
    "random_features": {"side": 8, "components": 100},
    "fisher_vectors": {"side": 48, "components": 4},
    "hog": {"side": 32},
    "lite0_features": {"side": 32},
    "timm_trained": {"side": 32, "architecture": "test_vit", "epochs": 6},
}
Made = tuple[dict[str, Any], bytes]


def config(kind: str, **changes: Any) -> dict[str, Any]:
    return {"models": [{"name": "m", "kind": kind, **TRAINED.get(kind, {}), **changes}]}


def inputs(**changes: Any) -> dict[str, dict[str, Any]]:
    return {"classes": {"classes.parquet": classes_table()}, "reference": reference(), **changes}


def trained(make_job: Callable[..., Job], kind: str, **changes: Any) -> Made:
    job = make_job("models/m", config=config(kind, **changes), inputs=inputs())
    models.run(job)
    folder = job.out.folder
    return json.loads((folder / "model.json").read_text()), (folder / "weights.safetensors").read_bytes()


def predicted(
    make_job: Callable[..., Job], kind: str, made: Made, given: dict[str, Any] | None = None, **options: Any
) -> pd.DataFrame:
    where = options.pop("where", "original")
    model = {"models/m": {"model.json": made[0], "weights.safetensors": made[1]}}
    job = make_job(
        f"predictions/{where}/m",
        config=config(kind) | {"evaluation": options.pop("evaluation", {})},
        inputs=(inputs() if given is None else given) | model,
        **options,
    )
    predictions.run(job)
    return pd.read_parquet(job.out.folder / "predictions.parquet")


@pytest.mark.parametrize("kind", TRAINED)
def test_a_trained_kind_learns_and_predicts_every_image(make_job: Callable[..., Job], kind: str) -> None:
    made = trained(make_job, kind)
    assert made[0]["outputs"] == 3
    assert made[0]["columns"] == [0, 1, 2]
    assert len(made[0]["weights_sha256"]) == 64
    assert made[0]["preprocessing"]["cut"]["size"] == [TRAINED[kind]["side"]] * 2
    found = predicted(make_job, kind, made)
    wanted = reference()["reference.parquet"].query("split == 'val'").sort_values(["image_id", "wnid"])
    assert found["image_id"].tolist() == wanted["image_id"].tolist()
    assert (found["rank"] == 0).mean() > 0.75
    assert all(sorted(row) == [0, 1, 2] for row in found["top5"])
    firsts = [row[rank] for row, rank in zip(found["top5"], found["rank"], strict=True)]
    assert firsts == found["class_index"].tolist()


@pytest.mark.parametrize("kind", TRAINED)
def test_training_again_gives_the_same_bytes_and_other_seeds_others(
    make_job: Callable[..., Job], kind: str
) -> None:
    changes = {"epochs": 1} if kind == "timm_trained" else {}
    first = trained(make_job, kind, **changes)
    assert trained(make_job, kind, **changes) == first
    job = make_job("models/m", config=config(kind, **changes), inputs=inputs(), seed=7, cores=2)
    models.run(job)
    again = (job.out.folder / "weights.safetensors").read_bytes()
    assert (again != first[1]) == (kind in ("random_features", "fisher_vectors", "timm_trained"))


@pytest.mark.parametrize("kind", ["nearest_centroid", "random_features", "hog", "timm_trained"])
def test_no_bit_of_predictions_depends_on_how_they_are_run(make_job: Callable[..., Job], kind: str) -> None:
    made = trained(make_job, kind, **({"epochs": 1} if kind == "timm_trained" else {}))
    whole = predicted(make_job, kind, made)
    for memory, cores in ((2.0, 3), (1e-6, 1), (1e-5, 2)):
        other = predicted(make_job, kind, made, cores=cores, evaluation={"memory": memory, "batch": 3})
        pd.testing.assert_frame_equal(other, whole)


def test_nearest_centroid_is_scikit_learns(make_job: Callable[..., Job], tmp_path: Path) -> None:
    found = predicted(make_job, "nearest_centroid", trained(make_job, "nearest_centroid"))
    files = reference()
    (tmp_path / "images.zip").write_bytes(files["images.zip"])
    table = files["reference.parquet"]
    cut = Cut.square(8)
    pixels = [cut(p).ravel() / 255.0 for p in Pictures(tmp_path / "images.zip", table["file"].tolist())]
    train = (table["split"] == "train").to_numpy()
    fitted = NearestCentroid().fit(np.stack(pixels)[train], table["class_index"][train])
    answers = dict(zip(table["image_id"], fitted.predict(np.stack(pixels)), strict=True))
    assert [answers[i] for i in found["image_id"]] == [row[0] for row in found["top5"]]


def dataset(frozen: bool = True) -> dict[str, dict[str, Any]]:
    """Candidates of which the first two of each class are a set."""
    rows, _ = rows_of("pool", 4, 9)
    pool = pd.DataFrame(rows).drop(columns=["split", "source_file"])
    pool = pool.assign(
        photo_id="1", query="q", rung=0, owner_id="o", license="4", uploaded=0, exif_orientation=1
    )
    chosen = pool.groupby("wnid").head(2)
    images = chosen[["image_id", "wnid", "class_index"]].assign(
        shown=10, selected=8, frequency=0.8, bin=-1, own_bin=-1, entered=0, how="drawn"
    )
    freeze = {
        "frozen": frozen,
        "revision": 0,
        "digest": digest(zip(images["wnid"], images["image_id"], strict=True)),
        "blocked": [] if frozen else ["2 classes are under review"],
        "remedy": "review them.",
    }
    from tests.unit.evaluation_sets import archive

    return {
        "classes": {"classes.parquet": classes_table()},
        "candidates": {"candidates.parquet": pool, "images.zip": archive(rows_of("pool", 4, 9)[1])},
        "datasets/threshold": {"images.parquet": images, "freeze.json": freeze},
    }


def test_a_frozen_set_is_evaluated(make_job: Callable[..., Job]) -> None:
    made = trained(make_job, "nearest_centroid")
    given = dataset()
    found = predicted(make_job, "nearest_centroid", made, given, where="threshold")
    assert sorted(found["image_id"]) == sorted(given["datasets/threshold"]["images.parquet"]["image_id"])
    assert (found["rank"] == 0).mean() > 0.8


def test_a_set_under_review_is_refused(make_job: Callable[..., Job]) -> None:
    made = trained(make_job, "nearest_centroid")
    with pytest.raises(InputError, match="not frozen"):
        predicted(make_job, "nearest_centroid", made, dataset(frozen=False), where="threshold")


def test_an_image_that_is_no_candidate_is_refused(make_job: Callable[..., Job]) -> None:
    made = trained(make_job, "nearest_centroid")
    given = dataset()
    first = given["datasets/threshold"]["images.parquet"]["image_id"].iloc[0]
    pool = given["candidates"]["candidates.parquet"]
    given["candidates"]["candidates.parquet"] = pool[pool["image_id"] != first]
    with pytest.raises(InputError, match=f"{first} is not among the candidates"):
        predicted(make_job, "nearest_centroid", made, given, where="threshold")


def test_a_class_without_training_images_is_named(make_job: Callable[..., Job]) -> None:
    files = reference()
    table = files["reference.parquet"]
    files["reference.parquet"] = table[(table["split"] == "val") | (table["wnid"] != WNIDS[1])]
    with pytest.raises(InputError, match=f"no training images, such as {WNIDS[1]}"):
        models.run(make_job("models/m", config=config("nearest_centroid"), inputs=inputs(reference=files)))


@pytest.mark.parametrize("count", [1, 3])
def test_records_of_other_than_all_images_are_refused(count: int) -> None:
    labels = pd.DataFrame({"image_id": ["a", "b"], "wnid": ["n1", "n1"], "class_index": [0, 0]})
    with pytest.raises(ValueError, match=f"records of {count} images, not of 2"):
        predictions.table(labels, np.zeros(count, record_type(2, False)))


def test_numpy_models_do_not_need_torch(tmp_path: Path) -> None:
    import subprocess
    import sys

    code = (
        "import sys; from imagenetv2.evaluation import models, predictions, batch;"
        "import imagenetv2.evaluation.kinds.gradients, imagenetv2.evaluation.kinds.random_features;"
        "import imagenetv2.evaluation.kinds.nearest_centroid; sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0


def test_a_whole_artifact_reads_back(make_job: Callable[..., Job]) -> None:
    made = trained(make_job, "nearest_centroid")
    job = make_job(
        "predictions/original/m",
        config=config("nearest_centroid"),
        inputs={"models/m": {"model.json": made[0], "weights.safetensors": made[1]}},
    )
    artifact: Artifact = job.read("models/m")
    assert models.facts_of(artifact) == made[0]
    assert models.weights_of(artifact)["centroids"].shape == (3, 8 * 8 * 3)


def test_weights_that_are_not_those_that_were_noted_are_refused(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    noted = {"preprocessing": Preprocessing(Cut.square(8)).to_json(), "state_sha256": "a" * 64}
    job = make_job(
        "predictions/original/m",
        config=config("lite0"),
        inputs={"models/m": {"model.json": noted, "weights.safetensors": b""}},
    )

    class Loaded:
        digest = "a" * 64

    monkeypatch.setattr(models, "load", lambda *_: Loaded())
    runnable = models.runnable(job.settings(Model), job.read("models/m"))
    assert (runnable.name, runnable.cut) == ("m", Cut.square(8))
    assert runnable.load(Compute()).digest == "a" * 64
    monkeypatch.setattr(Loaded, "digest", "b" * 64)
    with pytest.raises(
        InputError,
        match=r"models: m: its weights or its code are not those with the digest aaaaaaaaaa that .* remove the folders \S+/models/m,",
    ):
        runnable.load(Compute())


def test_records_of_one_device_are_not_gone_on_with_on_another(
    make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = trained(make_job, "nearest_centroid")
    model = {"models/m": {"model.json": made[0], "weights.safetensors": made[1]}}
    job = make_job("predictions/original/m", config=config("nearest_centroid"), inputs=inputs() | model)

    def ledger() -> Path:
        return predictions.work_of(job, predictions.Opener()).task.ledger

    on_cpu = ledger()
    assert (on_cpu, on_cpu.parent) == (ledger(), job.work)
    monkeypatch.setattr(predictions, "devices", lambda _: ("cuda:0", "cuda:1"))
    monkeypatch.setattr(predictions, "device_name", lambda _: "NVIDIA H200 (80 GB)")
    assert ledger() != on_cpu


def test_a_damaged_image_is_named(make_job: Callable[..., Job], monkeypatch: pytest.MonkeyPatch) -> None:
    made = trained(make_job, "nearest_centroid")
    files = reference()
    files["images.zip"] = files["images.zip"].replace(b"IDAT", b"IDAX", 40)
    with pytest.raises(
        InputError, match=r"images\.zip: n0000000\d/\w+\.png is damaged \(.*; delete its folder"
    ):
        predicted(make_job, "nearest_centroid", made, inputs(reference=files))
