"""A job asks for a GPU only where there may be one."""

from pathlib import Path

import pytest

from imagenetv2.gpus import gpus


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
    assert gpus(device, elsewhere, devices=tmp_path) == taken
