"""The stage ``analysis`` on a simulated run."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from imagenetv2.analysis import sources, truth
from imagenetv2.analysis.analysis import run
from imagenetv2.analysis.funnel import funnel
from imagenetv2.config import Config
from imagenetv2.errors import InputError
from imagenetv2.graph import stages
from imagenetv2.job import Job
from imagenetv2.world.truth import DEFAULT
from tests.unit.analysis_inputs import simulate

MakeJob = Callable[..., Job]


@pytest.fixture
def job(make_job: MakeJob) -> Job:
    config, inputs = simulate(candidates=40)
    return make_job("analysis", config=config, inputs=inputs)


def written(job: Job, name: str) -> pd.DataFrame:
    return pd.read_parquet(job.out.folder / name)


def test_tables_of_a_run(job: Job) -> None:
    run(job)
    table = written(job, "accuracies.parquet")
    assert len(table) == 5 * 4
    one = job.read("predictions/threshold/model_2").table("predictions")
    cell = table[(table["model"] == "model_2") & (table["set"] == "threshold")].iloc[0]
    assert cell["top1"] == pytest.approx((one["rank"] == 0).mean())
    assert cell["images"] == len(one) == 48
    rules = written(job, "rules.parquet").set_index("set")
    votes = job.read("frequencies").table("frequencies")
    ours = votes[(votes["origin"] == "reference") & ~votes["negative"] & (votes["shown"] >= 10)]
    assert rules.loc["original", "annotated"] == len(ours)
    assert rules.loc["original", "frequency"] == pytest.approx(ours["frequency"].mean())
    assert rules.loc["top_images", "frequency"] > rules.loc["matched_frequency", "frequency"]
    for name in ("matched_frequency", "threshold", "top_images"):
        row = rules.loc[name]
        assert row["true_low"] <= row["true_frequency"] <= row["true_high"]
        assert row["change_low"] <= row["change_top1"] <= row["change_high"]
    # Chosen for looking good in ten votes: truly worse than they looked.
    assert rules.loc["top_images", "true_high"] < rules.loc["top_images", "frequency"]
    groups = written(job, "groups.parquet").query("group == 'all'").set_index("set")
    assert groups["change"].to_numpy() == pytest.approx(rules.loc[groups.index, "change_top1"].to_numpy())
    bins = written(job, "bins.parquet").groupby("set")["images"].sum()
    assert bins["original"] == len(ours) and bins["threshold"] == 48


def test_fits_of_a_run(job: Job) -> None:
    run(job)
    fits = written(job, "fits.parquet")
    assert {(f.set, f.scale, f.over) for f in fits[fits["group"] == "all"].itertuples()} == {
        (rule, scale, over)
        for rule in ("matched_frequency", "threshold", "top_images")
        for scale in ("linear", "probit", "logit")
        for over in ("models", "images", "classes", "both")
    }
    wide = 100 * written(job, "accuracies.parquet").pivot(index="model", columns="set", values="top1")
    first = fits.query("set == 'threshold' and scale == 'linear' and group == 'all'").iloc[0]
    slope, offset = np.polyfit(wide["original"], wide["threshold"], 1)
    assert (first["slope"], first["offset"]) == (pytest.approx(slope), pytest.approx(offset))


def test_the_real_world_has_no_truth(make_job: MakeJob) -> None:
    config, inputs = simulate(world=False, metrics=("ssim",), models=2)
    job = make_job("analysis", config=config, inputs=inputs)
    run(job)
    rules = written(job, "rules.parquet")
    assert rules[["true_frequency", "true_low", "true_shift"]].isna().all().all()
    assert rules["frequency"].notna().all()


def test_predictions_for_other_images_name_the_model(make_job: MakeJob) -> None:
    config, inputs = simulate(classes=2)
    table = inputs["predictions/threshold/model_3"]["predictions.parquet"]
    inputs["predictions/threshold/model_3"]["predictions.parquet"] = table.iloc[1:]
    job = make_job("analysis", config=config, inputs=inputs)
    with pytest.raises(InputError, match="model_3"):
        run(job)


def test_the_funnel_adds_up(job: Job) -> None:
    tables = sources.read(job)
    rows = funnel(tables, 10)
    assert rows["order"].tolist() == list(range(len(rows)))

    def total(stage: str, *, dropped: bool, unit: str | None = None) -> int:
        chosen = rows[(rows["stage"] == stage) & (rows["dropped"] == dropped)]
        return int((chosen if unit is None else chosen[chosen["unit"] == unit])["count"].sum())

    def count(step: str) -> int:
        return int(rows.loc[rows["step"] == step, "count"].iloc[0])

    returned, admitted = count("records returned by Flickr"), count("photographs admitted to a class")
    assert returned - total("search", dropped=True) == admitted == len(tables.found)
    distinct = count("distinct photographs to download")
    assert distinct - total("candidates", dropped=True) == count("distinct images in the pool")
    assert count("candidates: an image and a class") == len(tables.candidates)
    for rule, images in tables.images.items():
        mine = rows[rows["stage"] == f"datasets/{rule}"]
        kept = mine[~mine["dropped"]].set_index("step")["count"]
        unfit = mine[mine["dropped"] & (mine["step"] != "eligible, not drawn")]["count"].sum()
        assert kept["eligible candidates"] == len(tables.candidates) - unfit
        assert kept["images in the frozen set"] == len(images)
    known = stages(Config())
    for table in rows["table"]:
        stage, _, file = table.rpartition("/")
        assert file in {f.name for f in known[stage].files}


def test_truth_goes_by_file_and_class(job: Job) -> None:
    tables = sources.read(job)
    assert tables.world is not None
    known = tables.world.truth.set_index(["file", "wnid"])["probability"]
    some = tables.images["threshold"].head(5)
    found = truth.probabilities(some, "candidates", tables)
    wanted = [known[(f"photos/{i}.jpg", w)] for i, w in zip(some["image_id"], some["wnid"], strict=True)]
    assert found is not None and found.tolist() == wanted
    stranger = some.assign(wnid="n99999999")
    assert set(truth.probabilities(stranger, "candidates", tables)) == {DEFAULT}
    old = tables.reference.head(3)
    assert truth.probabilities(old, "reference", tables).tolist() == [
        known[(f, w)] for f, w in zip(old["source_file"], old["wnid"], strict=True)
    ]
