"""Evaluation divided into jobs: together they make every prediction once, and ask for a GPU only where one may be."""

from pathlib import Path

import pytest

from imagenetv2.evaluation.jobs import gpus, jobs
from imagenetv2.loading import load, validate
from imagenetv2.plan import Plan


def configuration(**evaluation):
    return validate({"evaluation": evaluation}, []) if evaluation else load([])


@pytest.mark.parametrize("separate", [False, True])
def test_jobs_make_every_prediction_once(separate):
    config = configuration(separate=separate)
    made = [stage for job in jobs(config) for stage in job.stages(config)]
    assert sorted(made) == sorted(Plan.of(config).family("predictions"))
    assert len({job.name for job in jobs(config)}) == len(jobs(config))


def test_a_job_of_one_model_names_it():
    config = configuration(separate=True)
    job = jobs(config)[0]
    assert job.options == f"--model {job.model}"
    assert job.stages(config) == [f"predictions/{job.member}/{job.model}"]


@pytest.mark.parametrize(
    ("device", "elsewhere", "present", "taken"),
    [
        ("auto", False, [], 0),
        ("auto", False, ["nvidia0"], 1),
        ("auto", False, ["nvidiactl"], 0),
        ("auto", True, [], 1),
        ("cpu", True, ["nvidia0"], 0),
    ],
)
def test_a_job_takes_a_gpu_where_there_may_be_one(tmp_path: Path, device, elsewhere, present, taken):
    for name in present:
        (tmp_path / name).touch()
    assert gpus(configuration(device=device), elsewhere, devices=tmp_path) == taken
