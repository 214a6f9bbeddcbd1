"""Evaluation divided into jobs: together they make every prediction once."""

import pytest

from imagenetv2.evaluation.jobs import jobs
from imagenetv2.loading import validate
from imagenetv2.plan import Plan


def planned(separate):
    return Plan.of(validate({"evaluation": {"separate": separate}}, []))


@pytest.mark.parametrize("separate", [False, True])
def test_jobs_make_every_prediction_once(separate):
    plan = planned(separate)
    made = [stage for job in jobs(plan) for stage in job.stages]
    assert sorted(made) == sorted(plan.family("predictions"))
    assert len({job.name for job in jobs(plan)}) == len(jobs(plan))


def test_a_job_of_one_model_names_it():
    plan = planned(True)
    job = jobs(plan)[0]
    assert job.model == plan.config.models[0].name
    assert job.stages == (f"predictions/{job.member}/{job.model}",)
    assert {job.model for job in jobs(planned(False))} == {None}
