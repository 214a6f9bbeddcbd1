"""What our run adds to forward passes, both in one process and in turns; seconds, and those of all processors."""

from __future__ import annotations

import logging
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from evaluation_contenders import BATCH, CLASSES, Arrays, Task, loaded, transform
from evaluation_set import Files
from PIL import Image

from imagenetv2.evaluation import classifier
from imagenetv2.evaluation.preprocessing import Preprocessing
from imagenetv2.evaluation.running.ledger import Ledger, record_type
from imagenetv2.evaluation.running.runner import run
from imagenetv2.evaluation.running.tasks import LabelledImages, Resources, Runnable
from imagenetv2.evaluation.running.tasks import Task as Work
from imagenetv2.evaluation.settings import Model

PASS = 8
"""Images a forward pass on one thread, as in our runs on a CPU."""
TURNS = 3
"""How often each is measured; one after another, since a machine's speed drifts."""
Seconds = tuple[float, float]
"""As a clock on the wall has them, and those of all threads together."""


def overhead(task: Task) -> tuple[dict[str, Any], Arrays]:
    """Forward passes on tensors in memory and our run: from files, then from decoded photographs, which it still cuts."""
    networks = {name: loaded(task, name) for name in task.networks}
    files, said = Files(task.files()), {}
    times: dict[str, list[Seconds]] = defaultdict(list)
    torch.set_num_threads(task.cores)
    # OpenMP counts threads for each caller by itself.
    with ThreadPoolExecutor(task.cores, initializer=torch.set_num_threads, initargs=(1,)) as pool:
        inputs, said["cutting"], said["cuts"] = prepared(task, networks, pool)
        decoded = list(pool.map(files.__getitem__, range(len(files))))
        for turn in range(TURNS):
            took, best = clocked(partial(passes, networks, inputs, pool))
            times["passes"].append(took)
            times["batches"].append(clocked(partial(batches, networks, inputs))[0])
            for where, pixels in {"files": files, "memory": decoded}.items():
                tasks = works(task, pixels, Path(task.scratch) / where / str(turn))
                took, failed = clocked(
                    partial(run, tasks, Resources(cores=task.cores), logging.getLogger("imagenetv2"))
                )
                times[where].append(took)
                if failed:
                    raise SystemExit("\n".join(map(str, failed.values())))
    records = np.stack([Ledger(one.ledger, record_type(CLASSES, False)).read() for one in tasks])
    return {**said, **times}, {
        "first": np.stack([first for first, _ in best]),
        "probability": np.stack([probability for _, probability in best]),
        "our_first": records["top5"][..., 0],
        "our_probability": records["top_probability"],
    }


def clocked(work: Callable[[], Any]) -> tuple[Seconds, Any]:
    """What work takes, and what it returns."""
    start = time.perf_counter(), time.process_time()
    found = work()
    return (time.perf_counter() - start[0], time.process_time() - start[1]), found


def prepared(
    task: Task, networks: dict[str, Any], pool: ThreadPoolExecutor
) -> tuple[dict[str, torch.Tensor], Seconds, int]:
    """The input of each network by timm's own transform; what reading and cutting takes, and how often it was done."""
    steps = {name: transform(network).transforms for name, network in networks.items()}
    cuts: dict[str, list[Any]] = {}
    scaled: dict[str, torch.Tensor] = {}
    inputs, spent = {}, np.zeros(2)
    for name, (*cutting, to_tensor, scale) in steps.items():
        key = str(cutting)
        if key not in cuts:
            took, cuts[key] = clocked(lambda c=cutting: list(pool.map(partial(cut, c), task.files())))
            spent += took
        if key + str(scale) not in scaled:
            scaled[key + str(scale)] = torch.stack([scale(to_tensor(picture)) for picture in cuts[key]])
        inputs[name] = scaled[key + str(scale)]
    return inputs, (float(spent[0]), float(spent[1])), len(cuts)


def cut(steps: Sequence[Any], file: Path) -> Any:
    """A photograph, decoded, resized and cut by Pillow and timm."""
    with Image.open(file) as stored:
        picture: Any = stored.convert("RGB")
    for step in steps:
        picture = step(picture)
    return picture


def passes(
    networks: dict[str, Any], inputs: dict[str, torch.Tensor], pool: ThreadPoolExecutor
) -> list[tuple[np.ndarray, np.ndarray]]:
    """First class and its probability of each photograph, for each network; a pass at once on every thread."""
    found = []
    for name, network in networks.items():
        starts = range(0, len(inputs[name]), PASS)
        outputs = torch.cat(list(pool.map(partial(one, network, inputs[name]), starts)))
        probability, first = torch.softmax(outputs.double(), 1).max(1)
        found.append((first.numpy(), probability.numpy()))
    return found


def batches(networks: dict[str, Any], inputs: dict[str, torch.Tensor]) -> None:
    """The same as they are usually made: one large batch after the other, each on all threads."""
    with torch.inference_mode():
        for name, network in networks.items():
            for images in inputs[name].split(BATCH):
                network(images)


def one(network: Any, images: torch.Tensor, start: int) -> torch.Tensor:
    """Outputs of one pass."""
    with torch.inference_mode():
        outputs: torch.Tensor = network(images[start : start + PASS])
    return outputs


def works(task: Task, pixels: Sequence[Any], ledgers: Path) -> list[Work]:
    """Every network on the photographs; labels do not matter here."""
    ids = [file.name for file in task.files()]
    classes = np.arange(CLASSES)
    images = LabelledImages("photographs", ids, np.zeros(len(ids), np.int64), classes, pixels)
    tasks = []
    for name in task.networks:
        model = Model(name=name, kind="timm", architecture=name, weights=task.checkpoint(name))
        facts = classifier.outline(model)
        load = partial(classifier.load, model, facts, {})
        runnable = Runnable(name, Preprocessing.from_json(facts["preprocessing"]).cut, load)
        tasks.append(Work(runnable, images, classes, CLASSES, ledgers / name))
    return tasks
