"""What evaluation.py compares, each in a process of its own: networks made, direct passes and our own run, timm.

python benchmarks/evaluation_contenders.py NAME TASK.json OUT, where TASK.json has the fields of ``Task``. What was
found goes to OUT.json, and arrays to OUT.npz. A contender is a function of the task that returns both.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

Arrays = dict[str, np.ndarray]
CALIBRATION = 32
CLASSES = 1000
BATCH = 256
"""Images a pass, as validate.py has them by default."""
WORKERS = 4


@dataclass(frozen=True)
class Task:
    """What every contender is given.

    Attributes:
        photographs: folder with photographs, below which they are sorted by file name.
        checkpoints: folder with a checkpoint of each network.
        networks: names of timm's.
        class_map: WordNet IDs in the order of the class index, one a line.
        cores: threads.
        scratch: folder for what is not a result.
    """

    photographs: str
    checkpoints: str
    networks: tuple[str, ...]
    class_map: str
    cores: int
    scratch: str

    def files(self) -> list[Path]:
        """All photographs, by file name."""
        return sorted(Path(self.photographs).rglob("*.JPEG"), key=lambda file: file.name)

    def checkpoint(self, network: str) -> Path:
        """Where a network's weights are."""
        return Path(self.checkpoints) / f"{network}.safetensors"


def main() -> None:
    """Run one contender."""
    name, path, out = sys.argv[1:]
    given = json.loads(Path(path).read_text("utf-8"))
    said, arrays = CONTENDERS[name](Task(**given | {"networks": tuple(given["networks"])}))
    np.savez(f"{out}.npz", **arrays)
    Path(f"{out}.json").write_text(json.dumps(said), "utf-8")


def make(task: Task) -> tuple[dict[str, Any], Arrays]:
    """Networks with random weights, saved; scaled so that they see different classes in different photographs."""
    import timm
    import torch
    from PIL import Image
    from safetensors.torch import save_file

    some = [Image.open(file).convert("RGB") for file in task.files()[:CALIBRATION]]
    Path(task.class_map).write_text("\n".join(timm.data.ImageNetInfo("imagenet-1k").label_names()) + "\n")
    for number, name in enumerate(task.networks):
        torch.manual_seed(number)
        network = timm.create_model(name)
        images = torch.stack([transform(network)(picture) for picture in some])
        for norm in (part for part in network.modules() if isinstance(part, torch.nn.BatchNorm2d)):
            norm.momentum = 1.0  # The statistics of this one pass.
        with torch.inference_mode():
            network.train()(images)
            outputs = network.eval()(images)
            network.get_classifier().bias -= outputs.mean(0)
        save_file(network.state_dict(), task.checkpoint(name))
    return {}, {}


def transform(network: Any) -> Any:
    """timm's own transform of a PIL image for a network: resize, cut, to a tensor, scale."""
    import timm

    return timm.data.create_transform(**timm.data.resolve_data_config({}, model=network), is_training=False)


def loaded(task: Task, name: str) -> Any:
    """A network with its weights, by timm's own functions."""
    import timm

    network = timm.create_model(name)
    timm.models.load_checkpoint(network, str(task.checkpoint(name)))
    return network.eval()


def validate(task: Task) -> tuple[dict[str, Any], Arrays]:
    """What timm's validate.py does with one network and its defaults: batches of 256, four processes that decode."""
    import timm
    import torch

    network = loaded(task, task.networks[0])
    config = timm.data.resolve_data_config({}, model=network)
    config = {
        key: config[key] for key in ("input_size", "interpolation", "mean", "std", "crop_pct", "crop_mode")
    }
    photographs = timm.data.create_dataset("", task.photographs, class_map=task.class_map)
    loader = timm.data.create_loader(
        photographs,
        batch_size=BATCH,
        num_workers=WORKERS,
        device=torch.device("cpu"),
        **config,
    )
    right = np.zeros(2)
    with torch.inference_mode():
        network(torch.randn(256, *config["input_size"]))  # It warms up too.
        for images, true in loader:
            outputs = network(images)
            torch.nn.functional.cross_entropy(outputs, true).item()
            shares = timm.utils.accuracy(outputs, true, topk=(1, 5))
            right += len(true) * np.array([share.item() for share in shares])
    return dict(zip(("top1", "top5"), (right / len(photographs)).round(4).tolist(), strict=True)), {}


def overhead(task: Task) -> tuple[dict[str, Any], Arrays]:
    """See ``evaluation_overhead``, which imports what the others do not need."""
    from evaluation_overhead import overhead as found

    return found(task)


CONTENDERS: dict[str, Callable[[Task], tuple[dict[str, Any], Arrays]]] = {
    "make": make,
    "validate": validate,
    "overhead": overhead,
}

if __name__ == "__main__":
    main()
