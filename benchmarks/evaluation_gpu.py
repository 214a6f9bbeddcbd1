"""Time model evaluation on GPUs: our run beside forward passes alone, the study's networks, and CPU beside GPU.

python benchmarks/evaluation_gpu.py [--batch N] [--cores N] [--compile] [--quick] [--device cpu]

Weights are random, images are noise or drawn, nothing is fetched. ``--quick --device cpu`` shows in a minute that all
of it runs. About five minutes on one H100 or H200, most of them for building 54 networks and timing each in two modes.
"""

from __future__ import annotations

import argparse
import copy
import logging
import os
import platform
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import evaluation_set
import numpy as np
import numpy.typing as npt
import torch
from evaluation_forward import built, networks, rate

from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.classifier import Compute
from imagenetv2.evaluation.kinds.network import Network
from imagenetv2.evaluation.preprocessing import Cut, Preprocessing
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.passes import CPU_PASS
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable, Task
from imagenetv2.evaluation.settings import Mode, Model
from imagenetv2.networks.reproducible import numerics

Pixels = npt.NDArray[np.uint8]
WANTED = 0.9
"""Share of the rate of forward passes alone."""
CLASSES, STUDY = 1000, 80_000
"""Images of ImageNet's validation set and of three new sets."""


@dataclass(frozen=True)
class Sizes:
    """How much of each is done.

    Attributes:
        network: timm's.
        side: of its input.
        images, models: of the run whose rate is taken.
        files: photographs that are decoded.
        sample: images whose outputs on CPU and GPU are compared.
        study: networks of the study, all where None.
    """

    network: str
    side: int
    images: int
    models: int
    files: int
    sample: int
    study: tuple[str, ...] | None


FULL = Sizes("resnet50", 224, 8192, 8, 2048, 64, None)
QUICK = Sizes("test_resnet", 96, 48, 2, 16, 8, ("squeezenet1_1",))


@dataclass(frozen=True)
class Bench:
    """What is given: sizes, devices, images a pass, threads, whether fast modes are compiled, and an empty folder."""

    sizes: Sizes
    devices: tuple[str, ...]
    batch: int
    cores: int
    compiled: bool
    folder: Path

    @property
    def size(self) -> int:
        """Images a pass."""
        return CPU_PASS if self.devices[0] == "cpu" else self.batch

    def resources(self, images: int, devices: tuple[str, ...]) -> Resources:
        """For a run in bf16 that keeps all images in memory."""
        room = 2 * images * 3 * self.sizes.side**2
        return Resources(devices, self.cores, room, self.batch, "bf16", self.compiled)


def main() -> None:
    """Print what was measured, row by row."""
    options = arguments()
    cuda = options.device == "cuda"
    count = torch.cuda.device_count() if cuda else 2
    devices = tuple(f"cuda:{i}" for i in range(count)) if cuda else ("cpu",) * count
    name = torch.cuda.get_device_name(0) if cuda else platform.processor() or platform.machine()
    print(
        f"{name}, {options.cores} processors, Python {platform.python_version()}, torch {torch.__version__}, "
        f"{options.batch} images a pass{', compiled' if options.compile else ''}"
    )
    with tempfile.TemporaryDirectory() as folder:
        sizes = QUICK if options.quick else FULL
        bench = Bench(sizes, devices, options.batch, options.cores, options.compile, Path(folder))
        print("\n| what | images | seconds | images a second | share | wanted |\n|---|---|---|---|---|---|")
        rates(bench)
        agreement(bench)
        study(bench)
    if cuda:
        print(f"\npeak memory of the device {torch.cuda.max_memory_allocated() / 1e9:.1f} GB")


def arguments(given: Sequence[str] | None = None) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--batch", type=int, default=256, help="images a pass on a GPU")
    parser.add_argument("--cores", type=int, default=os.cpu_count())
    parser.add_argument("--compile", action="store_true", help="compile networks in fast modes")
    parser.add_argument("--quick", action="store_true")
    return parser.parse_args(given)


def rates(bench: Bench) -> None:
    """ResNet-50 in bf16: forward passes alone, our run on prepared images and from files, one device and all."""
    sizes, name = bench.sizes, bench.sizes.network
    module = built(Model(name="m", kind="timm", architecture=name), bench.devices[0])
    compute = Compute(bench.devices[0], "bf16", bench.compiled)
    alone = rate(module, compute, sizes.side, bench.size, sizes.images // bench.size)
    row(f"{name}, bf16, forward passes alone, images on the device", sizes.images, sizes.images / alone)
    squares = Squares(sizes.images, sizes.side)
    where = {f"our run, {sizes.models} networks on prepared images": bench.devices[:1]}
    if len(bench.devices) > 1:
        where[f"the same on {len(bench.devices)} devices"] = bench.devices
    for what, devices in where.items():
        once(bench, module, squares, f"{what}, first", devices)
        seconds = once(bench, module, squares, what, devices)
        images = sizes.images * sizes.models
        wanted = f"{WANTED:.0%}" if len(devices) == 1 else ""
        row(what, images, seconds, images / seconds / alone / len(devices), wanted)
    evaluation_set.draw(bench.folder / "files", sizes.files)
    files = evaluation_set.Files(sorted((bench.folder / "files").iterdir()))
    start = time.perf_counter()
    with ThreadPoolExecutor(bench.cores) as pool:
        list(pool.map(files.__getitem__, range(len(files))))
    row("reading and decoding alone", len(files), time.perf_counter() - start)
    cut = Cut.square(sizes.side, sizes.side * 8 // 7, "bicubic")
    for models in (1, sizes.models):
        seconds = once(bench, module, files, f"from {models}", bench.devices[:1], cut, models)
        images = models * len(files)
        row(f"our run from files, networks: {models}", images, seconds, images / seconds / alone)


def once(
    bench: Bench, module: torch.nn.Module, pixels: Sequence[Pixels], what: str, devices: tuple[str, ...],
    cut: Cut | None = None, models: int | None = None,
) -> float:  # fmt: skip
    """Seconds of a run of copies of a network in bf16."""
    cut = cut or Cut((bench.sizes.side,) * 2, None)
    count = len(pixels)
    classes = np.arange(CLASSES)
    images = LabelledImages(
        "images", [str(i) for i in range(count)], np.zeros(count, np.int64), classes, pixels
    )

    def load(compute: Compute) -> Network:
        return Network(copy.deepcopy(module), Preprocessing(cut), compute)

    tasks = [
        Task(Runnable(f"m{i}", cut, load), images, classes, CLASSES, bench.folder / what / str(i))
        for i in range(models or bench.sizes.models)
    ]
    start = time.perf_counter()
    failed = run(tasks, bench.resources(count, devices), logging.getLogger("imagenetv2"))
    seconds = time.perf_counter() - start
    assert not failed, failed
    assert all(Ledger(task.ledger, record_type(CLASSES, False)).done == count for task in tasks)
    return seconds


def agreement(bench: Bench) -> None:
    """Mode reference on CPU and GPU, and bf16, on the same images with the same weights."""
    sizes = bench.sizes
    module = built(Model(name="m", kind="timm", architecture=sizes.network), "cpu")
    batch = np.stack([Squares(sizes.sample, sizes.side)[i] for i in range(sizes.sample)])
    scale = Preprocessing(Cut((sizes.side,) * 2, None))

    def outputs(device: str, mode: Mode) -> npt.NDArray[np.float32]:
        with numerics(mode):
            return Network(copy.deepcopy(module), scale, Compute(device, mode)).outputs(batch)

    reference = outputs("cpu", "reference")
    print(
        f"\n| {sizes.network}, {sizes.sample} images, beside mode reference on a CPU | largest difference | same first class |"
    )
    print("|---|---|---|")
    for device, mode in ((bench.devices[0], "reference"), (bench.devices[0], "bf16")):
        found = outputs(device, mode)
        largest = np.abs(found - reference).max() / reference.std()
        same = np.mean(found.argmax(1) == reference.argmax(1))
        print(f"| {device}, {mode} | {largest:.1e} deviations of outputs | {same:.1%} |", flush=True)


def study(bench: Bench) -> None:
    """How long the study's networks take for its four sets, from the rates of a few passes of each."""
    print(f"\n| forward passes of {STUDY:,} images | networks | minutes | slowest |\n|---|---|---|---|")
    for mode in ("bf16", "reference"):
        seconds = {}
        for model in networks(bench.sizes.study):
            facts = classifier.outline(model)
            side = Preprocessing.from_json(facts["preprocessing"]).cut.size[0]
            compute = Compute(bench.devices[0], mode, bench.compiled and mode != "reference")
            seconds[model.name] = STUDY / rate(built(model, bench.devices[0]), compute, side, bench.size, 2)
        slowest = sorted(seconds, key=seconds.__getitem__)[:-4:-1]
        said = ", ".join(f"{name} {seconds[name] / 60:.1f}" for name in slowest)
        print(f"| {mode} | {len(seconds)} | {sum(seconds.values()) / 60:.1f} | {said} |", flush=True)


class Squares(Sequence[Any]):
    """Noise that needs no decoding, resizing or cutting."""

    def __init__(self, count: int, side: int) -> None:
        self._count = count
        self._some = np.random.default_rng(0).integers(0, 256, (64, side, side, 3)).astype(np.uint8)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, index: Any) -> Any:
        return self._some[index % len(self._some)]


def row(what: str, images: int, seconds: float, share: float | None = None, wanted: str = "") -> None:
    """A line of the table."""
    shown = "" if share is None else f"{share:.1%}"
    print(
        f"| {what} | {images:,} | {seconds:.4g} | {images / seconds:,.0f} | {shown} | {wanted} |", flush=True
    )


if __name__ == "__main__":
    main()
