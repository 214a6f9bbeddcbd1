"""The stage ``metrics``: every model on every set, from their predictions alone."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.evaluation.metrics import real
from imagenetv2.evaluation.metrics.stage import run
from imagenetv2.evaluation.metrics.summary import summary
from imagenetv2.evaluation.settings import Metrics
from imagenetv2.evaluation.stages import SETS
from imagenetv2.graph import stages
from imagenetv2.job import Job
from imagenetv2.testsets import timm_tables
from imagenetv2.versions import plan
from tests.unit.analysis_inputs import simulate
from tests.unit.evaluation_predictions import predictions

MakeJob = Callable[..., Job]


def written(job: Job, name: str) -> pd.DataFrame:
    return pd.read_parquet(job.out.folder / f"{name}.parquet")


def test_every_model_on_every_set(make_job: MakeJob) -> None:
    config, inputs = simulate(models=3)
    settings = {"level": 0.9, "bin_images": 16, "subsets": {"two": ["n00000001", "n00000003"]}}
    job = make_job("metrics", config={**config, "metrics": settings}, inputs=inputs)
    run(job)
    found, single = written(job, "metrics"), written(job, "per_class")
    assert set(found["set"]) == set(SETS) and set(found["model"]) == {f"model_{i}" for i in range(3)}
    one = job.read("predictions/threshold/model_1").table("predictions")
    wanted = summary(one, 0.9, bin_images=16, subsets={"two": ["n00000001", "n00000003"]})
    mine = found.query("set == 'threshold' and model == 'model_1'").set_index("metric")
    pd.testing.assert_frame_equal(
        mine.loc[wanted["metric"], ["images", "value", "low", "high"]], wanted.set_index("metric")
    )
    assert len(single) == 3 * len(SETS) * 4
    classes = single.query("set == 'original' and model == 'model_2'")
    assert classes["images"].tolist() == [30] * 4
    table = job.read("predictions/original/model_2").table("predictions")
    right = table[table["rank"] == 0]["wnid"].value_counts()
    assert dict(zip(classes["wnid"], classes["right"], strict=True)) == right.to_dict()


def imagenet(images: int) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """ImageNet's classes, the first validation images, and answers to them of which some are among the labels."""
    wnids = timm_tables.imagenet_wnids()
    classes = pd.DataFrame({"class_index": range(1000), "wnid": wnids, "definition": ""})
    for column in ("lemmas", "wikipedia", "hypernyms", "neighbours"):
        classes[column] = [[] for _ in wnids]
    table = predictions(images, classes=1000, seed=2, skill=4)
    table["wnid"] = [wnids[c] for c in table["class_index"]]
    reference = table[["image_id", "wnid", "class_index"]].assign(
        split="val", file="x", source_file=[f"val/ILSVRC2012_val_{i + 1:08d}.JPEG" for i in range(images)],
        source_sha256="", source_format="JPEG", width=1, height=1, spread=1.0,
    )  # fmt: skip
    return classes, reference, table


def test_real_accuracy_of_imagenets_validation_images(make_job: MakeJob) -> None:
    classes, reference, table = imagenet(400)
    table["top5"] = [[int(x) if x >= 0 else 0, 1, 2, 3, 4] for x in real.real_labels()[:400, 0]]
    config = {
        "models": [{"name": "m", "kind": "hog"}],
        "metrics": {"subsets": {"imagenet-a": ["imagenet-a"]}},
    }
    inputs = {
        "classes": {"classes.parquet": classes},
        # The test images may share pixels and class with others; only the validation split counts.
        "reference": {
            "reference.parquet": pd.concat([reference, reference.assign(split="train", source_file="t")])
        },
        **{f"predictions/{name}/m": {"predictions.parquet": table} for name in SETS},
    }
    job = make_job("metrics", config=config, inputs=inputs)
    run(job)
    found = written(job, "metrics").set_index(["set", "metric"])
    row = found.loc[("original", "real_top1")]
    assert row["value"] == 1 and row["images"] == (real.real_labels()[:400, 0] >= 0).sum() < 400
    assert ("threshold", "real_top1") not in found.index
    mask = set(np.loadtxt(timm_tables.text("imagenet_a_indices.txt").splitlines(), int))
    some = found.loc[("original", "top1[images of imagenet-a]")]
    assert some["images"] == table["class_index"].isin(mask).sum()


def test_a_strange_class_in_a_subset_is_named(make_job: MakeJob) -> None:
    config, inputs = simulate(models=1)
    config["metrics"] = {"subsets": {"a": ["imagenet-a"]}}
    with pytest.raises(InputError, match=r"metrics\.subsets\.a: 200 of its 200 classes .* n01498041"):
        run(make_job("metrics", config=config, inputs=inputs))


@pytest.mark.parametrize(
    "settings",
    [{"subsets": {"x": ["dog"]}}, {"subsets": {"x": []}}, {"subsets": {"a b": ["n01440764"]}}, {"bins": 0},
     {"subsets": {"x": ["n01440764"]}, "subset_files": {"x": "x.txt"}}, {"level": 1}],
)  # fmt: skip
def test_settings_that_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Metrics.model_validate(settings)


def test_the_content_of_a_file_of_classes_is_part_of_the_version(tmp_path: Path) -> None:
    versions = []
    for place, text in (("a.txt", "n1"), ("b.txt", "n1"), ("b.txt", "n2")):
        (tmp_path / place).write_text(text)
        config = Config.model_validate({"metrics": {"subset_files": {"dogs": str(tmp_path / place)}}})
        alone = replace(stages(config)["metrics"], reads=())
        versions.append(plan({"metrics": alone}, 0)["metrics"])
    assert versions[0] == versions[1] != versions[2]


def test_a_released_study_has_no_metrics() -> None:
    assert "metrics" not in stages(Config.model_validate({"record": {"path": "record.tar.gz"}}))


def test_no_network_library_is_imported() -> None:
    code = (
        "import imagenetv2.evaluation.metrics.stage, imagenetv2.evaluation.metrics.real as r, sys; r.real_labels();"
        "print([m for m in ('torch', 'timm', 'sklearn', 'scipy.stats') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
