"""The benchmarks of evaluation, small and in this process: that they run, and that contenders agree. No times."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from imagenetv2.cli import main
from imagenetv2.testsets.timm_tables import imagenet_wnids

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture
def bench(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[ModuleType]:
    """``evaluation``, whose processes are calls, on drawn photographs."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    names = ("evaluation", "evaluation_contenders", "evaluation_set", "photograph_set")
    module, contenders, _, photographs = (importlib.import_module(name) for name in names)
    monkeypatch.setattr(photographs, "PACKS", tmp_path / "none")
    monkeypatch.setattr(contenders, "WORKERS", 0)
    monkeypatch.setattr(
        module.Bench, "run", lambda self, name, task: json_of(contenders.CONTENDERS[name](task))
    )

    def called(command: Sequence[str], codes: Sequence[int] = (0,)) -> str:
        assert command[1:3] == ["-m", "imagenetv2.cli"]
        assert main(list(command[3:])) in codes
        return ""

    monkeypatch.setattr(module, "succeed", called)
    threads = torch.get_num_threads()
    yield module
    torch.set_num_threads(threads)


def json_of(found: tuple[dict[str, Any], dict[str, Any]]) -> tuple[dict[str, Any], dict[str, Any]]:
    """As it comes back from another process."""
    return json.loads(json.dumps(found[0])), found[1]


# timm leaves photographs open.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_the_benchmark_runs_and_finds_agreement(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.argv", ["evaluation.py", "--quick", "--cores", "2", "--folder", str(tmp_path)])
    bench.main()
    said = capsys.readouterr().out
    assert "a script of ours in place of validate.py" in said
    assert "24 JPEG photographs drawn" in said
    for row in (
        "2 networks",
        "test_efficientnet",
        "our run, from files",
        "forward passes alone, tensors in memory",
    ):
        assert re.search(rf"^\| {row} \| [\d.]+ \|", said, re.M), row
    assert (
        "Of 48 first classes 0 are others than in direct passes, and 0 of their probabilities; of 2 accuracies 0 are "
        "others than timm's." in said
    )


def test_disagreement_is_said(bench: ModuleType, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    made = bench.Bench(tmp_path, bench.arguments(["--quick"]))
    first = np.array([[1, 2, 3], [4, 5, 6]])
    made.first = dict(zip(made.task.networks, first, strict=True)).__getitem__
    probability = np.full((2, 3), 0.5)
    best = {
        "first": first + (first == 6),
        "probability": probability,
        "our_probability": probability + np.array([[1e-4, 0, 1e-9], [0, -1e-3, 0]]),
    }
    one, other = made.task.networks
    theirs = {one: bench.Timed(1, {one: 40.0}), other: bench.Timed(1, {other: 50.0})}
    bench.agreement(made, best, theirs, bench.Timed(1, {one: 40.0, other: 50.1}))
    assert (
        "Of 6 first classes 1 are others than in direct passes, and 2 of their probabilities; of 2 accuracies 1 are "
        f"others than timm's: {other} 50.0 and 50.1." in capsys.readouterr().out
    )


def test_photographs_are_always_the_same_and_lie_where_they_are_seen(
    bench: ModuleType, tmp_path: Path
) -> None:
    made = importlib.import_module("evaluation_set")
    for name in ("one", "other"):
        made.draw(tmp_path / name, 4)
    data = {name: [f.read_bytes() for f in sorted((tmp_path / name).iterdir())] for name in ("one", "other")}
    assert data["one"] == data["other"] and len(set(data["one"])) == 4
    for file in (tmp_path / "one").iterdir():
        with Image.open(file) as picture:
            assert (picture.format, picture.size in made.SIZES) == ("JPEG", True)
    wnids = imagenet_wnids()
    made.sort_in(tmp_path / "one", tmp_path / "val", np.array([[7, 8, 9, 10], [1, 2, 3, 2]]), wnids)
    found = {file.name: file.parent.name for file in (tmp_path / "val").rglob("*.JPEG")}
    assert [found[f"{i:05}.JPEG"] for i in range(4)] == [wnids[7], wnids[2], wnids[9], wnids[2]]


def test_what_is_measured_on_a_gpu_runs_on_a_cpu(
    bench: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    gpu = importlib.import_module("evaluation_gpu")
    forward = importlib.import_module("evaluation_forward")
    monkeypatch.setattr("sys.argv", ["evaluation_gpu.py", "--quick", "--device", "cpu", "--cores", "2"])
    small = gpu.Sizes("test_resnet", 32, 16, 2, 4, 4, ("squeezenet1_1",))
    monkeypatch.setattr(gpu, "QUICK", small)
    monkeypatch.setattr(forward, "TIMES", 1)
    gpu.main()
    said = capsys.readouterr().out
    assert re.search(r"^\| cpu, reference \| 0.0e\+00 deviations of outputs \| 100.0% \|", said, re.M)
    for row in (
        "test_resnet, bf16, forward passes alone",
        "our run, 2 networks on prepared images",
        "bf16 | 1",
    ):
        assert f"| {row}" in said, row
