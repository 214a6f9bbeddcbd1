"""Evaluation divided into jobs: together they make every prediction once."""

import pytest

from imagenetv2.evaluation.jobs import jobs
from imagenetv2.loading import validate
from imagenetv2.plan import Plan


def configuration(separate):
    return validate({"evaluation": {"separate": separate}}, [])


@pytest.mark.parametrize("separate", [False, True])
def test_jobs_make_every_prediction_once(separate):
    config = configuration(separate)
    made = [stage for job in jobs(config) for stage in job.stages(config)]
    assert sorted(made) == sorted(Plan.of(config).family("predictions"))
    assert len({job.name for job in jobs(config)}) == len(jobs(config))


def test_a_job_of_one_model_names_it():
    config = configuration(True)
    job = jobs(config)[0]
    assert job.options == f"--model {job.model}"
    assert job.stages(config) == [f"predictions/{job.member}/{job.model}"]
