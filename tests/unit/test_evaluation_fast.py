"""Fast modes on CPU tensors: autocast, memory layout, compilation and whole runs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.kinds import compiling
from imagenetv2.evaluation.kinds.compiling import compiled
from imagenetv2.evaluation.kinds.network import Network
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.running.passes import CPU_PASS
from imagenetv2.evaluation.running.tasks import Runnable, Task
from imagenetv2.evaluation.settings import Mode
from imagenetv2.networks.reproducible import numerics
from tests.unit.evaluation_running import CLASSES, filled, images, read, task

CUT = Cut.square(8, 8)
SCALE = Preprocessing(CUT)
FAST: tuple[Mode, ...] = ("bf16", "fp16")
SWITCHES: tuple[tuple[Any, str], ...] = (
    (torch.backends.cudnn, "benchmark"),
    (torch.backends.cudnn, "deterministic"),
    (torch.backends.cudnn, "allow_tf32"),
    (torch.backends.cuda.matmul, "allow_tf32"),
    (torch.utils.deterministic, "fill_uninitialized_memory"),
)


class Small(nn.Module):
    """A network of any width, which notes what it is given and under which circumstances."""

    def __init__(self, width: int = 6) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(width)
        self.first = nn.Conv2d(3, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.last = nn.Linear(width, CLASSES)
        for values in self.parameters():
            values.data = torch.randn(values.shape, generator=generator)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = self.last(torch.relu(self.norm(self.first(x))).mean((2, 3)))
        return found


class Noting(Small):
    """Notes inputs' shapes and layouts, and the state of the thread that calls."""

    def __init__(self) -> None:
        super().__init__()
        self.noted: list[dict[str, Any]] = []

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        product = self.first(x)
        self.noted.append({
            "shape": tuple(x.shape),
            "last": x.is_contiguous(memory_format=torch.channels_last),
            "weights": self.first.weight.is_contiguous(memory_format=torch.channels_last),
            "inference": torch.is_inference_mode_enabled(),
            "threads": torch.get_num_threads(),
            "kind": product.dtype,
            "benchmark": torch.backends.cudnn.benchmark,
            "main": threading.current_thread() is threading.main_thread(),
        })  # fmt: skip
        found: torch.Tensor = self.last(torch.relu(self.norm(product)).mean((2, 3)))
        return found


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[int, ...]]]:
    """Shapes of inputs for which something was compiled; what is compiled runs as it was traced."""
    shapes: list[tuple[int, ...]] = []

    def backend(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Callable[..., Any]:
        shapes.extend(tuple(x.shape) for x in inputs if x.ndim == 4 and x.shape[1:] == (3, 8, 8))
        return graph.forward

    monkeypatch.setattr(compiling, "BACKEND", backend)
    torch._dynamo.reset()
    yield shapes
    torch._dynamo.reset()


def batch(count: int) -> Any:
    return np.random.default_rng(count).integers(0, 256, (count, 8, 8, 3)).astype(np.uint8)


def runnable(module: Callable[[], nn.Module], name: str = "m") -> Runnable:
    return Runnable(name, CUT, lambda compute: Network(module(), SCALE, compute))


def work(folder: Path, module: Callable[[], nn.Module], count: int = 19, name: str = "m") -> Task:
    return task(folder, runnable(module, name), images(count))


@pytest.mark.parametrize("mode", FAST)
def test_fast_modes_are_channels_last_in_lower_precision(mode: Mode) -> None:
    module = Noting()
    found = Network(module, SCALE, Compute(mode=mode)).outputs(batch(5))
    wanted = Network(Small(), SCALE, Compute()).outputs(batch(5))
    assert [(n["last"], n["weights"], n["inference"]) for n in module.noted] == [(True, True, True)]
    assert module.noted[0]["kind"] == {"bf16": torch.bfloat16, "fp16": torch.float16}[mode]
    # Eight bits, and eleven, of each product.
    spread = np.abs(wanted).max()
    assert 0 < np.abs(found - wanted).max() < spread * {"bf16": 0.02, "fp16": 0.004}[mode]


def test_reference_is_neither_autocast_nor_channels_last() -> None:
    module = Noting()
    Network(module, SCALE, Compute()).outputs(batch(5))
    assert (module.noted[0]["kind"], module.noted[0]["last"]) == (torch.float32, False)


@pytest.mark.parametrize("mode", ("reference", *FAST))
def test_numerics_are_those_of_the_mode_and_are_restored(mode: Mode) -> None:
    before = [getattr(of, name) for of, name in SWITCHES]
    with pytest.raises(KeyError), numerics(mode):
        found = [getattr(of, name) for of, name in SWITCHES]
        assert torch.are_deterministic_algorithms_enabled() == (mode == "reference")
        assert torch.get_num_threads() == 1
        raise KeyError
    fast = mode != "reference"
    assert found == [fast, not fast, fast, fast, False]
    assert [getattr(of, name) for of, name in SWITCHES] == before
    assert not torch.are_deterministic_algorithms_enabled()


def test_a_run_in_a_fast_mode_holds_to_it_in_every_thread(tmp_path: Path) -> None:
    module = Noting()
    assert filled([work(tmp_path, lambda: module)], mode="bf16", cores=2) == {}
    assert [n["shape"] for n in module.noted] == [(CPU_PASS, 3, 8, 8)] * 3
    for noted in module.noted:
        assert noted["inference"] and noted["benchmark"] and noted["last"] and not noted["main"]
        assert (noted["threads"], noted["kind"]) == (1, torch.bfloat16)


def test_records_of_a_fast_run_are_near_those_of_reference(tmp_path: Path) -> None:
    made = {mode: work(tmp_path / mode, Small, 60) for mode in ("reference", "bf16")}
    for mode, each in made.items():
        assert filled([each], mode=mode) == {}
    fast, reference = read(made["bf16"]), read(made["reference"])
    np.testing.assert_allclose(fast["top_probability"], reference["top_probability"], atol=0.05)
    assert not np.array_equal(fast["top_probability"], reference["top_probability"])
    assert np.mean(fast["top5"][:, 0] == reference["top5"][:, 0]) > 0.9


def test_a_run_compiles_each_network_once_though_the_last_pass_is_short(
    tmp_path: Path, compilations: list[tuple[int, ...]]
) -> None:
    tasks = [work(tmp_path, lambda w=width: Small(w), 19, f"m{width}") for width in (4, 5)]
    assert filled(tasks, mode="bf16", compile=True, cores=2) == {}
    assert compilations == [(CPU_PASS, 3, 8, 8)] * 2
    plain = [work(tmp_path / "plain", lambda w=width: Small(w), 19, f"m{width}") for width in (4, 5)]
    assert filled(plain, mode="bf16") == {}
    for one, other in zip(tasks, plain, strict=True):
        assert read(one).tobytes() == read(other).tobytes()


def test_more_networks_of_a_class_are_compiled_than_pytorch_does_by_itself(
    compilations: list[tuple[int, ...]],
) -> None:
    limit = torch._dynamo.config.recompile_limit
    networks = [compiled(Small(width)) for width in range(1, limit + 4)]
    x = torch.zeros(2, 3, 8, 8)
    with torch.inference_mode():
        for network in networks:
            network(x)
            network(x)
    assert len(compilations) == len(networks) > limit


def test_a_smaller_batch_is_compiled_for_itself(compilations: list[tuple[int, ...]]) -> None:
    """As after memory did not suffice: shapes stay fixed, which is faster than one for all."""
    module = Small()
    network, plain = (Network(module, SCALE, Compute(mode="bf16", compile=how)) for how in (True, False))
    for count in (8, 4, 8, 4, 2):
        assert np.array_equal(network.outputs(batch(count)), plain.outputs(batch(count)))
    assert compilations == [(count, 3, 8, 8) for count in (8, 4, 2)]


def test_threads_may_compile_and_run_at_once(compilations: list[tuple[int, ...]]) -> None:
    network, plain = (Network(Small(), SCALE, Compute(mode="bf16", compile=how)) for how in (True, False))
    batches = [np.roll(batch(8), number, 0) for number in range(12)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(network.outputs, batches))
    assert len(compilations) == 1
    for one, given in zip(found, batches, strict=True):
        assert np.array_equal(one, plain.outputs(given))


def test_two_devices_give_what_one_gives(tmp_path: Path) -> None:
    names = ("a", "b", "c")
    kept = {}
    for devices in (("cpu",), ("cpu", "cpu")):
        folder = tmp_path / str(len(devices))
        tasks = [work(folder, lambda n=name: Small(ord(n) - 90), 19, name) for name in names]
        assert filled(tasks, devices=devices, mode="bf16", cores=2) == {}
        kept[len(devices)] = [read(each).tobytes() for each in tasks]
    assert kept[1] == kept[2]
